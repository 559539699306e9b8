import { App, Chart, Duration, Size, Testing } from 'cdk8s';
import { Cpu } from 'cdk8s-plus-28';
import { PropsError } from '../../../constructs/api/errors';
import { FluxSetup, type FluxSetupProps } from '../../../constructs/fluxqueue/index';
import { settingsOf } from '../../../runtime/fluxsetups/queue-settings';
import type { FluxSetupObject } from '../../../runtime/kubernetes/custom-resources';
import type { KubeObject } from '../../cluster/api';

function synth(props: FluxSetupProps = {}, id = 'team'): KubeObject & { spec?: object } {
  const chart = new Chart(new App(), 'chart', { namespace: 'science' });
  new FluxSetup(chart, id, props);
  return (Testing.synth(chart) as KubeObject[])[0]!;
}

test('without props has the name of its id and an empty spec', () => {
  expect(synth()).toEqual({
    apiVersion: 'flux-framework.org/v1alpha1',
    kind: 'FluxSetup',
    metadata: { name: 'team', namespace: 'science' },
    spec: {},
  });
});

const FULL: FluxSetupProps = {
  name: 'physics',
  namespace: 'labs',
  policy: 'hybrid',
  reservations: 4,
  backfillOrder: 'shortestArea',
  backfillMaxWait: Duration.hours(6),
  depth: 500,
  defaultWalltime: Duration.minutes(90),
  maxWalltime: Duration.days(2),
  minPriority: -10,
  maxPriority: 100,
  agingPerHour: 0.5,
  priorityWeights: { age: 2, fairShare: 3, size: -1, queue: 10 },
  quota: { jobs: 20, pods: 200, cores: Cpu.units(64), memory: Size.gibibytes(256), gpus: 8, nodes: 4 },
  cohort: 'campus',
  borrowing: { cores: Cpu.millis(1500), memory: Size.mebibytes(512), gpus: 0 },
  lendingLimit: { cores: Cpu.units(8), memory: Size.gibibytes(32), gpus: 0 },
  reclaim: true,
  limits: { running: 50, waiting: 1000 },
  limitsPerUser: { running: 5 },
  weight: 3,
  billingWeights: { memory: 0.5 },
  preempts: true,
  fairSharing: 'LessThanOrEqualToFinalShare',
  preemptionMinRuntime: Duration.minutes(10),
  preemptionLimit: 2,
  requeueLimit: 0,
  requeueBackoff: Duration.seconds(30),
};

test('writes every prop to its field', () => {
  expect(synth(FULL)).toMatchObject({
    metadata: { name: 'physics', namespace: 'labs' },
    spec: {
      policy: 'hybrid',
      reservations: 4,
      backfillOrder: 'shortestArea',
      backfillMaxWait: '6h',
      depth: 500,
      walltime: { default: '90m', max: '48h' },
      priority: { min: -10, max: 100 },
      agingPerHour: 0.5,
      priorityWeights: { age: 2, fairShare: 3, size: -1, queue: 10 },
      quota: { jobs: 20, pods: 200, cores: '64', memory: '256Gi', gpus: 8, nodes: 4 },
      cohort: 'campus',
      borrowing: { cores: '1500m', memory: '512Mi', gpus: 0 },
      lendingLimit: { cores: '8', memory: '32Gi', gpus: 0 },
      reclaim: true,
      limits: { running: 50, waiting: 1000, perUser: { running: 5 } },
      weight: 3,
      billingWeights: { memory: 0.5 },
      preemption: {
        policy: 'LowerPriority',
        fairSharing: 'LessThanOrEqualToFinalShare',
        minRuntime: '10m',
        limit: 2,
      },
      requeue: { limit: 0, backoff: '30s' },
    },
  });
});

test('the runtime reads the settings that it writes', () => {
  expect(settingsOf(synth(FULL) as unknown as FluxSetupObject)).toMatchObject({
    name: 'labs/physics',
    policy: 'hybrid',
    backfillOrder: 'shortestArea',
    backfillMaxWaitSeconds: 21_600,
    defaultWalltimeSeconds: 5400,
    maxWalltimeSeconds: 172_800,
    quota: { cores: 64, memoryGiB: 256 },
    borrowing: { cores: 1.5, memoryGiB: 0.5, gpus: 0 },
    lending: { cores: 8, memoryGiB: 32, gpus: 0 },
    billingWeights: { cores: 1, memoryGiB: 0.5, gpus: 16 },
    priorityWeights: { age: 2, fairShare: 3, size: -1, queue: 10, maxAgeSeconds: 86_400 },
    preempts: true,
    fairSharing: 'LessThanOrEqualToFinalShare',
    preemption: { minRuntimeSeconds: 600, limit: 2 },
    requeue: { limit: 0, backoffSeconds: 30 },
  });
});

test('has the labels that submit a workload to it', () => {
  const team = new FluxSetup(new Chart(new App(), 'test'), 'team');
  expect(team.labels).toEqual({ 'fluxqueue/queue': 'team' });
  const namespaceLabels = { 'fluxqueue/enabled': 'true', 'fluxqueue/queue': 'team' };
  expect(team.namespaceLabels).toEqual(namespaceLabels);
  expect(FluxSetup.fromFluxSetupName('team')).toEqual({ name: 'team', labels: team.labels, namespaceLabels });
});

test("has no labels for a namespace with the name of the stack's own queue", () => {
  const setup = new FluxSetup(new Chart(new App(), 'test'), 'default');
  for (const each of [setup, FluxSetup.fromFluxSetupName('default')])
    expect(() => each.namespaceLabels).toThrow(
      expect.objectContaining({ field: 'FluxSetup.namespaceLabels', value: 'default' }),
    );
  expect(setup.labels).toEqual({ 'fluxqueue/queue': 'default' });
});

test.each<[string, FluxSetupProps, string]>([
  ['a name that is not a label value', { name: 'Team_A' }, 'name'],
  ['an unknown policy', { policy: 'fair' as 'easy' }, 'policy'],
  ['reservations without policy hybrid', { reservations: 2 }, 'reservations'],
  ['a fraction of a reservation', { policy: 'hybrid', reservations: 0.5 }, 'reservations'],
  ['an unknown order of backfill', { backfillOrder: 'longest' as 'submission' }, 'backfillOrder'],
  ['shortestArea with fcfs', { policy: 'fcfs', backfillOrder: 'shortestArea' }, 'backfillOrder'],
  ['a longest wait without shortestArea', { backfillMaxWait: Duration.hours(1) }, 'backfillMaxWait'],
  [
    'a longest wait of 0',
    { backfillOrder: 'shortestArea', backfillMaxWait: Duration.seconds(0) },
    'backfillMaxWait',
  ],
  ['depth 0', { depth: 0 }, 'depth'],
  ['a walltime of 0', { defaultWalltime: Duration.seconds(0) }, 'defaultWalltime'],
  [
    'a default walltime above the maximum',
    { defaultWalltime: Duration.hours(2), maxWalltime: Duration.hours(1) },
    'maxWalltime',
  ],
  ['a default walltime above the default maximum', { defaultWalltime: Duration.days(8) }, 'defaultWalltime'],
  ['a maximum walltime below the default walltime', { maxWalltime: Duration.minutes(1) }, 'maxWalltime'],
  ['an empty range of priorities', { minPriority: 2, maxPriority: 1 }, 'minPriority'],
  ['a priority above 32 bits', { maxPriority: 2 ** 31 }, 'maxPriority'],
  ['negative aging', { agingPerHour: -1 }, 'agingPerHour'],
  ['aging that is not a number', { agingPerHour: Number.NaN }, 'agingPerHour'],
  ['a negative weight of the age', { priorityWeights: { age: -1 } }, 'priorityWeights.age'],
  ['a weight that is not a number', { priorityWeights: { queue: Number.NaN } }, 'priorityWeights.queue'],
  ['a negative number of nodes', { quota: { nodes: -1 } }, 'quota.nodes'],
  ['a negative number of cores', { quota: { cores: Cpu.units(-1) } }, 'quota.cores'],
  ['an empty quota', { quota: {} }, 'quota'],
  ['a fraction of a GPU to borrow', { cohort: 'c', borrowing: { gpus: 0.5 } }, 'borrowing.gpus'],
  ['borrowing without a cohort', { borrowing: { jobs: 1 } }, 'borrowing'],
  ['reclaim without a cohort', { reclaim: true }, 'reclaim'],
  ['fair sharing without a cohort', { fairSharing: 'LessThanInitialShare' }, 'fairSharing'],
  ['an unknown fair sharing', { cohort: 'c', fairSharing: 'Any' as 'Never' }, 'fairSharing'],
  ['lending without a cohort', { quota: { jobs: 1 }, lendingLimit: { jobs: 1 } }, 'lendingLimit'],
  ['lending without a quota', { cohort: 'c', lendingLimit: { jobs: 1 } }, 'lendingLimit.jobs'],
  ['an empty lending limit', { cohort: 'c', lendingLimit: {} }, 'lendingLimit'],
  ['a negative billing weight', { billingWeights: { gpus: -1 } }, 'billingWeights.gpus'],
  ['a negative number of preemptions', { preemptionLimit: -1 }, 'preemptionLimit'],
  ['a minimum run time above 68 years', { preemptionMinRuntime: Duration.days(1e6) }, 'preemptionMinRuntime'],
  ['an invalid name of a cohort', { cohort: 'a b' }, 'cohort'],
  ['a limit of 0 waiting workloads', { limits: { waiting: 0 } }, 'limits.waiting'],
  ['a fraction of a running workload per user', { limitsPerUser: { running: 0.5 } }, 'limitsPerUser.running'],
  ['weight 0', { weight: 0 }, 'weight'],
  ['a backoff of a day', { requeueBackoff: Duration.days(1) }, 'requeueBackoff'],
])('rejects %s with field and remedy', (_, props, prop) => {
  const attempt = () => synth(props);
  expect(attempt).toThrow(PropsError);
  expect(attempt).toThrow(expect.objectContaining({ field: `FluxSetup.${prop}` }));
});

test('rejects a reference with an invalid name', () => {
  expect(() => FluxSetup.fromFluxSetupName('a.b')).toThrow(
    expect.objectContaining({ field: 'FluxSetup.fromFluxSetupName', value: 'a.b' }),
  );
});
