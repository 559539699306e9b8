/**
 * I7: nothing that fits waits for units or quota that nobody uses and nobody will use before it would end.
 * I8: every eviction leads to the start of its beneficiary, and no workload is evicted twice for the same one.
 * Both are judged from the plan alone, by counting that knows nothing of the pass.
 */
import type { WorkloadRow } from '../../../runtime/queue/workload';
import { plannedEnd, TERMINATION_SECONDS, terminationOf } from '../../../runtime/scheduler/pass/planned-end';
import fc from '../../fast-check';
import { asJudged } from '../pass/as-judged';
import type { JobOptions } from '../pass/job-options';
import type { Eviction, Start } from '../pass/simulated-runs';
import type { Simulation } from '../pass/simulation';
import { startableIn } from '../startable-in';
import { couldStart, waiting } from './counted-plan';
import { cluster, editTimes, manyQueues, play, type Scenario, START, scenariosUpTo } from './eviction-traces';
import { keptIdle } from './kept-idle';
import { overlookedBehind, overlookedEvictions } from './overlooked-evictions';
import { holdsNone, type Property } from './property';
import { beneficiaryOf, overReturned } from './returned-quota';
import { isShared, unfair } from './shares';

/** Workloads that could start now beside all that runs and is reserved for others, and wait. */
async function idle(sim: Simulation, given: Pick<Scenario, 'queues'>): Promise<string[]> {
  const found: string[] = [];
  const blocked = new Set<string>();
  for (const row of waiting(sim)) {
    if (blocked.has(row.queue)) continue;
    if (given.queues[row.queue]!.policy === 'fcfs') blocked.add(row.queue);
    if (await couldStart(sim, given, asJudged(sim, row)))
      found.push(`at ${sim.now}: ${row.uid} could start: ${row.message}`);
  }
  return found;
}

/** Evictions that did not lead to a start, and workloads that were evicted twice for one beneficiary. */
function inVain(sim: Simulation, disturbed: readonly number[]): string[] {
  const found: string[] = [];
  const groups = Map.groupBy(sim.evicted, (eviction) => `${beneficiaryOf(eviction)} ${eviction.at}`);
  for (const evictions of groups.values()) {
    const { at } = evictions[0]!;
    const uid = beneficiaryOf(evictions[0]!);
    const gone = Math.max(...evictions.map((eviction) => eviction.gone!));
    const start = sim.started.find((one) => one.uid === uid && one.start >= at)?.start ?? Infinity;
    const promised = Math.max(gone, at + TERMINATION_SECONDS);
    const leaving = Math.max(promised, ...leavingUntil(sim, at, promised));
    if (start <= leaving || overtaken(sim, uid, at, leaving, evictions)) continue;
    // A new leader knows only what the rows say, and other settings ask for another plan.
    if (disturbed.some((time) => time >= at && time <= leaving)) continue;
    const victims = evictions.map((eviction) => eviction.uid).join(', ');
    found.push(`${victims} left at ${at} until ${gone} for ${uid}, which started at ${start}`);
  }
  const pairs = Map.groupBy(sim.evicted, (eviction) => `${eviction.uid} for ${beneficiaryOf(eviction)}`);
  for (const [pair, evictions] of pairs) {
    const [first, next] = evictions;
    if (next === undefined || restarted(sim, evictions)) continue;
    if (disturbed.some((time) => time >= first!.at && time <= next.at)) continue;
    // Who came first took what the first eviction had freed.
    if (overtaken(sim, beneficiaryOf(next), first!.at, next.at, evictions)) continue;
    found.push(`${pair}: ${evictions.length} times`);
  }
  return found;
}

/** Until when the plan counted on victims of others that were leaving meanwhile: the beneficiary may need what they free. */
function leavingUntil(sim: Simulation, from: number, to: number): number[] {
  return sim.evicted
    .filter((other) => other.at <= to && other.gone! >= from)
    .map((other) => Math.max(other.gone!, plannedGone(sim, other)));
}

/** The plan counts on the ends of others, and fills the time, until the victim should be gone. */
function plannedGone(sim: Simulation, { uid, at, gone }: Eviction): number {
  return plannedEnd(at + terminationOf(sim.row(uid)), gone! - 1);
}

/**
 * Workloads that come before it in the order may take the place if they came later, unless they are the victims themselves.
 * Returned quota goes to its queue: only workloads of that come before it.
 */
function overtaken(
  sim: Simulation,
  uid: string,
  from: number,
  to: number,
  evictions: readonly Eviction[],
): boolean {
  const { priority, seq, queue } = sim.row(uid);
  const isReturned = evictions.every(({ message }) => message.startsWith('returns'));
  const isBefore = (other: WorkloadRow) =>
    (other.priority > priority || (other.priority === priority && other.seq < seq)) &&
    (!isReturned || other.queue === queue);
  // The pass that evicts knows all that have come and start by then.
  const isWithin = (time: number) => time > from && time <= to;
  const victims = new Set(evictions.map((eviction) => eviction.uid));
  const others = [...sim.rows.values()].filter((row) => isBefore(row) && !victims.has(row.uid));
  return others.some(
    (row) =>
      isWithin(row.submittedAt) || sim.started.some((one) => one.uid === row.uid && isWithin(one.start)),
  );
}

/** The beneficiary was itself evicted in between, and comes again. */
function restarted(sim: Simulation, evictions: readonly Eviction[]): boolean {
  const uid = beneficiaryOf(evictions[0]!);
  return sim.started.filter((one) => one.uid === uid).length >= evictions.length;
}

const met = { changed: 0, evicted: 0, reclaimed: 0, preempted: 0, shared: 0, late: 0 };

async function fitsAlone(given: Scenario, asked: JobOptions): Promise<boolean> {
  const queues = { ...given.queues };
  const changes = (given.changes ?? []).toSorted((a, b) => a.after - b.after);
  for (const { queue, settings } of changes) if (queue !== undefined) queues[queue] = settings!;
  const sim = await cluster({ ...given, queues });
  sim.submit('alone', asked);
  await sim.pass();
  return sim.row('alone').phase === 'Running';
}

export async function check(given: Scenario): Promise<void> {
  const most = given.jobs.length ** 2;
  let ran: ReadonlySet<Start> = new Set();
  const sim = await play(given, async (now, queues) => {
    holdsNone(now.isSettled ? await idle(now, { queues }) : []);
    holdsNone(now.isSettled ? await keptIdle(now, { queues }) : []);
    // What the controller reports live never says so of a pass that is as it should be.
    if (now.isSettled)
      holdsNone((await startableIn(now)).map(({ uid }) => `${uid} is startable at ${now.now}`));
    if (now.isSettled) holdsNone([...(await overlookedEvictions(now)), ...(await overlookedBehind(now))]);
    holdsNone([...overReturned(now, { queues }, ran), ...unfair(now, { queues })]);
    holdsNone(now.evicted.length > most ? [`${now.evicted.length} evictions`] : []);
    ran = new Set(now.running());
  });
  const disturbed = [...(given.changes ?? []).map(({ after }) => START + after), ...editTimes(given)];
  met.changed += disturbed.length;
  met.evicted += sim.evicted.length;
  met.reclaimed += sim.evicted.filter(({ message }) => message.startsWith('returns')).length;
  met.preempted += sim.evicted.filter(({ message }) => message.startsWith('preempted')).length;
  met.shared += sim.evicted.filter(({ message }) => isShared(message)).length;
  met.late += sim.evicted.filter(({ at, gone }) => gone! > at + 45).length;
  holdsNone([...sim.doubleGrants(), ...inVain(sim, disturbed)]);
  for (const { uid } of waiting(sim))
    holdsNone((await fitsAlone(given, sim.asked.get(uid)!)) ? [`${uid} never started`] : []);
}

const over = (given: fc.Arbitrary<Scenario>) => ({
  property: fc.asyncProperty(given, check) as fc.IRawProperty<unknown>,
});

const NAME = 'work is conserved, every eviction starts its beneficiary, and evictions end';

export const CONSERVATION_PROPERTIES: readonly Property[] = [
  {
    name: NAME,
    runs: 1_000,
    check: over(scenariosUpTo(6)),
    // The other kinds of evictions are rare in short traces.
    met: () => ({ changed: met.changed, evicted: met.evicted }),
  },
  {
    name: `${NAME}; long traces`,
    runs: 300,
    shrinks: false,
    check: over(scenariosUpTo(30)),
    met: () => met,
  },
  {
    name: `${NAME}; many queues`,
    runs: 300,
    shrinks: false,
    check: over(manyQueues),
    met: () => ({ evicted: met.evicted }),
  },
];
