// Own clusters: they are what is tested.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

// Runs Jest without a control plane on one test file.
function runWithout(environment: NodeJS.ProcessEnv): { status: number | null; output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-suite-'));
  try {
    const suite = join(__dirname, 'suite');
    writeFileSync(
      join(folder, 'needs.test.ts'),
      `import { describeOwnCluster } from ${JSON.stringify(suite)};
       describeOwnCluster('needy', (get) => { test('one', () => { get(); }); test('two', () => { get(); }); });
       test('three', () => {});`,
    );
    const jest = join(dirname(require.resolve('jest/package.json')), 'bin', 'jest.js');
    const config = {
      ...require('../../jest.config.js'),
      rootDir: join(__dirname, '..', '..'),
      roots: [folder],
    };
    const args = [jest, '--config', JSON.stringify({ ...config, testMatch: ['**/needs.test.ts'] })];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      env: { ...process.env, KUBEBUILDER_ASSETS: folder, ...environment },
    });
    return { status, output: stdout + stderr };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('skips tests that need a cluster, with a message, where there is none', () => {
  const { status, output } = runWithout({ CI: '' });
  expect(output).toContain('skipped: the cluster tests of "needy" (KUBEBUILDER_ASSETS=');
  expect(output).toMatch(/Tests: +2 skipped, 1 passed, 3 total/);
  expect(status).toBe(0);
});

test('fails in CI where there is no cluster', () => {
  const { status, output } = runWithout({ CI: 'true' });
  expect(output).toContain('no cluster for the tests: KUBEBUILDER_ASSETS=');
  expect(status).toBe(1);
});
