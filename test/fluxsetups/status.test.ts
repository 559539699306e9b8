import { EMPTY } from '../../runtime/fluxsetups/queue-counts';
import { settingsOf } from '../../runtime/fluxsetups/queue-settings';
import { type FluxSetupFacts, fluxSetupStatus } from '../../runtime/fluxsetups/status';
import { fluxSetup } from './fluxsetup-objects';

const FACTS: FluxSetupFacts = {
  queue: 'science/team',
  settings: settingsOf(
    fluxSetup('team', { policy: 'fcfs', quota: { cores: '2500m', memory: '1536Mi', nodes: 4 } }),
  ),
  problem: undefined,
  counts: {
    waiting: 3,
    ready: 1,
    running: 2,
    usage: { jobs: 3, pods: 12, cores: 2.5, memoryGiB: 16, gpus: 0, nodes: 2 },
  },
  finished: 40,
  previous: {},
  generation: 5,
  now: 1_700_000_000,
};

test('reports the usage and quota of the queue as Kubernetes quantities', () => {
  expect(fluxSetupStatus(FACTS)).toMatchObject({
    queue: 'science/team',
    waiting: 3,
    ready: 1,
    running: 2,
    finished: 40,
    usage: { jobs: '3', pods: '12', cores: '2500m', memory: '16Gi', gpus: '0', nodes: '2' },
    quota: { cores: '2500m', memory: '1536Mi', nodes: '4' },
    observedGeneration: 5,
  });
});

const conditions = (facts: Partial<FluxSetupFacts> = {}) =>
  Object.fromEntries(fluxSetupStatus({ ...FACTS, ...facts }).conditions!.map((each) => [each.type, each]));

test('is Ready while its queue is in service', () => {
  const { Ready, Reconciling, Stalled } = conditions();
  expect([Ready?.status, Reconciling?.status, Stalled?.status]).toEqual(['True', 'False', 'False']);
  expect(Ready).toMatchObject({
    reason: 'Serving',
    message: 'the queue is in service with policy fcfs',
    observedGeneration: 5,
    lastTransitionTime: '2023-11-14T22:13:20Z',
  });
});

test.each([
  [{ quota: { nodes: 4, cores: 16 }, cohort: 'lab', reclaim: true }, 'reclaim'],
  [{ quota: { nodes: 4 }, preemption: { policy: 'LowerPriority' } }, 'preemption.policy'],
  [
    {
      quota: { nodes: 4 },
      cohort: 'lab',
      reclaim: true,
      preemption: { policy: 'LowerPriority', fairSharing: 'LessThanInitialShare' },
    },
    'reclaim, preemption.policy and preemption.fairSharing',
  ],
] as const)('says that nobody is evicted for a quota of nodes: %j', (spec, rights) => {
  const { Ready } = conditions({ settings: settingsOf(fluxSetup('team', spec)) });
  expect(Ready).toMatchObject({
    status: 'True',
    message: `the queue is in service with policy easy; nobody is evicted for quota.nodes: for ${rights} give the same quota in cores as well`,
  });
});

test.each([
  { quota: { nodes: 4 }, cohort: 'lab' },
  { quota: { cores: '4' }, cohort: 'lab', reclaim: true },
] as const)('says nothing of evictions where there are none for nodes: %j', (spec) => {
  const { Ready } = conditions({ settings: settingsOf(fluxSetup('team', spec)) });
  expect(Ready?.message).toBe('the queue is in service with policy easy');
});

test('is Stalled with the reason when its settings are invalid', () => {
  const { Ready, Stalled } = conditions({
    settings: undefined,
    problem: 'FLUXQ_QUANTITY: why',
    counts: EMPTY,
  });
  expect(Ready).toMatchObject({ status: 'False', reason: 'Invalid', message: 'FLUXQ_QUANTITY: why' });
  expect(Stalled).toMatchObject({ status: 'True', reason: 'Invalid' });
});

test('keeps the transition time of a condition whose status does not change', () => {
  const previous = fluxSetupStatus({ ...FACTS, now: 1_600_000_000 });
  const later = conditions({ previous, settings: undefined, problem: 'x' });
  expect(later.Reconciling?.lastTransitionTime).toBe('2020-09-13T12:26:40Z');
  expect(later.Ready?.lastTransitionTime).toBe('2023-11-14T22:13:20Z');
});
