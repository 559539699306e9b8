/** Pods as services and with odd owners, and the custom resources of the stack at their limits. */
import {
  annotated,
  container,
  custom,
  type Fields,
  INT32,
  LONG_NAME,
  LONGEST_NAME,
  type Poison,
  pod,
  record,
  times,
} from './objects';

const PODS: readonly Poison[] = [
  pod('name of a pod of 253', {}, { name: LONGEST_NAME }),
  pod('a service', { restartPolicy: 'Always' }),
  pod(
    'a pod owned by nothing',
    {},
    {
      ownerReferences: [
        {
          apiVersion: 'batch/v1',
          kind: 'Job',
          name: 'gone',
          uid: '00000000-0000-0000-0000-000000000001',
          controller: true,
        },
      ],
    },
  ),
  pod('a pod with finalizers of others', {}, { finalizers: ['example.com/never'] }),
  pod('a pod after itself', {}, annotated({ 'fluxqueue/after': 'a-pod-after-itself' })),
  pod(
    'a pod that forges its index',
    {},
    annotated({ 'batch.kubernetes.io/job-completion-index': '99999999999' }),
  ),
  pod(
    'a group of pods',
    {},
    { ...annotated({}), labels: { 'fluxqueue/group': 'g', 'fluxqueue/group-size': '999999999' } },
  ),
  {
    ...pod('a pod with a status by its user'),
    status: {
      phase: 'Running',
      startTime: '1970-01-01T00:00:00Z',
      conditions: times(500, (i) => ({ type: `example.com/c${i}`, status: 'True' })),
    },
  },
];

const cluster = (title: string, spec: Fields) =>
  custom('MiniCluster', title, { size: 1, containers: [{ image: 'none', command: 'hostname' }], ...spec });

const CLUSTERS: readonly Poison[] = [
  cluster('mc one', {}),
  cluster('mc no size', { size: 0 }),
  cluster('mc largest size', { size: INT32, maxSize: INT32 }),
  cluster('mc negative size', { size: -1 }),
  cluster('mc most tasks', { tasks: INT32 }),
  cluster('mc config of 200 kB', { flux: { brokerConfig: '# '.repeat(30_000) } }),
  cluster('mc megabyte of scripts', {
    containers: [
      {
        image: 'none',
        command: 'x'.repeat(250_000),
        commands: { pre: 'y'.repeat(250_000), post: 'z'.repeat(250_000) },
      },
    ],
  }),
  cluster('mc most containers', {
    containers: times(16, (i) => ({ image: 'none', name: `c${i}`, runFlux: i === 0, command: 'hostname' })),
  }),
  cluster('mc too many containers', {
    containers: times(17, (i) => ({ image: 'none', name: `c${i}`, command: 'hostname' })),
  }),
  cluster('mc no containers', { containers: [] }),
  cluster('mc huge requests', {
    containers: [
      { image: 'none', command: 'hostname', resources: { requests: { cpu: '9E', memory: '9E' } } },
    ],
  }),
  cluster('mc odd quantity', {
    containers: [{ image: 'none', command: 'hostname', resources: { requests: { cpu: 'lots' } } }],
  }),
  cluster('mc shell in a command', {
    containers: [{ image: 'none', command: '$(reboot) `id` \'"\n\u202e $HOME' }],
  }),
  cluster('mc most environment', {
    containers: [
      { image: 'none', command: 'hostname', environment: record(500, (i) => [`E${i}`, 'x'.repeat(500)]) },
    ],
  }),
  cluster('mc longest deadline', { deadlineSeconds: Number.MAX_SAFE_INTEGER }),
  cluster('mc pod labels', {
    pod: { labels: record(1_000, (i) => [`l${i}`, 'v']), annotations: { huge: 'x'.repeat(200_000) } },
  }),
  { ...cluster('mc long name', {}), object: { ...cluster('x', {}).object, metadata: { name: LONG_NAME } } },
];

const setup = (title: string, spec: Fields) => custom('FluxSetup', title, spec);

const SETUPS: readonly Poison[] = [
  setup('fs defaults', {}),
  setup('fs all at the most', {
    policy: 'hybrid',
    reservations: 100_000,
    depth: 1_000_000,
    walltime: { default: '596523h', max: '596523h' },
    priority: { min: -2_147_483_648, max: INT32 },
    agingPerHour: 1_000_000,
    quota: { jobs: INT32, pods: INT32, cores: '9E', memory: '9E', gpus: INT32, nodes: INT32 },
    limits: { running: INT32, waiting: INT32, perUser: { running: INT32, waiting: INT32 } },
    weight: 1_000_000,
    cohort: 'c',
    lendingLimit: { jobs: INT32, pods: INT32, cores: '9E', memory: '9E', gpus: INT32 },
    billingWeights: { cores: 1_000_000, memory: 1_000_000, gpus: 1_000_000 },
    preemption: { policy: 'LowerPriority', minRuntime: '596523h', limit: 1_000_000 },
    requeue: { limit: 1_000_000, backoff: '1h' },
  }),
  setup('fs nothing allowed', {
    quota: { jobs: 0, pods: 0, cores: 0, memory: 0, gpus: 0, nodes: 0 },
    limits: { running: 0, waiting: 1 },
  }),
  setup('fs tiny', {
    depth: 1,
    walltime: { default: '1ms', max: '1ms' },
    priority: { min: 0, max: 0 },
    requeue: { limit: 0, backoff: '1ms' },
  }),
  setup('fs conservative', { policy: 'conservative', depth: 1_000_000 }),
  setup('fs fcfs', { policy: 'fcfs', cohort: 'c'.repeat(63), borrowing: { cores: '9E' }, reclaim: true }),
  setup('fs odd quantities', { quota: { cores: '1e40', memory: '.1e-9' } }),
  setup('fs quantity too long', { quota: { cores: '9'.repeat(33) } }),
  setup('fs walltime beyond', { walltime: { default: '596524h', max: '596524h' } }),
  setup('fs upside down', { priority: { min: 1, max: 0 } }),
  { ...setup('fs long name', {}), object: { ...setup('x', {}).object, metadata: { name: LONGEST_NAME } } },
];

const record1 = (title: string, spec: Fields, status?: Fields): Poison => ({
  ...custom('FluxJob', title, {
    workload: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'gone',
      uid: '00000000-0000-0000-0000-000000000002',
    },
    queue: 'default',
    ...spec,
  }),
  ...(status === undefined ? {} : { status }),
});

const FLUXJOBS: readonly Poison[] = [
  record1('fj of nothing', {}),
  record1('canary-next-job', { priority: INT32 }),
  record1('fj huge', { jobspec: 'x'.repeat(1_000_000) }),
  record1('fj with a status', { pods: 1 }, { phase: 'Running', jobID: 1 }),
];

export const OTHERS: readonly Poison[] = [
  ...PODS,
  ...CLUSTERS,
  ...SETUPS,
  ...FLUXJOBS,
  pod('containers with long names', {
    containers: times(300, (i) =>
      container(`${'n'.repeat(58)}${i}`, { resources: { requests: { cpu: '1m' } } }),
    ),
  }),
];
