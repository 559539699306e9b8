import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Shell } from './shell';

describe('the shell of the documents', () => {
  let folder: string;
  let shell: Shell;
  const run = (line: string, interruptAt?: RegExp) =>
    shell.run(
      line,
      { kubeconfig: join(folder, 'admin.yaml'), namespace: 'science', variables: { STORE: 's3' } },
      interruptAt,
    );
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fluxqueue-shell-test-'));
    const fluxqueue = join(folder, 'program.js');
    writeFileSync(
      fluxqueue,
      'console.log(process.env.DATABASE_URL ?? "no database", ...process.argv.slice(2))',
    );
    writeFileSync(join(folder, 'admin.yaml'), '{"contexts":[{"context":{"namespace":"default"}}]}');
    shell = new Shell({ kubectl: '/bin/echo', fluxqueue, databaseUrl: 'postgres://d' });
  });
  afterAll(() => {
    shell.remove();
    rmSync(folder, { recursive: true });
    expect(existsSync(shell.folder)).toBe(false);
  });

  test.each([
    ['kubectl get fj', 'get fj\n'],
    ['kubectl-fluxqueue queue -A', 'no database queue -A\n'],
    ['fluxqueue migrate --stay', 'postgres://d migrate --stay\n'],
    ['ls examples/jobs/wide.yaml', 'examples/jobs/wide.yaml\n'],
    ['echo $STORE; echo problem >&2', 's3\nproblem\n'],
    ['cat $KUBECONFIG', '{"contexts":[{"context":{"namespace":"science"}}]}'],
  ])('%s', async (line, output) => {
    expect(await run(line)).toEqual({ output, exitCode: 0 });
  });

  test('the exit code is that of the line, also of a part of a pipe', async () => {
    expect(await run('echo a; exit 3')).toEqual({ output: 'a\n', exitCode: 3 });
    expect((await run('false | cat')).exitCode).toBe(1);
  });

  test('a line that runs on gets Ctrl-C when it has printed what is expected', async () => {
    expect(await run('echo first; echo second; sleep 600', /second/)).toEqual({
      output: 'first\nsecond\n^C\n',
      exitCode: 0,
    });
    expect(await run('echo first', /second/)).toEqual({ output: 'first\n', exitCode: 0 });
  });

  test('a line that a signal ends is an error', async () => {
    await expect(run('echo a; kill -TERM $$')).rejects.toThrow('was ended by SIGTERM:\na\n');
  });
});
