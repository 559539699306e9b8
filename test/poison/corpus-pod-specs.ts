/** Pod specs at the limits of the API, each in a Job and in a pod. */
import {
  container,
  type Fields,
  INT32,
  job,
  type Poison,
  pod,
  REQUIRED,
  record,
  requests,
  times,
} from './objects';

const selector = (count: number) => ({
  matchExpressions: times(count, (i) => ({ key: `k${i}`, operator: 'NotIn', values: ['v'.repeat(63)] })),
});
const nodeAffinity = (nodeSelectorTerms: readonly object[]): Fields => ({
  affinity: { nodeAffinity: { [REQUIRED]: { nodeSelectorTerms } } },
});
const compared = (count: number) =>
  nodeAffinity(
    times(count, (i) => ({
      matchExpressions: [
        { key: 'size', operator: 'Gt', values: [`${i}`] },
        { key: 'size', operator: 'Lt', values: ['9'.repeat(60)] },
        { key: 'kubernetes.io/hostname', operator: 'NotIn', values: times(5, (k) => `host-${i}-${k}`) },
      ],
    })),
  );
const near = (kind: 'podAffinity' | 'podAntiAffinity', count: number, expressions: number): Fields => ({
  affinity: {
    [kind]: {
      [REQUIRED]: times(count, (i) => ({
        topologyKey: i % 2 === 0 ? 'kubernetes.io/hostname' : 'zone',
        labelSelector: selector(expressions),
        namespaceSelector: {},
      })),
    },
  },
});
const spread = (count: number): Fields => ({
  topologySpreadConstraints: times(count, (i) => ({
    topologyKey: ['kubernetes.io/hostname', 'zone'][i] ?? `none-${i}`,
    maxSkew: 1,
    minDomains: 1 + (i % 5),
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: `a${i}` } },
  })),
});

const SPECS: readonly (readonly [title: string, spec: Fields])[] = [
  [
    'ten thousand variables',
    { containers: [container('main', { env: times(10_000, (i) => ({ name: `E${i}`, value: 'x' })) })] },
  ],
  [
    'hundreds of containers',
    { containers: times(400, (i) => container(`c${i}`, { resources: { requests: { cpu: '1m' } } })) },
  ],
  [
    'thousands of init containers',
    {
      initContainers: times(2_500, (i) =>
        container(`i${i}`, {
          resources: { requests: { [`example.com/r${i}`]: '1' }, limits: { [`example.com/r${i}`]: '1' } },
        }),
      ),
    },
  ],
  [
    'a hundred sidecars',
    {
      initContainers: times(100, (i) =>
        container(`s${i}`, { restartPolicy: 'Always', resources: { requests: { cpu: '1m' } } }),
      ),
    },
  ],
  ['a billionth of a core', requests({ cpu: '1e-9', memory: '1m' })],
  ['nine exa of everything', requests({ cpu: '9E', memory: '9E', 'ephemeral-storage': '9E' })],
  ['the largest int64', requests({ cpu: '9223372036854775807', memory: '9223372036854775807' })],
  ['beyond int64', requests({ cpu: '1e40', memory: '99999999999999999999999999999999Ei' })],
  ['a quantity of 60 digits', requests({ cpu: `0.${'0'.repeat(58)}1` })],
  ['requests of zero', requests({ cpu: '0', memory: '0', 'example.com/none': '0' })],
  ['a negative request', requests({ cpu: '-1' })],
  ['an unknown extended resource', requests({ 'example.com/unobtainium': '1' })],
  ['a resource with an odd name', requests({ 'example.com/__proto__': '1' })],
  ['two resources of one unit', requests({ 'example.com/a-b': '1', 'example.com/a.b': '1' })],
  ['a fraction of an extended resource', requests({ 'example.com/half': '500m' })],
  ['huge pages', requests({ cpu: '1', 'hugepages-2Mi': '4Mi' })],
  ['two hundred resources', requests(record(200, (i) => [`example.com/r${i}`, '1']))],
  ['requests at pod level', { resources: { requests: { cpu: '9E' } } }],
  ['a container without requests', { containers: [{ name: 'main', image: 'none' }] }],
  ['the most terms', compared(50)],
  ['one term too many', compared(51)],
  ['terms without expressions', nodeAffinity([{}, { matchExpressions: [] }])],
  [
    'a term with an operator unknown',
    nodeAffinity([{ matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] }]),
  ],
  [
    'comparisons with words',
    nodeAffinity([{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'Gt', values: ['0'] }] }]),
  ],
  [
    'a hostlist as a name',
    nodeAffinity([{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] }]),
  ],
  ['a node that does not exist', { nodeSelector: { 'kubernetes.io/hostname': 'gone' } }],
  ['thousands of node labels', { nodeSelector: record(3_000, (i) => [`k${i}`, 'v']) }],
  ['labels with odd characters', { nodeSelector: { 'a.b/c_d-e.f': 'x_y-z.1', __proto__x: 'y' } }],
  ['the deepest affinity', near('podAffinity', 50, 4)],
  ['the deepest anti-affinity', near('podAntiAffinity', 50, 4)],
  ['long selectors in anti-affinity', near('podAntiAffinity', 10, 40)],
  ['selectors of a megabyte', near('podAntiAffinity', 50, 150)],
  [
    'affinity to itself',
    {
      affinity: {
        podAffinity: { [REQUIRED]: [{ topologyKey: 'kubernetes.io/hostname', labelSelector: {} }] },
      },
    },
  ],
  ['the most spread constraints', spread(50)],
  ['spread and comparisons', { ...spread(40), ...compared(30) }],
  [
    'the largest skew',
    {
      topologySpreadConstraints: [
        {
          topologyKey: 'kubernetes.io/hostname',
          maxSkew: INT32,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: {},
        },
      ],
    },
  ],
  ['ten thousand tolerations', { tolerations: times(10_000, (i) => ({ key: `k${i}`, operator: 'Exists' })) }],
  ['a toleration of everything', { tolerations: [{ operator: 'Exists' }] }],
  [
    'the longest toleration',
    {
      tolerations: [
        { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: Number.MAX_SAFE_INTEGER },
      ],
    },
  ],
  [
    'thousands of volumes',
    { volumes: times(5_000, (i) => ({ name: `v${i}`, persistentVolumeClaim: { claimName: `c${i}` } })) },
  ],
  ['a claim that does not exist', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'gone' } }] }],
  [
    'ephemeral claims',
    {
      volumes: times(100, (i) => ({
        name: `v${i}`,
        ephemeral: {
          volumeClaimTemplate: {
            spec: {
              accessModes: ['ReadWriteOnce'],
              storageClassName: 'none',
              resources: { requests: { storage: '9E' } },
            },
          },
        },
      })),
    },
  ],
  [
    'empty directories of nine exa',
    { volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '9E' } }] },
  ],
  [
    'all host ports',
    {
      containers: [
        container('main', { ports: times(2_000, (i) => ({ containerPort: 1 + i, hostPort: 1 + i })) }),
      ],
    },
  ],
  [
    'on the network of the host',
    { hostNetwork: true, containers: [container('main', { ports: [{ containerPort: 80 }] })] },
  ],
  ['the longest grace period', { terminationGracePeriodSeconds: INT32 }],
  ['another scheduler', { schedulerName: 'nobody' }],
  ['a runtime class that does not exist', { runtimeClassName: 'gone' }],
  ['a priority class that does not exist', { priorityClassName: 'gone' }],
  ['a gate of others', { schedulingGates: times(50, (i) => ({ name: `example.com/gate-${i}` })) }],
  ['a service account that does not exist', { serviceAccountName: 'gone' }],
  ['a host name that is long', { hostname: 'h'.repeat(63), subdomain: 's'.repeat(63) }],
  ['a deadline of the pod', { activeDeadlineSeconds: INT32 }],
  ['readiness gates', { readinessGates: times(100, (i) => ({ conditionType: `example.com/c${i}` })) }],
];

/** Every second one also as a pod: what reads them is the same. */
export const POD_SPECS: readonly Poison[] = SPECS.flatMap(([title, spec], i) => [
  job(title, spec),
  ...(i % 2 === 0 ? [pod(`pod with ${title}`, spec)] : []),
]);
