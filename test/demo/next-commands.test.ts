import { execFileSync } from 'node:child_process';
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPlugin, nextCommands, nextRuns } from '../../examples/demo/next-commands';
import { parseOptions } from '../../examples/demo/options';

test('offers three runs that npm start accepts', () => {
  const runs = nextRuns();
  expect(runs).toHaveLength(3);
  for (const run of runs) {
    const [npm, start, dashes, ...args] = run.split(' ');
    expect([npm, start, dashes]).toEqual(['npm', 'start', '--']);
    expect(parseOptions(['node', 'main.ts', ...args])).toMatchObject({ json: false });
  }
});

test('names the context only where it is not that of the kubeconfig', () => {
  const kept = { namespace: 'demo', plugin: 'kubectl fluxqueue' };
  expect(nextCommands(kept)[1]).toBe('kubectl fluxqueue why impossible -n demo');
  expect(nextCommands({ ...kept, context: 'mine' })[1]).toBe(
    'kubectl fluxqueue why impossible -n demo --context mine',
  );
});

test('kubectl and its plugin are in one folder for PATH', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-plugin-'));
  try {
    const programs = join(folder, 'bin');
    installPlugin(programs, '/usr/bin/kubectl-of-the-cluster');
    expect(readlinkSync(join(programs, 'kubectl'))).toBe('/usr/bin/kubectl-of-the-cluster');
    const help = execFileSync(join(programs, 'kubectl-fluxqueue'), ['why', '--help'], { encoding: 'utf8' });
    expect(help).toContain('say why a workload waits');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
