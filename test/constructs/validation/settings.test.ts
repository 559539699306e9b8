/** The plugin finds the mistakes in settings that admission refuses, in its words. */
import type { Manifest } from '../../../constructs/validation/manifest';
import { rules } from '../../../constructs/validation/rules';
import { settingProblems } from '../../../constructs/validation/settings';
import { stackObjects } from '../manifests';

const pod = { containers: [{ name: 'main', image: 'a:1' }] };
const job = (metadata: object, template: object = {}, spec: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'job', ...metadata },
  spec: { template: { metadata: template, spec: { ...pod, ...spec } } },
});
const namespace = (labels: object) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'science', labels },
});
const deployment = (labels: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: { template: { metadata: { labels }, spec: pod } },
});

test.each<[object, string]>([
  [
    job({ annotations: { 'fluxqueue/waltime': '1h' } }),
    'is not a known setting; remove it, or write fluxqueue/walltime if that is meant',
  ],
  [job({ annotations: { 'fluxqueue/walltime': '1 hour' } }), 'must be a duration like "1h30m"'],
  [job({ annotations: { 'fluxqueue/walltime': '0' } }), 'more than 0'],
  [job({ labels: { 'fluxqueue/priority': '9999999999' } }), 'must be a whole number from'],
  [job({ labels: { 'fluxqueue/hold': 'True' } }), 'must be "true" or "false" (got "True")'],
  [job({ labels: { 'fluxqueue/group': 'gang' } }), 'is for Pods alone; remove it'],
  [job({}, { labels: { 'fluxqueue/queue': 'night' } }), 'has no effect in the template of a Job'],
  [
    { ...deployment({}), metadata: { name: 'web', labels: { 'fluxqueue/queue': 'night' } } },
    'metadata.labels.fluxqueue/queue: has no effect on a Deployment; move it to spec.template.metadata',
  ],
  [
    {
      apiVersion: 'flux-framework.org/v1alpha2',
      kind: 'MiniCluster',
      metadata: { name: 'mc', annotations: { 'fluxqueue/hold': 'true' } },
      spec: {},
    },
    'has no effect on a MiniCluster; use spec.queue',
  ],
  [job({}, {}, { nodeName: 'node-1' }), 'spec.template.spec.nodeName: would pass the queue by'],
  [
    namespace({ 'fluxqueue/enable': 'true' }),
    'is not a label of a namespace; fluxqueue/enabled and fluxqueue/queue are',
  ],
  [namespace({ 'fluxqueue/enabled': 'True' }), 'must be "true" (got "True")'],
  [
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { 'fluxqueue/queue': 'A' } }, spec: pod },
    'metadata.labels.fluxqueue/queue: must be the name of a queue',
  ],
  [deployment({ 'fluxqueue/walltime': 'soon' }), 'spec.template.metadata.labels.fluxqueue/walltime: must be'],
])('finds the mistake in %j', (manifest, problem) => {
  expect(settingProblems(manifest as Parameters<typeof settingProblems>[0])).toEqual([
    expect.stringContaining(problem),
  ]);
});

const setup = (name: string, namespace: string, spec: object = {}) => ({
  apiVersion: 'flux-framework.org/v1alpha1',
  kind: 'FluxSetup',
  metadata: { name, namespace },
  spec,
});

test.each<[string, readonly object[], readonly string[]]>([
  [
    'names the queues that the app gives the namespace',
    [setup('day', 'a'), setup('night', 'a')],
    ['day, night (got "nigth")'],
  ],
  ['does not know those of another namespace', [setup('day', 'b')], []],
  ['does not know those of an app without FluxSetups', [], []],
  ['does not know the name of the queue of the stack', [setup('day', 'a', { allowStackQueue: true })], []],
  ['accepts one of them', [setup('nigth', 'a')], []],
])('of an unknown queue: %s', (_, objects, problems) => {
  const manifest = job({ namespace: 'a', labels: { 'fluxqueue/queue': 'nigth' } });
  type Manifests = Parameters<typeof settingProblems>;
  expect(settingProblems(manifest as Manifests[0], objects as Manifests[1])).toEqual(
    problems.map((problem) => expect.stringContaining(problem)),
  );
});

test.each<[string, object, readonly string[]]>([
  [
    'has to name the queue that the app gives it',
    { 'fluxqueue/enabled': 'true' },
    ['start without its quota; add fluxqueue/queue: day'],
  ],
  ['names it', { 'fluxqueue/enabled': 'true', 'fluxqueue/queue': 'day' }, []],
  ['is not in the queue', {}, []],
  [
    'names another one',
    { 'fluxqueue/enabled': 'true', 'fluxqueue/queue': 'dya' },
    ['must be a FluxSetup of its namespace, which has day (got "dya")'],
  ],
  [
    'has a setting of workloads',
    { 'fluxqueue/enabled': 'true', 'fluxqueue/queue': 'day', 'fluxqueue/walltime': '1h' },
    ['fluxqueue/walltime: is not a label of a namespace'],
  ],
])('a namespace %s', (_, labels, problems) => {
  type Manifests = Parameters<typeof settingProblems>;
  const objects = [setup('day', 'science')] as unknown as Manifests[1];
  expect(settingProblems(namespace(labels) as Manifests[0], objects)).toEqual(
    problems.map((problem) => expect.stringContaining(problem)),
  );
});

test.each<[string, object, string]>([
  [
    'named by its label',
    { 'fluxqueue/queue': 'default' },
    'start without its quota; give the FluxSetup another name',
  ],
  ['without a label', {}, 'start without its quota; rename FluxSetup default'],
])("a namespace does not get the name of the stack's own queue: %s", (_, labels, problem) => {
  const objects = [setup('default', 'science')] as unknown as Parameters<typeof settingProblems>[1];
  const manifest = namespace({ 'fluxqueue/enabled': 'true', ...labels });
  expect(settingProblems(manifest as Manifest, objects)).toEqual([expect.stringContaining(problem)]);
});

test.each<[string, object, number]>([
  ['a Job that deletes itself', { kind: 'Job', spec: { ttlSecondsAfterFinished: 60 } }, 1],
  ['a Job that stays', { kind: 'Job', spec: {} }, 0],
  ['a CronJob', { kind: 'CronJob', spec: { jobTemplate: { spec: { ttlSecondsAfterFinished: 60 } } } }, 0],
  [
    'a hook',
    {
      kind: 'Job',
      annotations: { 'argocd.argoproj.io/hook': 'PreSync' },
      spec: { ttlSecondsAfterFinished: 60 },
    },
    0,
  ],
])(
  'an engine runs again what deletes itself: %s',
  (_, { kind, spec, annotations }: { kind?: string; spec?: object; annotations?: object }, count) => {
    const manifest = { apiVersion: 'batch/v1', kind, metadata: { name: 'job', annotations }, spec };
    const rule = rules({ requireDigest: false })['job-stays'];
    expect(rule.check(manifest as unknown as Manifest)).toHaveLength(count);
  },
);

test('accepts settings where they belong, and the stack', () => {
  const right = [
    job({ labels: { 'fluxqueue/queue': 'night', 'fluxqueue/walltime': '1h30m', 'fluxqueue/hold': 'true' } }),
    deployment({ 'fluxqueue/priority': '-5' }),
    namespace({ 'fluxqueue/enabled': 'true' }),
    ...stackObjects(),
  ];
  expect(
    right.flatMap((each) => settingProblems(each as unknown as Parameters<typeof settingProblems>[0])),
  ).toEqual([]);
});
