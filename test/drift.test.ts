import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');

/** A repository of three files, in which `synth` copies main.ts to dist/out.yaml. */
describe('npm run drift', () => {
  let repository: string;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: repository,
      stdio: 'pipe',
    });
  const write = (file: string, text: string) => writeFileSync(join(repository, file), text);
  const drift = () => {
    const tsx = join(ROOT, 'node_modules/.bin/tsx');
    const { status, stderr } = spawnSync(tsx, [join(ROOT, 'test/drift.ts')], {
      cwd: repository,
      encoding: 'utf8',
    });
    return { status, stderr: stderr.trim() };
  };

  beforeEach(() => {
    repository = mkdtempSync(join(tmpdir(), 'fluxqueue-drift-'));
    mkdirSync(join(repository, 'dist'));
    write(
      'package.json',
      JSON.stringify({ name: 'x', scripts: { synth: 'rm -f dist/* && cp main.ts dist/out.yaml' } }),
    );
    write('main.ts', 'one\n');
    write('dist/out.yaml', 'one\n');
    git('init', '-q');
    git('add', '-A');
    git('commit', '-q', '-m', 'start');
  });
  afterEach(() => rmSync(repository, { recursive: true }));

  test('is silent when everything is what its source makes', () => {
    expect(drift()).toEqual({ status: 0, stderr: '' });
  });

  test('names the files that are not, new and gone ones too', () => {
    write('main.ts', 'two\n');
    write(
      'package.json',
      JSON.stringify({ name: 'x', scripts: { synth: 'rm dist/* && cp main.ts dist/new.yaml' } }),
    );
    expect(drift()).toEqual({
      status: 1,
      stderr:
        'drift: dist/new.yaml, dist/out.yaml were not what the sources make; made anew now, look at the difference and commit it',
    });
  });

  test('is content with what is staged', () => {
    write('main.ts', 'two\n');
    expect(drift().status).toBe(1);
    git('add', '-A');
    expect(drift()).toEqual({ status: 0, stderr: '' });
  });

  test('says which step failed and why', () => {
    write('package.json', JSON.stringify({ name: 'x', scripts: { synth: 'echo no such prop >&2; exit 3' } }));
    expect(drift()).toEqual({ status: 1, stderr: 'drift: npm run synth failed:\nno such prop' });
  });
});
