import { App, Chart } from 'cdk8s';
import { PropsError } from '../../../constructs/api/errors';
import {
  formatIssue,
  MiniCluster,
  type MiniClusterProps,
  type MiniClusterSpec,
  validateMiniCluster,
} from '../../../constructs/minicluster';
import { FIELDS } from './fields';
import { CONTAINER, cluster, INVALID, VALID } from './specs';

const validate = (spec: unknown, name = 'mc') =>
  validateMiniCluster({ metadata: { name }, spec: spec as MiniClusterSpec });
const paths = (spec: unknown, name?: string) => validate(spec, name).map(({ path }) => path);
const lines = (spec: unknown) => validate(spec).map(formatIssue);

test.each(INVALID.filter(({ paths }) => paths.length > 0).map((spec) => [spec.mistake, spec] as const))(
  'reports %s at its path',
  (_, invalid) => {
    expect(paths(invalid.spec)).toEqual(invalid.paths);
    for (const issue of validate(invalid.spec)) {
      expect(issue.remedy).toMatch(/^[a-z]/);
      expect(formatIssue(issue)).toContain(`${issue.path}: ${issue.message}`);
    }
  },
);

test.each(INVALID.map((spec) => [spec.mistake, spec] as const))(
  'reports %s together with other mistakes',
  (_, { spec, paths: own }) => {
    const more = { ...(spec as object), nonsense: 1, backoffLimit: -1, deadlineSeconds: -1 };
    const wanted = ['spec.nonsense', 'spec.backoffLimit', 'spec.deadlineSeconds', ...own];
    expect(new Set(paths(more))).toEqual(new Set(wanted));
  },
);

test('reports nothing else about a value with the wrong type', () => {
  expect(paths({ containers: [CONTAINER, { ...CONTAINER, name: 'b', runFlux: 'yes' }] })).toEqual([
    'spec.containers[1].runFlux',
  ]);
});

test.each(Object.entries(VALID))('accepts the %s spec', (_, spec) => {
  expect(validate(spec)).toEqual([]);
});

test.each<[string, unknown, string]>([
  [
    'a conflict',
    { size: 4, maxSize: 2, containers: [{}] },
    'spec.maxSize: must not be smaller than size, which is 4 (got 2); raise maxSize or lower size',
  ],
  ['a value out of range', cluster({ size: 0 }), 'spec.size: must be at least 1 (got 0); set 1 or more'],
  [
    'a value of the wrong type',
    cluster({ walltime: 90 }),
    'spec.walltime: must be a string (got 90); put it in quotes',
  ],
  [
    'an unknown value',
    cluster({ workload: 'Deployment' }),
    'spec.workload: must be one of: Job, StatefulSet (got "Deployment"); set one of them',
  ],
  ['a missing value', { size: 2 }, 'spec.containers: is required; set it'],
  [
    'a StatefulSet with a command',
    cluster({ workload: 'StatefulSet', suspend: true, interactive: true }),
    'spec.suspend: is not supported with workload StatefulSet (got true); remove it or use workload Job',
  ],
])('formats %s as one line with path, mistake, value and remedy', (_, spec, line) => {
  expect(lines(spec)).toEqual([line]);
});

test('shows the right forms of a walltime', () => {
  expect(lines(cluster({ walltime: '1 hour' }))).toEqual([
    'spec.walltime: must be a duration like "1h30m", "2d" or "1-12:00:00" (days-hours:minutes:seconds), or seconds like "5400" (got "1 hour"); write it in one of these forms',
  ]);
  for (const walltime of ['1h30m', '2d', '1d12h', '1-12:00:00', '01:30:00', '5400'])
    expect(lines(cluster({ walltime }))).toEqual([]);
});

/** Props that are written in another place or with another name in YAML. */
const RENAMED = FIELDS.filter(
  ({ prop, path }) => /^[a-zA-Z.]+$/.test(prop) && prop !== path.replace(/^containers\[\]/, 'container'),
).filter(({ path }) => !path.includes('{}'));

test.each(RENAMED)('names the field $path of the prop $prop', ({ prop, path }) => {
  const [group = '', ...rest] = prop.split('.');
  const value = rest.reduceRight<unknown>((inner, key) => ({ [key]: inner }), true);
  const spec = group === 'container' ? { containers: [value] } : { [group]: value };
  const said = lines(cluster(spec)).join('\n');
  expect(said).toMatch(/in YAML use|did you mean/);
  expect(said).toContain(path.replace('containers[].', '').split('.')[0]);
});

test('does not print a certificate that is in the wrong field', () => {
  const certificate = 'metadata\ncurve\n    secret-key = "SECRET"\n';
  for (const more of [
    { curveCert: certificate },
    { flux: { curvecert: certificate } },
    { flux: [certificate] },
  ]) {
    const [line, ...others] = lines(cluster(more));
    expect([line, others]).toEqual([expect.stringMatching(/metadata….*;/), []]);
    expect(line).not.toContain('SECRET');
  }
});

test('suggests the field that differs in upper and lower case only', () => {
  expect(lines({ containers: [{ runflux: true }] })).toEqual([
    'spec.containers[0].runflux: is not a field of MiniCluster (got true); did you mean runFlux',
  ]);
});

test.each([
  ['existingVolumes', 'it is a field of v1alpha1; use volumes'],
  ['preCommand', 'it is a field of v1alpha1; use commands.pre'],
  ['comand', 'did you mean command'],
  ['enviroment', 'did you mean environment'],
  ['xyzzy', 'remove it; docs/minicluster-fields.md lists every field'],
  ['x'.repeat(10_000), 'remove it; docs/minicluster-fields.md lists every field'],
])('names what to do about the field %s', (key, remedy) => {
  const [issue, ...others] = validate({ containers: [{ image: 'app', [key]: 1 }] });
  expect([issue?.remedy, others]).toEqual([remedy, []]);
});

test('refuses names that are too long for host names', () => {
  const name = 'a'.repeat(60);
  expect(paths({ size: 10, containers: [{}] }, name)).toEqual([]);
  expect(paths({ size: 1000, containers: [{}] }, name)).toEqual(['metadata.name']);
  expect(paths({ containers: [{}], services: [{ name: 'db' }] }, name)).toEqual(['metadata.name']);
  expect(paths({ containers: [{}] }, 'Mc')).toEqual(['metadata.name']);
});

test('refuses more text than a ConfigMap can hold', () => {
  const script = 'x'.repeat(260_000);
  const scripts = { init: script, pre: script, brokerPre: script, workerPre: script, post: script };
  expect(paths({ containers: [{ commands: scripts }] })).toEqual(['spec']);
  expect(paths({ containers: [{ commands: { init: script } }] })).toEqual([]);
});

describe('a construct', () => {
  const create = (props: MiniClusterProps) => new MiniCluster(new Chart(new App(), 'c'), 'mc', props);

  test('throws one error with all mistakes at the paths of its props', () => {
    const make = () =>
      create({
        size: 4,
        maxSize: 2,
        container: { launcher: true, batch: true, command: 'x' },
        sidecars: [{ name: 'a', startupProbe: { tcpSocket: { port: 1 } } }],
        flux: { optionFlags: 'x'.repeat(100_000), topology: 'kary:2' },
        network: { headlessName: 'No', minimalService: true },
        job: { backoffLimit: -1 },
      });
    expect(make).toThrow(PropsError);
    const found = [
      'flux.optionFlags: must have at most ',
      'job.backoffLimit: must be at least 0 ',
      'network.headlessName: does not match the required pattern ',
      'maxSize: must not be smaller than size, which is 4 ',
      'sidecars[0].startupProbe: delays the broker',
      'flux.topology: cannot be combined with minimalService',
      'container.launcher: cannot be combined with batch ',
    ];
    for (const line of found) expect(make).toThrow(`\n  ${line}`);
    expect(make).toThrow(`MiniCluster c/mc: has ${found.length} mistakes:`);
    expect(make).not.toThrow('spec.');
  });

  test.each<[string, Partial<MiniClusterProps>, string]>([
    [
      'startupProbe',
      { sidecars: [{ name: 'a', startupProbe: { tcpSocket: { port: 1 } } }] },
      'set flux.waitSocket to false',
    ],
    [
      'leadBroker',
      { flux: { bursting: { leadBroker: { address: 'a', name: 'b', size: 1 } } } },
      'Certificate.fromSecret(...)',
    ],
    ['hostPid', { pod: { hostPid: true, shareProcessNamespace: true } }, 'remove it or pod.hostPid'],
    ['services', { services: [{ name: 'db', pre: 'x' }] }, 'use init'],
  ])('names props in the remedy of a mistake in %s', (_, props, remedy) => {
    expect(() => create({ container: CONTAINER, ...props })).toThrow(remedy);
  });
});
