/** The plugin finds the mistakes in settings that admission refuses, in its words. */
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
    'is not a known setting; write fluxqueue/walltime instead',
  ],
  [job({ annotations: { 'fluxqueue/walltime': '1 hour' } }), 'must be a duration like "1h30m"'],
  [job({ annotations: { 'fluxqueue/walltime': '0' } }), 'more than 0'],
  [job({ labels: { 'fluxqueue/priority': '9999999999' } }), 'must be a whole number from'],
  [job({ labels: { 'fluxqueue/hold': 'True' } }), 'must be "true" or "false" (got "True")'],
  [job({ labels: { 'fluxqueue/group': 'gang' } }), 'is not supported yet; remove it, or use a Job'],
  [job({}, { labels: { 'fluxqueue/queue': 'night' } }), 'has no effect in the template of a Job'],
  [job({}, {}, { nodeName: 'node-1' }), 'spec.template.spec.nodeName: would pass the queue by'],
  [namespace({ 'fluxqueue/enable': 'true' }), 'write fluxqueue/enabled instead'],
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
