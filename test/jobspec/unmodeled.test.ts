import { NO_FACTS } from '../../runtime/jobspec/constraints';
import { jobspecOf, shapeOf } from '../../runtime/jobspec/jobspec';
import type { PodSpec } from '../../runtime/jobspec/pod';
import { unmodeledFields } from '../../runtime/jobspec/unmodeled';

const term = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } } };
const inNamespaces = (namespaceSelector: object) => ({
  requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, namespaceSelector }],
});
const team = inNamespaces({ matchLabels: { team: 'a' } });

const NAMED: readonly [string, Partial<PodSpec>, string][] = [
  [
    'namespaces by label in pod affinity',
    { affinity: { podAffinity: team } },
    'affinity.podAffinity (namespaceSelector)',
  ],
  [
    'namespaces by label in pod anti-affinity',
    { affinity: { podAntiAffinity: team } },
    'affinity.podAntiAffinity (namespaceSelector)',
  ],
  ['an iSCSI disk', { volumes: [{ name: 'v', iscsi: {} }] }, 'volumes[0]'],
  ['a Ceph disk', { volumes: [{ name: 'v', rbd: {} }] }, 'volumes[0]'],
  ['a resource claim', { resourceClaims: [{ name: 'gpu' }] }, 'resourceClaims'],
  ['a RuntimeClass that does not exist', { runtimeClassName: 'kata' }, 'runtimeClassName'],
];

const fieldsOf = (pod: Partial<PodSpec>, field = 'spec.template.spec', facts = NO_FACTS) =>
  unmodeledFields({ containers: [{}], ...pod }, { field, facts, volumes: [] });

test.each(NAMED)('names %s', (_, pod, path) => {
  expect(fieldsOf(pod)).toEqual([`spec.template.spec.${path}`]);
});

const spread = { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' };
const requests = { cpu: 1, memory: '1Gi', 'a.io/b': 1, 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '2Mi' };
const anywhere = inNamespaces({});

const SILENT: readonly [string, Partial<PodSpec>][] = [
  [
    'rules about pods of known namespaces',
    { affinity: { podAffinity: anywhere, podAntiAffinity: anywhere } },
  ],
  ['a spread', { topologySpreadConstraints: [spread] }],
  ['requests', { containers: [{ resources: { requests } }] }],
  ['host ports', { containers: [{ ports: [{ hostPort: 80 }] }] }],
  ['volumes without a place', { volumes: [{ name: 'scratch' }] }],
  ['scheduling gates', { schedulingGates: [{ name: 'fluxqueue' }, { name: 'x' }] }],
];

test.each(SILENT)('does not name %s', (_, pod) => {
  expect(fieldsOf(pod)).toEqual([]);
});

test('does not name the RuntimeClass of a pod, which has the settings of its class already', () => {
  expect(fieldsOf({ runtimeClassName: 'kata' }, 'spec')).toEqual([]);
});

test('names a label with too many values for a constraint', () => {
  const values = new Set(Array.from({ length: 257 }, (_, i) => `v${i}`));
  const facts = { labels: new Map([['rank', values]]) };
  const affinity = (operator: string) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'rank', operator, values: ['7'] }] }],
      },
    },
  });
  expect(fieldsOf({ affinity: affinity('Gt') }, 'spec', facts)).toEqual([
    'spec.affinity.nodeAffinity (label rank)',
  ]);
  expect(fieldsOf({ affinity: affinity('In') }, 'spec', facts)).toEqual([]);
});

test('are part of the jobspec and of its shape, for Fluxion to ignore', () => {
  const options = { pods: 1, walltime: 60, pod: { containers: [{}], runtimeClassName: 'kata' } };
  const jobspec = jobspecOf(options);
  expect(jobspec.attributes.user).toMatchObject({ unmodeled: ['spec.template.spec.runtimeClassName'] });
  expect(shapeOf(jobspec)).not.toBe(shapeOf(jobspecOf({ ...options, field: 'spec' })));
});
