/** What reading one pod spec may cost, whatever it contains. */
import { ClusterFactsTracker } from '../../runtime/jobspec/cluster-facts';
import type { ClusterFacts } from '../../runtime/jobspec/constraints';
import { jobspecOf } from '../../runtime/jobspec/jobspec';
import type { PodSpec } from '../../runtime/jobspec/pod';
import { podRequests } from '../../runtime/jobspec/requests';
import { NO_STORAGE, type PersistentVolumeFacts } from '../../runtime/jobspec/volumes';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

const labels = new Map<string, ReadonlySet<string>>(
  times(50, (k) => [`n${k}`, new Set(times(256, (i) => `${i}`))] as const),
);
const cluster: ClusterFacts = { labels };

const comparisons = (terms: number): NonNullable<PodSpec['affinity']> => ({
  nodeAffinity: {
    [REQUIRED]: {
      nodeSelectorTerms: times(terms, (t) => ({
        matchExpressions: times(4, (i) => ({
          key: `n${(t * 4 + i) % 50}`,
          operator: 'Gt',
          values: [`${i}`],
        })),
      })),
    },
  },
});
const one = (resource: string) => ({ resources: { requests: { [resource]: '1' } } });
const strict = { maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} } as const;

const HOSTILE: readonly (readonly [title: string, pod: Partial<PodSpec>, refusal: RegExp])[] = [
  ['5,000 containers', { containers: times(5000, () => one('cpu')) }, /containers: takes too long to read/],
  [
    '5,000 init containers, each with a resource of its own',
    { initContainers: times(5000, (i) => one(`a.b/c${i}`)) },
    /initContainers: takes too long to read/,
  ],
  [
    '10,000 tolerations',
    { tolerations: times(10_001, (i) => ({ key: `k${i}`, operator: 'Exists' })) },
    /tolerations: takes too long to read/,
  ],
  [
    '10,000 node labels',
    { nodeSelector: Object.fromEntries(times(10_000, (i) => [`k${i}`, 'v'])) },
    /nodeSelector: has too many labels \(got 10000\)/,
  ],
  [
    '10,000 volumes',
    { volumes: times(10_001, (i) => ({ name: `v${i}`, persistentVolumeClaim: { claimName: `c${i}` } })) },
    /volumes: takes too long to read/,
  ],
];

test.each(HOSTILE)('refuses %s before reading them', (_, part, refusal) => {
  const pod = { containers: [{}], ...part };
  expect(() => jobspecOf({ pod, pods: 10, walltime: 60, cluster })).toThrow(refusal);
});

test('tolerations are limited without any taint, because the apiserver compares each with each', () => {
  const tolerations = (count: number) => times(count, (i) => ({ key: `k${i}`, operator: 'Exists' }));
  const read = (count: number) =>
    jobspecOf({ pod: { containers: [{}], tolerations: tolerations(count) }, pods: 1, walltime: 60 });
  expect(() => read(1001)).toThrow(/tolerations: takes too long to read/);
  expect(read(500).version).toBe(1);
});

test('comparisons that are too many are not written again for each spread constraint', () => {
  let lookUps = 0;
  const counted = {
    get(key: string) {
      lookUps += 1;
      return labels.get(key);
    },
  };
  const pod = {
    containers: [{}],
    affinity: comparisons(50),
    topologySpreadConstraints: times(50, (i) => ({ topologyKey: `z${i}`, ...strict })),
  };
  const facts = { labels: counted };
  expect(() => jobspecOf({ pod, pods: 10, walltime: 60, cluster: facts })).toThrow(/in at most 32768 bytes/);
  expect(lookUps).toBe(200);
});

test('counts work, not time: many claims beside many volumes are refused before one of them is compared', () => {
  let compared = 0;
  const volume: PersistentVolumeFacts = {
    metadata: { name: 'pv' },
    get spec() {
      compared += 1;
      return {};
    },
  };
  const volumes = times(2000, () => volume);
  const ephemeral = { volumeClaimTemplate: { spec: { storageClassName: 'local' } } };
  const pod = { containers: [{}], volumes: times(100, (i) => ({ name: `v${i}`, ephemeral })) };
  const storage = { ...NO_STORAGE, volumesOfClass: () => volumes };
  expect(() => jobspecOf({ pod, pods: 1, walltime: 60, storage })).toThrow(/volumes: takes too long to read/);
  expect(compared).toBe(0);
});

test('accepts what honest workloads have', () => {
  const pod: PodSpec = {
    containers: times(50, () => ({ resources: { requests: { cpu: '1', memory: '1Gi' } } })),
    initContainers: times(50, () => one('cpu')),
    tolerations: times(200, (i) => ({ key: `k${i}`, operator: 'Exists' })),
    nodeSelector: Object.fromEntries(times(50, (i) => [`k${i}`, 'v'])),
    volumes: times(50, (i) => ({ name: `v${i}`, persistentVolumeClaim: { claimName: `c${i}` } })),
  };
  expect(jobspecOf({ pod, pods: 5000, walltime: 60, cluster }).version).toBe(1);
});

test('init containers run beside the sidecars before them only', () => {
  const sidecar = (cpu: string) => ({ restartPolicy: 'Always', resources: { requests: { cpu } } });
  const init = (cpu: string) => ({ resources: { requests: { cpu } } });
  const cpuOf = (...initContainers: object[]) =>
    Number(podRequests({ containers: [init('1')], initContainers } as PodSpec).get('cpu')! / 1_000_000_000n);
  expect(cpuOf(init('7'), sidecar('2'))).toBe(7);
  expect(cpuOf(sidecar('2'), init('7'))).toBe(9);
  expect(cpuOf(sidecar('2'), init('3'), sidecar('4'))).toBe(7);
});

test('a comparison is resolved once for all workloads, until a node has another value', () => {
  const tracker = new ClusterFactsTracker();
  const node = (name: string, size: string) => ({ metadata: { name, labels: { size } } });
  tracker.replace(undefined, node('a', '3'));
  const constraint = (bound: string) => {
    const affinity = {
      nodeAffinity: {
        [REQUIRED]: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'size', operator: 'Gt', values: [bound] }] }],
        },
      },
    };
    const jobspec = jobspecOf({
      pod: { containers: [{}], affinity, tolerations: [{ operator: 'Exists' }] },
      pods: 1,
      walltime: 60,
      cluster: tracker.facts(),
    });
    return jobspec.attributes.system.constraints;
  };
  expect(constraint('2')).toBe(constraint('2'));
  tracker.replace(undefined, node('b', '5'));
  expect(constraint('2')).toEqual({ or: [{ properties: ['size=3'] }, { properties: ['size=5'] }] });
});
