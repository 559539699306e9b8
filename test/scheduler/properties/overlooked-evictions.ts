/** A promise ends no right to evict, and nor does the wait of those that come before. */
import type { QueueSettings } from '../../../runtime/queue/settings';
import type { WorkloadRow } from '../../../runtime/queue/workload';
import { inOrder } from '../../../runtime/scheduler/pass/order';
import { runPass } from '../../../runtime/scheduler/pass/pass';
import { LEAST_GAIN_SECONDS, TERMINATION_SECONDS } from '../../../runtime/scheduler/pass/planned-end';
import type { PassInput, PassResult } from '../../../runtime/scheduler/pass/types';
import { simulationFluxion } from '../pass/engine';
import type { Simulation } from '../pass/simulation';
import { beneficiaryOf } from './returned-quota';

/**
 * Workloads that wait for their promised start although a leader that knows no promise would evict others for an earlier one. Where others
 * are promised something as well, that may be what keeps it from evicting, and nobody knows here.
 */
export async function overlookedEvictions(sim: Simulation): Promise<string[]> {
  const [own, ...others] = sim.reservations;
  if (own === undefined || others.length > 0 || isUnsettled(sim)) return [];
  const { evictions, reservations } = await decidedAnew(sim, [...sim.rows.values()]);
  const mine = evictions.filter((eviction) => beneficiaryOf(eviction) === own.uid);
  const promised = own.allocation.start;
  const start = reservations.find(({ uid }) => uid === own.uid)?.allocation.start ?? promised;
  const isWorth = mine.every(({ end }) => end + LEAST_GAIN_SECONDS <= promised);
  if (mine.length === 0 || start >= promised || !isWorth) return [];
  return [`at ${sim.now}: ${own.uid} waits until ${promised}, and ${mine[0]!.uid} is not evicted for it`];
}

/** A promise that moves later in a pass may be what makes an eviction worth it: the next pass that looks at all sees that. */
const LONG_SECONDS = 30;

/** By uid: since when, as each time that was looked at says. */
const overlookedSince = new WeakMap<Simulation, ReadonlyMap<string, number>>();

/**
 * The first workload without a promise of each queue, behind those with one for half a minute, although an eviction would start it, and would move no promise.
 * A fcfs queue lets none pass. Behind others without a promise it may be these that start soon. With shortestArea it is also behind
 * promises that are made later here, and what is free beside promises is counted as if all of them were at one time.
 */
export async function overlookedBehind(sim: Simulation): Promise<string[]> {
  const promised = new Map(sim.reservations.map(({ uid, allocation }) => [uid, allocation.start]));
  const [others, rows] = [otherOrders(sim), [...sim.rows.values()]];
  const isBehind = ({ uid, phase, queue }: WorkloadRow) =>
    phase === 'Waiting' && !promised.has(uid) && !others.has(queue);
  if (promised.size === 0 || isUnsettled(sim)) return [];
  const found: string[] = [];
  const overlooked = new Map<string, number>();
  const waiting = Map.groupBy(inOrder(rows.filter(isBehind)), ({ queue }) => queue);
  for (const [row] of [...waiting.values()] as [WorkloadRow][]) {
    const known = rows.filter(
      ({ uid, phase }) => phase !== 'Waiting' || promised.has(uid) || uid === row.uid,
    );
    const { evictions, reservations } = await decidedAnew(sim, known, sim.reservations);
    const starts = new Map(reservations.map(({ uid, allocation }) => [uid, allocation.start]));
    const isKept = [...promised].every(([uid, start]) => (starts.get(uid) ?? Infinity) <= start);
    const victim = evictions.find((eviction) => beneficiaryOf(eviction) === row.uid);
    if (victim === undefined || !isKept) continue;
    const since = overlookedSince.get(sim)?.get(row.uid) ?? sim.now;
    overlooked.set(row.uid, since);
    if (sim.now - since >= LONG_SECONDS)
      found.push(`${row.uid} waits behind others since ${since}, and ${victim.uid} is not evicted for it`);
  }
  overlookedSince.set(sim, overlooked);
  return found;
}

/** The queues that start nothing in the order of submission behind a promise. */
function otherOrders(sim: Simulation): ReadonlySet<string> {
  const queues = sim.queuesOf([...sim.rows.values()]).map(({ settings }) => settings);
  const isOther = ({ policy, backfillOrder }: QueueSettings) =>
    policy === 'fcfs' || backfillOrder === 'shortestArea';
  return new Set(queues.filter(isOther).map(({ name }) => name));
}

/** A pass follows in a second, or when that has ended which has to leave. */
export function isUnsettled(sim: Simulation): boolean {
  const hasJustStarted = sim.started.some(({ start }) => start === sim.now);
  const isLeaving = [...sim.rows.values()].some(({ evictionReason }) => evictionReason !== null);
  return hasJustStarted || isLeaving || endsSoon(sim);
}

/** Whether something ends so soon that an eviction now would count on it. */
function endsSoon(sim: Simulation): boolean {
  const ends = sim.running().map(({ uid }) => sim.row(uid).allocation!.end);
  return ends.some((end) => end <= sim.now + TERMINATION_SECONDS);
}

/** What a leader would decide that knows these rows and promises. Nothing of the simulation is changed. */
export async function decidedAnew(
  sim: Simulation,
  all: readonly WorkloadRow[],
  reservations: PassInput['reservations'] = [],
): Promise<PassResult> {
  const { now, nodes, match: policy } = sim;
  const rows = all.filter(({ phase }) => phase !== 'Finished');
  const matcher = await simulationFluxion();
  await matcher.init({ nodes, policy, now });
  const holders = rows.filter(({ allocation }) => allocation !== null);
  const known = new Set([...holders, ...reservations].map(({ jobid }) => jobid));
  const { jobs } = await sim.fluxion.state();
  await matcher.replay(
    jobs.filter(({ jobid }) => known.has(jobid)),
    now,
  );
  const surroundings = sim.surroundings();
  return runPass({ now, nodes, matcher, surroundings, queues: sim.queuesOf(rows), reservations });
}
