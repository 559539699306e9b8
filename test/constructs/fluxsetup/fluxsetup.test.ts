import { Chart, Duration, Size, Testing } from 'cdk8s';
import { Cpu } from 'cdk8s-plus-28';
import { PropsError } from '../../../constructs/api/errors';
import { FluxSetup, type FluxSetupProps } from '../../../constructs/fluxqueue/index';
import { settingsOf } from '../../../runtime/fluxsetups/queue-settings';
import type { FluxSetupObject } from '../../../runtime/kubernetes/custom-resources';
import type { KubeObject } from '../../cluster/api';

function synth(props: FluxSetupProps = {}, id = 'team'): KubeObject & { spec?: object } {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'science' });
  new FluxSetup(chart, id, props);
  return (Testing.synth(chart) as KubeObject[])[0]!;
}

test('without props it is named by its id and leaves all defaults to the API', () => {
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
  depth: 500,
  defaultWalltime: Duration.minutes(90),
  maxWalltime: Duration.days(2),
  minPriority: -10,
  maxPriority: 100,
  agingPerHour: 0.5,
  quota: { jobs: 20, pods: 200, cores: Cpu.units(64), memory: Size.gibibytes(256), gpus: 8, nodes: 4 },
  cohort: 'campus',
  borrowing: { cores: Cpu.millis(1500), memory: Size.mebibytes(512), gpus: 0 },
  reclaim: true,
  limits: { running: 50, waiting: 1000 },
  limitsPerUser: { running: 5 },
  weight: 3,
  preempts: true,
  requeueLimit: 0,
  requeueBackoff: Duration.seconds(30),
};

test('every prop has its place', () => {
  expect(synth(FULL)).toMatchObject({
    metadata: { name: 'physics', namespace: 'labs' },
    spec: {
      policy: 'hybrid',
      reservations: 4,
      depth: 500,
      walltime: { default: '90m', max: '48h' },
      priority: { min: -10, max: 100 },
      agingPerHour: 0.5,
      quota: { jobs: 20, pods: 200, cores: '64', memory: '256Gi', gpus: 8, nodes: 4 },
      cohort: 'campus',
      borrowing: { cores: '1500m', memory: '512Mi', gpus: 0 },
      reclaim: true,
      limits: { running: 50, waiting: 1000, perUser: { running: 5 } },
      weight: 3,
      preemption: 'LowerPriority',
      requeue: { limit: 0, backoff: '30s' },
    },
  });
});

test('the runtime reads what it writes', () => {
  expect(settingsOf(synth(FULL) as unknown as FluxSetupObject)).toMatchObject({
    name: 'labs/physics',
    policy: 'hybrid',
    defaultWalltimeSeconds: 5400,
    maxWalltimeSeconds: 172_800,
    quota: { cores: 64, memoryGiB: 256 },
    borrowing: { cores: 1.5, memoryGiB: 0.5, gpus: 0 },
    preempts: true,
    requeue: { limit: 0, backoffSeconds: 30 },
  });
});

test('its labels put a workload into it', () => {
  const team = new FluxSetup(Testing.chart(), 'team');
  expect(team.labels).toEqual({ 'fluxqueue/queue': 'team' });
  expect(FluxSetup.fromFluxSetupName('team')).toEqual({ name: 'team', labels: team.labels });
});

test.each<[string, FluxSetupProps, string]>([
  ['a name that no label can have', { name: 'Team_A' }, 'name'],
  ['an unknown policy', { policy: 'fair' as 'easy' }, 'policy'],
  ['reservations of another policy', { reservations: 2 }, 'reservations'],
  ['half a reservation', { policy: 'hybrid', reservations: 0.5 }, 'reservations'],
  ['no depth', { depth: 0 }, 'depth'],
  ['no walltime', { defaultWalltime: Duration.seconds(0) }, 'defaultWalltime'],
  [
    'a default above the maximum',
    { defaultWalltime: Duration.hours(2), maxWalltime: Duration.hours(1) },
    'maxWalltime',
  ],
  ['a default above the default maximum', { defaultWalltime: Duration.days(8) }, 'defaultWalltime'],
  ['a maximum below the default default', { maxWalltime: Duration.minutes(1) }, 'maxWalltime'],
  ['an empty range of priorities', { minPriority: 2, maxPriority: 1 }, 'minPriority'],
  ['a priority that Kubernetes has not', { maxPriority: 2 ** 31 }, 'maxPriority'],
  ['aging backwards', { agingPerHour: -1 }, 'agingPerHour'],
  ['aging that is no number', { agingPerHour: Number.NaN }, 'agingPerHour'],
  ['less than no nodes', { quota: { nodes: -1 } }, 'quota.nodes'],
  ['less than no cores', { quota: { cores: Cpu.units(-1) } }, 'quota.cores'],
  ['a quota that says nothing', { quota: {} }, 'quota'],
  ['half a gpu to borrow', { cohort: 'c', borrowing: { gpus: 0.5 } }, 'borrowing.gpus'],
  ['borrowing from nobody', { borrowing: { jobs: 1 } }, 'borrowing'],
  ['reclaim from nobody', { reclaim: true }, 'reclaim'],
  ['a cohort that is no name', { cohort: 'a b' }, 'cohort'],
  ['a limit that lets nothing wait', { limits: { waiting: 0 } }, 'limits.waiting'],
  ['half a running workload per user', { limitsPerUser: { running: 0.5 } }, 'limitsPerUser.running'],
  ['no weight', { weight: 0 }, 'weight'],
  ['a backoff of a day', { requeueBackoff: Duration.days(1) }, 'requeueBackoff'],
])('%s is refused with its place and a remedy', (_, props, prop) => {
  const attempt = () => synth(props);
  expect(attempt).toThrow(PropsError);
  expect(attempt).toThrow(expect.objectContaining({ field: `FluxSetup.${prop}` }));
});

test('a reference to a name that no queue has is refused', () => {
  expect(() => FluxSetup.fromFluxSetupName('a.b')).toThrow(
    expect.objectContaining({ field: 'FluxSetup.fromFluxSetupName', value: 'a.b' }),
  );
});
