/** Random queues with quotas and limits, random workloads for them, and a check of the plan that knows nothing of the pass. */
import { QUEUE_POLICIES } from '../../../constructs/api/policies';
import { askOf } from '../../../runtime/jobspec/jobspec';
import type { Limits, QueueSettings, Quota } from '../../../runtime/queue/settings';
import type { WorkloadRow } from '../../../runtime/queue/workload';
import { countIdset } from '../../../runtime/resources/idset';
import type { Allocation } from '../../../runtime/resources/types';
import fc from '../../fast-check';
import type { JobOptions } from '../pass/job-options';
import { nodesOf, Simulation } from '../pass/simulation';
import { type Backfill, backfill } from './backfill';

type Settings = Pick<
  QueueSettings,
  'policy' | 'reservations' | 'quota' | 'limits' | 'cohort' | 'borrowing' | 'reclaim'
> &
  Backfill;

interface Arrival extends JobOptions {
  readonly gap: number;
  readonly queue: string;
  readonly user: string;
}

export interface Scenario {
  readonly a: Settings;
  readonly b: Settings;
  readonly jobs: readonly Arrival[];
}

const QUEUES = ['a', 'b'] as const;
const NODES = 4;
const CORES = 4;

const few = (min: number, max: number) => fc.option(fc.integer({ min, max }), { nil: undefined, freq: 3 });

/** Without the keys that are undefined. */
function defined<T extends object>(limits: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined)) as never;
}

const quota: fc.Arbitrary<Quota> = fc
  .record({ jobs: few(1, 4), pods: few(2, 8), cores: few(4, 14), nodes: few(1, 4) })
  .map(defined);
const running: fc.Arbitrary<Limits> = fc.record({ running: few(1, 3) }).map(defined);

const settings: fc.Arbitrary<Settings> = fc.record({
  policy: fc.constantFrom(...QUEUE_POLICIES),
  reservations: fc.integer({ min: 1, max: 3 }),
  quota,
  limits: fc.record({ queue: running, user: running }),
  cohort: fc.constantFrom(null, null, 'lab'),
  borrowing: quota,
  reclaim: fc.constant(false),
  ...backfill,
});

const arrival = fc.record({
  gap: fc.integer({ min: 0, max: 40 }),
  queue: fc.constantFrom(...QUEUES),
  user: fc.constantFrom('ada', 'bob'),
  pods: fc.integer({ min: 1, max: 4 }),
  cpu: fc.integer({ min: 1, max: CORES }),
  exclusive: fc.integer({ min: 0, max: 4 }).map((dice) => dice === 0),
  walltime: fc.integer({ min: 1, max: 100 }),
  part: fc.constantFrom(0.1, 0.5, 1, 1),
});

const jobsUpTo = (maxLength: number) =>
  fc
    .array(arrival, { minLength: 2, maxLength, size: 'max' })
    .map((all) =>
      all.map(({ part, ...job }) => ({ ...job, runs: Math.max(1, Math.round(job.walltime * part)) })),
    );

/** Most defects show with a handful of workloads, and a case of them takes a millisecond. */
const SHORT = 6;
const jobs = jobsUpTo(SHORT);

export const scenario: fc.Arbitrary<Scenario> = fc.record({ a: settings, b: settings, jobs: jobsUpTo(14) });
export const shortScenario: fc.Arbitrary<Scenario> = fc.record({ a: settings, b: settings, jobs });

/** Both queues are of one cohort, and one or both take their quota back. */
export const reclaiming: fc.Arbitrary<Scenario> = fc
  .tuple(shortScenario, fc.boolean())
  .map(([{ a, b, jobs: all }, both]) => ({
    a: { ...a, cohort: 'lab', reclaim: both },
    b: { ...b, cohort: 'lab', reclaim: true },
    jobs: all,
  }));

/** Two of three workloads are one of three requests of one user, so that many are equal. Some run past their walltime. */
export const equalsWithOverruns: fc.Arbitrary<Scenario> = fc.record({
  a: settings,
  b: settings,
  jobs: fc
    .tuple(fc.array(arrival, { minLength: 3, maxLength: 3 }), jobs, fc.array(fc.nat(4), { maxLength: SHORT }))
    .map(([kinds, all, dice]) =>
      all.map((job, i) => {
        const { part: _, gap: __, ...kind } = kinds[dice[i] ?? 4] ?? { part: 1, ...job };
        return { ...job, ...kind };
      }),
    ),
});

export const withEquals: fc.Arbitrary<Scenario> = equalsWithOverruns.map((given) => ({
  ...given,
  jobs: given.jobs.map((job) => ({ ...job, runs: Math.min(job.runs!, job.walltime!) })),
}));

async function cluster({ a, b }: Omit<Scenario, 'jobs'>): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(NODES, CORES));
  sim.queue('a', a);
  sim.queue('b', b);
  // Both queues exist from the start, so that their quotas count for the cohort.
  for (const queue of QUEUES) sim.submit(`held-${queue}`, { queue, held: true });
  return sim;
}

/** Runs the workloads `j0`, `j1`, ... until all have ended. */
export async function playScenario(
  given: Scenario,
  afterPass?: (sim: Simulation) => Promise<void>,
): Promise<Simulation> {
  const sim = await cluster(given);
  let at = sim.now;
  const arrivals = given.jobs.map(({ gap, ...job }, i) => {
    at += gap;
    return { at, submit: () => void sim.submit(`j${i}`, job) };
  });
  await sim.run(arrivals, () => afterPass?.(sim) ?? Promise.resolve());
  return sim;
}

/** Whether the workload starts at once if nothing else is there. */
export async function fitsAlone(given: Omit<Scenario, 'jobs'>, job: JobOptions): Promise<boolean> {
  const sim = await cluster(given);
  sim.submit('alone', job);
  await sim.pass();
  return sim.row('alone').phase === 'Running';
}

interface Held {
  readonly row: WorkloadRow;
  readonly allocation: Allocation;
}

function planOf(sim: Simulation): Held[] {
  return [
    ...sim.running().map(({ uid }) => ({ row: sim.row(uid), allocation: sim.row(uid).allocation! })),
    ...sim.reservations.map(({ uid, allocation }) => ({ row: sim.row(uid), allocation })),
  ];
}

/** Workloads with a promised start at which their queue exceeds its own quota. */
export function plannedToBorrow(sim: Simulation, { a, b }: Omit<Scenario, 'jobs'>): string[] {
  const plan = planOf(sim);
  const borrows = ({ uid, allocation: { start } }: (typeof sim.reservations)[number]) => {
    const { queue } = sim.row(uid);
    const held = plan.filter((one) => one.row.queue === queue && isHeldAt(one, start));
    const own = queue === 'a' ? owned(a, b) : owned(b, a);
    return tooMuch(own, held).length > 0;
  };
  return sim.reservations.filter(borrows).map(({ uid }) => uid);
}

/** Of what only the other queue has a quota of, a queue owns nothing. */
function owned({ quota: own }: Settings, other: Settings): Quota {
  return Object.fromEntries(
    KEYS.map((key) => [key, own[key] ?? (other.quota[key] === undefined ? Infinity : 0)]),
  );
}

function isHeldAt({ allocation: { start, end } }: Held, at: number): boolean {
  return start <= at && end > at;
}

/** What exceeds a quota or limit at any second, if what runs and what is reserved keep to their plan. */
export function exceeded(sim: Simulation, { a, b }: Omit<Scenario, 'jobs'>): string[] {
  const plan = planOf(sim);
  const seconds = new Set([sim.now, ...plan.map(({ allocation }) => Math.max(sim.now, allocation.start))]);
  return [...seconds].flatMap((at) => {
    const there = plan.filter((one) => isHeldAt(one, at));
    const of = (queue: string) => there.filter(({ row }) => row.queue === queue);
    const found = [...beyond(a, of('a')), ...beyond(b, of('b'))];
    if (a.cohort !== null && a.cohort === b.cohort)
      found.push(...tooMuch(total(a.quota, b.quota), [...of('a'), ...of('b')]));
    return found.map((text) => `at ${at}: ${text}`);
  });
}

function beyond({ quota: own, cohort, borrowing, limits }: Settings, held: readonly Held[]): string[] {
  const byUser = [...Map.groupBy(held, ({ row }) => row.user).values()];
  return [
    ...tooMuch(cohort === null ? own : total(own, borrowing), held),
    ...tooMuch({ jobs: limits.queue.running ?? Infinity }, held),
    ...byUser.flatMap((ofUser) => tooMuch({ jobs: limits.user.running ?? Infinity }, ofUser)),
  ];
}

const KEYS = ['jobs', 'pods', 'cores', 'nodes'] as const;

function total(x: Quota, y: Quota): Quota {
  return Object.fromEntries(KEYS.map((key) => [key, (x[key] ?? Infinity) + (y[key] ?? Infinity)]));
}

function tooMuch(limit: Quota, held: readonly Held[]): string[] {
  const nodes = held.flatMap(({ allocation }) => allocation.nodes);
  const used = {
    jobs: held.length,
    pods: held.reduce((sum, { row }) => sum + askOf(row.jobspec).pods, 0),
    cores: nodes.reduce((sum, { units }) => sum + countIdset(units.core ?? ''), 0),
    nodes: new Set(nodes.map(({ name }) => name)).size,
  };
  return KEYS.filter((key) => used[key] > (limit[key] ?? Infinity)).map(
    (key) => `${used[key]} ${key} of ${limit[key]}`,
  );
}
