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
  /** @default - none */
  readonly edits?: readonly Edit[];
}

/** A new leader, or with settings an administrator who changes a queue. */
interface Change {
  /** Seconds after the first workload. */
  readonly after: number;
  readonly queue?: string;
  readonly settings?: Settings;
}

/** A user changes what waits. */

interface Edit {
  /** Which of the workloads, modulo how many there are. */
  readonly job: number;
  readonly pods: number;
  readonly cpu: number;
  /** Seconds after it came. */
  readonly after: number;
}

const CORES = 4;
/** When a simulation starts. */
export const START = 1_000;

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
  // Most evictions are over two minutes after somebody came for whom others leave.
  after: fc.constantFrom(1, 2, 7, 20, 40, 100),
});

const change: fc.Arbitrary<Change> = fc
  .record({ after: fc.integer({ min: 1, max: 800 }), queue: fc.constantFrom('a', 'b', 'c', null), settings })
  .map(({ after, queue, settings: given }) =>
    queue === null ? { after } : { after, queue, settings: given },
  );

const changes = fc.array(change, { minLength: 1, maxLength: 3 });

export const scenariosUpTo = (maxLength: number): fc.Arbitrary<Scenario> =>
  fc.record({
    queues: fc.record({ a: settings, b: settings, c: settings }),
    jobs: fc.array(arrival, { minLength: 2, maxLength, size: 'max' }),
    nodes: fc.constantFrom(3, 8),
    changes: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: changes }),
    edits: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(edit, { minLength: 1, maxLength: 4 }) },
    ),
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

/** When each of the edits happens, as Unix seconds. */
export function editTimes({ jobs, edits = [] }: Scenario): number[] {
  const came = arrivalTimes(jobs);
  return edits.map(({ job, after }) => came[job % jobs.length]! + after);
}

function arrivalTimes(jobs: Scenario['jobs']): number[] {
  let at = START;
  return jobs.map(({ gap }) => {
    at += gap;
    return at;
  });
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
  const came = arrivalTimes(given.jobs);
  const arrivals = given.jobs.map(({ gap: _, ...job }, i) => ({
    at: came[i]!,
    submit: () => void sim.submit(`j${i}`, job),
  }));
  const changes = (given.changes ?? []).map(({ after, queue, settings: to }) => ({
    at: START + after,
    submit: async () => {
      if (queue === undefined) return sim.restart();
      queues[queue] = to!;
      sim.queue(queue, to);
    },
  }));
  const times = editTimes(given);
  const edits = (given.edits ?? []).map(({ job, pods, cpu }, i) => ({
    at: times[i]!,
    submit: () => void sim.edit(`j${job % given.jobs.length}`, { pods, cpu }),
  }));
  await sim.run([...arrivals, ...changes, ...edits], () => afterPass(sim, queues));
  return sim;
}
