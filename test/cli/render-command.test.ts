/** `fluxqueue render` as a process. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { bin } from '../../package.json';

const ROOT = join(__dirname, '../..');
const MINICLUSTER = `apiVersion: flux-framework.org/v1alpha2
kind: MiniCluster
metadata: {name: mc}
spec: {containers: [{image: app, command: hostname}]}
`;

function fluxqueue(args: readonly string[], input = '') {
  return spawnSync(process.execPath, [join(ROOT, bin.fluxqueue), ...args], {
    encoding: 'utf8',
    input,
    cwd: ROOT,
  });
}

test('reads stdin, and writes manifests to stdout and notes to stderr', () => {
  const { status, stdout, stderr } = fluxqueue(
    ['render', '--namespace', 'lab', '--keygen-image', 'rt:1'],
    MINICLUSTER,
  );
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^apiVersion: v1\nkind: Secret\n/);
  expect(stdout.match(/^---$/gm)).toHaveLength(8);
});

test('reports invalid input in one sentence without a stack trace, with exit code 1 and no output', () => {
  const { status, stdout, stderr } = fluxqueue(['render', '/nowhere/mc.yaml']);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^FLUXQ_RENDER_INPUT: \/nowhere\/mc\.yaml: can't be read: .*\n$/);
});
