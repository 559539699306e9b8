import { App, Chart } from 'cdk8s';
import { PropsError } from '../../../constructs/api/errors';
import {
  validateMiniCluster,
  MiniCluster,
  type MiniClusterSpec,
  formatIssue,
} from '../../../constructs/minicluster';
import { cluster, RIGHT, RUNNER, WRONG } from './corpus';

const check = (spec: unknown, name = 'mc') =>
  validateMiniCluster({ metadata: { name }, spec: spec as MiniClusterSpec });
const paths = (spec: unknown, name?: string) => check(spec, name).map(({ path }) => path);

test.each(WRONG.filter(({ paths }) => paths.length > 0).map((wrong) => [wrong.what, wrong] as const))(
  '%s: every problem by its path',
  (_, wrong) => {
    expect(paths(wrong.spec)).toEqual(wrong.paths);
    for (const problem of check(wrong.spec)) {
      expect(problem.remedy).toMatch(/^[a-z]/);
      expect(formatIssue(problem)).toContain(`${problem.path}: ${problem.what}`);
    }
  },
);

test.each(WRONG.map((wrong) => [wrong.what, wrong] as const))(
  '%s is not hidden by what is wrong beside it',
  (_, { spec, paths: own }) => {
    const more = { ...(spec as object), nonsense: 1, backoffLimit: -1, deadlineSeconds: -1 };
    const wanted = ['spec.nonsense', 'spec.backoffLimit', 'spec.deadlineSeconds', ...own];
    expect(new Set(paths(more))).toEqual(new Set(wanted));
  },
);

test('of what has the wrong type nothing else is concluded', () => {
  expect(paths({ containers: [RUNNER, { ...RUNNER, name: 'b', runFlux: 'yes' }] })).toEqual([
    'spec.containers[1].runFlux',
  ]);
});

test.each(Object.entries(RIGHT))('%s has no problem', (_, spec) => {
  expect(check(spec)).toEqual([]);
});

test('one line says where, what, what was given, and what to do', () => {
  expect(check({ size: 4, maxSize: 2, containers: [{}] }).map(formatIssue)).toEqual([
    'spec.maxSize: must not be smaller than size, which is 4 (got 2); raise maxSize or lower size',
  ]);
});

test('a certificate in the wrong place is not printed', () => {
  const certificate = 'metadata\ncurve\n    secret-key = "SECRET"\n';
  for (const more of [
    { curveCert: certificate },
    { flux: { curvecert: certificate } },
    { flux: [certificate] },
  ]) {
    const lines = check(cluster(more)).map(formatIssue);
    expect(lines).toEqual([expect.stringMatching(/metadata….*;/)]);
    expect(lines[0]).not.toContain('SECRET');
  }
});

test('a field that is nearly one is recognized', () => {
  expect(check({ containers: [{ runflux: true }] }).map(formatIssue)).toEqual([
    'spec.containers[0].runflux: is not a field of MiniCluster (got true); did you mean runFlux',
  ]);
});

test('names too long for host names', () => {
  const name = 'a'.repeat(60);
  expect(paths({ size: 10, containers: [{}] }, name)).toEqual([]);
  expect(paths({ size: 1000, containers: [{}] }, name)).toEqual(['metadata.name']);
  expect(paths({ containers: [{}], services: [{ name: 'db' }] }, name)).toEqual(['metadata.name']);
  expect(paths({ containers: [{}] }, 'Mc')).toEqual(['metadata.name']);
});

test('more text than a ConfigMap holds', () => {
  const script = 'x'.repeat(260_000);
  const blocks = { init: script, pre: script, brokerPre: script, workerPre: script, post: script };
  expect(paths({ containers: [{ commands: blocks }] })).toEqual(['spec']);
  expect(paths({ containers: [{ commands: { init: script } }] })).toEqual([]);
});

test('a construct throws all of it at once', () => {
  const make = () =>
    new MiniCluster(new Chart(new App(), 'c'), 'mc', {
      size: 4,
      maxSize: 2,
      backoffLimit: -1,
      container: { launcher: true, batch: true, command: 'x' },
    });
  expect(make).toThrow(PropsError);
  expect(make).toThrow(
    /MiniCluster c\/mc: spec\.backoffLimit: .*\n {2}spec\.maxSize: .*\n {2}spec\.containers\[0\]\.launcher: /,
  );
});
