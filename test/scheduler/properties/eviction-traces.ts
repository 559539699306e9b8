/** Random queues of two cohorts that lend, take back and preempt, and workloads of several priorities that leave slowly. */
import { FAIR_SHARING, QUEUE_POLICIES } from '../../../constructs/api/policies';
import type { QueueSettings } from '../../../runtime/queue/settings';
import fc from '../../fast-check';
import type { JobOptions } from '../pass/job-options';
import { nodesOf, Simulation } from '../pass/simulation';
import { type Backfill, backfill } from './backfill';

export type Settings = Pick<
  QueueSettings,
  'policy' | 'cohort' | 'quota' | 'borrowing' | 'lending' | 'reclaim' | 'preempts' | 'preemption'
> &
  Partial<Pick<QueueSettings, 'fairSharing' | 'weight'>> &
  Backfill;

interface Arrival extends JobOptions {
  readonly gap: number;
  readonly queue: string;
  readonly priority: number;
  readonly pods: number;
  readonly cpu: number;
  readonly walltime: number;
}

export interface Scenario {
  readonly queues: Readonly<Record<string, Settings>>;
  readonly jobs: readonly Arrival[];
  readonly nodes: number;
  /** @default - none */
  readonly changes?: readonly Change[];
}

/** A new leader, with settings an administrator who changes a queue, or with an edit a user who changes what waits. */
interface Change {
  /** Seconds after the first workload. */
  readonly after: number;
  readonly queue?: string;
  readonly settings?: Settings;
  readonly edit?: Edit;
}

interface Edit {
  /** Which of the workloads, modulo how many there are. */
  readonly job: number;
  readonly pods: number;
  readonly cpu: number;
}

const CORES = 4;

const cores = (min: number, max: number) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.integer({ min, max }).map((amount) => ({ cores: amount })) },
  );

const settings: fc.Arbitrary<Settings> = fc.record({
  policy: fc.constantFrom(...QUEUE_POLICIES),
  cohort: fc.constantFrom('lab', 'lab', 'lab', 'campus', null),
  quota: fc.record({ cores: fc.integer({ min: 2, max: 12 }) }),
  borrowing: cores(0, 8),
  lending: cores(0, 8),
  reclaim: fc.boolean(),
  preempts: fc.boolean(),
  fairSharing: fc.constantFrom('Never', ...FAIR_SHARING),
  weight: fc.constantFrom(1, 1, 2),
  preemption: fc.record({
    minRuntimeSeconds: fc.constantFrom(0, 0, 30),
    limit: fc.constantFrom(1, 2, 1_000),
  }),
  ...backfill,
});

const sharing: fc.Arbitrary<Settings> = settings.map((given) => ({
  ...given,
  policy: 'easy',
  cohort: null,
  quota: {},
}));

/** Grace periods as their pods name them, and what some need beyond: a finalizer, a kubelet that does not answer. */
const leaving = fc
  .record({ grace: fc.constantFrom(0, 10, 30, 60, 120), late: fc.constantFrom(0, 0, 0, 80) })
  .map(({ grace, late }) => ({
    leaves: Math.max(1, grace + late),
    ...(grace === 30 ? {} : { pod: { terminationGracePeriodSeconds: grace } }),
  }));

const arrival = fc
  .record({
    gap: fc.constantFrom(0, 1, 7, 40),
    queue: fc.constantFrom('a', 'b', 'c'),
    priority: fc.integer({ min: -1, max: 1 }),
    pods: fc.integer({ min: 1, max: 3 }),
    cpu: fc.integer({ min: 1, max: CORES }),
    walltime: fc.constantFrom(20, 100, 600, 3_000),
    preemptible: fc.boolean(),
    part: fc.constantFrom(0.1, 0.5, 1, 1),
    leaving,
  })
  .map(({ part, leaving: after, ...job }) => ({
    ...job,
    ...after,
    runs: Math.max(1, Math.round(job.walltime * part)),
  }));

const edit: fc.Arbitrary<Edit> = fc.record({
  job: fc.nat(),
  pods: fc.integer({ min: 1, max: 3 }),
  cpu: fc.integer({ min: 1, max: CORES }),
});

const ofQueue: fc.Arbitrary<Change> = fc
  .record({ after: fc.integer({ min: 1, max: 800 }), queue: fc.constantFrom('a', 'b', 'c', null), settings })
  .map(({ after, queue, settings: given }) =>
    queue === null ? { after } : { after, queue, settings: given },
  );

const change = fc.oneof(ofQueue, fc.record({ after: fc.integer({ min: 1, max: 800 }), edit }));

const changes = fc.array(change, { minLength: 1, maxLength: 3 });

export const scenariosUpTo = (maxLength: number): fc.Arbitrary<Scenario> =>
  fc.record({
    queues: fc.record({ a: settings, b: settings, c: settings }),
    jobs: fc.array(arrival, { minLength: 2, maxLength, size: 'max' }),
    nodes: fc.constantFrom(3, 8),
    changes: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: changes }),
  });

const MANY = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** Each has few workloads, and most of their queues share reservations. */
export const manyQueues: fc.Arbitrary<Scenario> = fc.record({
  queues: fc
    .tuple(...MANY.map((name) => fc.tuple(fc.constant(name), fc.oneof(settings, sharing))))
    .map((all): Record<string, Settings> => Object.fromEntries(all)),
  jobs: fc.array(
    fc.tuple(arrival, fc.constantFrom(...MANY)).map(([job, queue]) => ({ ...job, queue })),
    { minLength: 6, maxLength: 30, size: 'max' },
  ),
  nodes: fc.constantFrom(3, 8),
});

export async function cluster({ queues, nodes }: Omit<Scenario, 'jobs'>): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(nodes, CORES));
  for (const [name, over] of Object.entries(queues)) sim.queue(name, over);
  return sim;
}

type Queues = Record<string, Settings>;

/**
 * Runs the workloads `j0`, `j1`, ... until all have ended.
 * @param afterPass is told the settings of that time
 */
export async function play(
  given: Scenario,
  afterPass: (sim: Simulation, queues: Queues) => Promise<void>,
): Promise<Simulation> {
  const sim = await cluster(given);
  const queues: Queues = { ...given.queues };
  const start = sim.now;
  let at = start;
  const arrivals = given.jobs.map(({ gap, ...job }, i) => {
    at += gap;
    return { at, submit: () => void sim.submit(`j${i}`, job) };
  });
  const changes = (given.changes ?? []).map(({ after, queue, settings: to, edit: asked }) => ({
    at: start + after,
    submit: async () => {
      if (asked !== undefined) {
        const { job, ...request } = asked;
        sim.edit(`j${job % given.jobs.length}`, request);
        return;
      }
      if (queue === undefined) return sim.restart();
      queues[queue] = to!;
      sim.queue(queue, to);
    },
  }));
  await sim.run([...arrivals, ...changes], () => afterPass(sim, queues));
  return sim;
}
