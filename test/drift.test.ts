import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');

/** Runs in a repository with three files, whose `synth` copies main.ts to dist/out.yaml. */
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

  test('prints nothing when all generated files are up to date', () => {
    expect(drift()).toEqual({ status: 0, stderr: '' });
  });

  test('lists changed, new and deleted files', () => {
    write('main.ts', 'two\n');
    write(
      'package.json',
      JSON.stringify({ name: 'x', scripts: { synth: 'rm dist/* && cp main.ts dist/new.yaml' } }),
    );
    expect(drift()).toEqual({
      status: 1,
      stderr:
        'drift: dist/new.yaml, dist/out.yaml were out of date and regenerated; review and commit the difference',
    });
  });

  test('accepts staged files', () => {
    write('main.ts', 'two\n');
    expect(drift().status).toBe(1);
    git('add', '-A');
    expect(drift()).toEqual({ status: 0, stderr: '' });
  });

  test('reports the failed step with its error', () => {
    write('package.json', JSON.stringify({ name: 'x', scripts: { synth: 'echo no such prop >&2; exit 3' } }));
    expect(drift()).toEqual({ status: 1, stderr: 'drift: npm run synth failed:\nno such prop' });
  });
});
