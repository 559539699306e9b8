/** Properties of two queues with random policies, quotas, limits and cohorts on the embedded matcher. */
import fc from '../../fast-check';
import type { Simulation } from '../pass/simulation';
import { holds, holdsNone, type Property } from './property';
import {
  equalsWithOverruns,
  exceeded,
  fitsAlone,
  plannedToBorrow,
  playScenario,
  reclaiming,
  type Scenario,
  scenario,
  shortScenario,
  withEquals,
} from './quota-traces';
import { beneficiaryOf } from './returned-quota';

/** A promised start moves only earlier, and the workload starts by then. */
function brokenPromises(sim: Simulation): string[] {
  return [...sim.estimates]
    .filter(([, given]) => given.some((estimate, i) => i > 0 && estimate > given[i - 1]!))
    .map(([uid, given]) => `${uid} was promised ${given.join(', ')}`);
}

/** Whoever fits alone has ended, and who does not is told so. */
async function unfinished(sim: Simulation, given: Scenario): Promise<string[]> {
  const found: string[] = [];
  for (const [i, job] of given.jobs.entries()) {
    const { phase, message } = sim.row(`j${i}`);
    if (phase === 'Finished') continue;
    if (await fitsAlone(given, job)) found.push(`j${i} fits alone and is ${phase}: ${message}`);
    else if (!/can never start: |asks for/.test(message ?? '')) found.push(`j${i} never fits: ${message}`);
  }
  return found;
}

const met = { reserved: 0, equals: 0, evicted: 0, blocked: 0 };

/** Equal workloads of one queue and user that did not start in the order of their submission. */
function inversions(sim: Simulation, { jobs }: Scenario, reserved: ReservedUids): string[] {
  const latest = new Map<string, { readonly uid: string; readonly start: number }>();
  const found: string[] = [];
  for (const [i, { queue, user, walltime }] of jobs.entries()) {
    const uid = `j${i}`;
    const start = sim.started.find((one) => one.uid === uid)?.start ?? Infinity;
    const kind = [queue, user, walltime, sim.row(uid).shape].join(' ');
    const before = latest.get(kind);
    if (before !== undefined) met.equals += 1;
    if (before !== undefined && start < before.start && !areReserved([before.uid, uid], reserved, start))
      found.push(`${uid} started before an equal one that came first`);
    latest.set(kind, { uid, start });
  }
  return found;
}

/** By second: the workloads that had reservations. */
type ReservedUids = Map<number, ReadonlySet<string>>;

/** Reservations are for exact units: of two, that starts first of which the units become free first. */
function areReserved(uids: readonly string[], reserved: ReservedUids, before: number): boolean {
  const last = Math.max(...[...reserved.keys()].filter((time) => time < before));
  return uids.every((uid) => reserved.get(last)?.has(uid) === true);
}

function note(reserved: ReservedUids, { now, reservations }: Simulation): void {
  reserved.set(now, new Set(reservations.map(({ uid }) => uid)));
}

async function checkPlan(given: Scenario): Promise<void> {
  const reserved: ReservedUids = new Map();
  const sim = await playScenario(given, async (now) => {
    note(reserved, now);
    met.reserved += now.reservations.filter(({ shortage }) => shortage !== undefined).length;
    holdsNone(exceeded(now, given));
  });
  holdsNone([
    ...sim.doubleGrants(),
    ...brokenPromises(sim),
    ...inversions(sim, given, reserved),
    ...(await unfinished(sim, given)),
  ]);
}

async function checkOrder(given: Scenario): Promise<void> {
  const reserved: ReservedUids = new Map();
  const sim = await playScenario(given, async (now) => note(reserved, now));
  holdsNone(inversions(sim, given, reserved));
}

async function checkReclaim(given: Scenario): Promise<void> {
  const returned = new Set<string>();
  let borrowed: readonly string[] = [];
  const sim = await playScenario(given, async (now) => {
    holdsNone(exceeded(now, given));
    for (const uid of borrowed) if (givesWay(now, given, uid)) returned.add(uid);
    borrowed = plannedToBorrow(now, given);
    for (const { uid, evictionReason } of [...now.rows.values()]) {
      if (evictionReason === null) continue;
      returned.add(uid);
      await now.requeue(uid);
    }
  });
  met.evicted += returned.size;
  holdsNone(brokenPromises(sim).filter((text) => !isExcused(text.split(' ')[0]!, given, returned)));
  for (const { uid, preemptions } of sim.rows.values())
    holds(preemptions <= given.jobs.length, () => `${uid} was evicted ${preemptions} times`);
}

/** Whether a workload that was promised what it would borrow gives way in this pass: the other queue starts something, or evicts for it. */
function givesWay(sim: Simulation, { a, b }: Scenario, uid: string): boolean {
  const { queue } = sim.row(uid);
  const owner = queue === 'a' ? b : a;
  if (!owner.reclaim) return false;
  const gains = [
    ...sim.started.filter(({ start }) => start === sim.now).map((start) => start.uid),
    ...sim.evicted.filter(({ at }) => at === sim.now).map(beneficiaryOf),
  ];
  return gains.some((other) => sim.row(other).queue !== queue);
}

/** A workload that returns comes first again, also in a fcfs queue, whose head alone has a promise. */
function isExcused(uid: string, { a, b, jobs }: Scenario, returned: ReadonlySet<string>): boolean {
  if (returned.has(uid)) return true;
  const at = Number(uid.slice(1));
  const { queue } = jobs[at]!;
  const { policy } = queue === 'a' ? a : b;
  return policy === 'fcfs' && jobs.some((job, i) => i < at && job.queue === queue && returned.has(`j${i}`));
}

const LONGEST = 30;
const FIRST = 3;

/** A stream of small workloads for both queues and users, which lasts longer than the first three may wait. */
const STREAM = Array.from({ length: 16 }, (_, i) => ({
  gap: 9,
  queue: i % 2 === 0 ? 'a' : 'b',
  user: i % 4 < 2 ? 'ada' : 'bob',
  walltime: 6 + ((i * 37) % 18),
}));

async function checkProgress(given: Scenario): Promise<void> {
  const first = given.jobs.slice(0, FIRST).map(({ gap, walltime = LONGEST, ...job }) => {
    const short = Math.ceil(walltime * 0.3);
    return { ...job, gap: Math.ceil(gap * 0.3), walltime: short, runs: Math.min(short, job.runs ?? short) };
  });
  const sim = await playScenario({ ...given, jobs: [...first, ...STREAM] });
  for (const [i, job] of first.entries()) {
    const start = sim.started.find(({ uid }) => uid === `j${i}`)?.start ?? Infinity;
    const waited = start - sim.row(`j${i}`).submittedAt;
    if (waited > 0) met.blocked += 1;
    // Each of those ahead of it starts at the latest when all that run or are reserved have ended.
    if (waited <= (i + 2) * LONGEST) continue;
    holds(!(await fitsAlone(given, job)), () => `j${i} waits ${waited} s behind a stream of small ones`);
  }
}

const over = (given: fc.Arbitrary<Scenario>, check: (given: Scenario) => Promise<void>) => ({
  property: fc.asyncProperty(given, check) as fc.IRawProperty<unknown>,
});

const PLAN =
  'quotas: none is exceeded at any second of the plan, promises are kept, equals keep their order, what fits ends';

export const QUOTA_PROPERTIES: readonly Property[] = [
  {
    name: PLAN,
    runs: 5_000,
    check: over(withEquals, checkPlan),
    met: () => ({ reserved: met.reserved, equals: met.equals }),
  },
  {
    name: `${PLAN}; long traces`,
    runs: 300,
    check: over(scenario, checkPlan),
    met: () => ({ reserved: met.reserved }),
  },
  {
    name: 'quotas: equals keep their order where workloads run past their walltime',
    runs: 1_000,
    check: over(equalsWithOverruns, checkOrder),
    met: () => ({ equals: met.equals }),
  },
  {
    name: 'quotas: a queue that takes its quota back breaks promises of borrowers only, and does so finitely often',
    runs: 1_500,
    check: over(reclaiming, checkReclaim),
    met: () => ({ evicted: met.evicted }),
  },
  {
    name: 'progress: under a stream of small workloads every one that fits starts within a bound',
    runs: 800,
    check: over(shortScenario, checkProgress),
    met: () => ({ blocked: met.blocked }),
  },
];
