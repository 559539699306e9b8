/** A promise ends no right to evict. */
import { runPass } from '../../../runtime/scheduler/pass/pass';
import { plannedAllocation, TERMINATION_SECONDS } from '../../../runtime/scheduler/pass/planned-end';
import type { PassResult } from '../../../runtime/scheduler/pass/types';
import { simulationFluxion } from '../pass/engine';
import type { Simulation } from '../pass/simulation';
import { beneficiaryOf } from './returned-quota';

/**
 * Workloads that wait for their promised start although a leader that knows no promise would evict others for an earlier one. Where others
 * are promised something as well, that may be what keeps it from evicting, and nobody knows here.
 */
export async function overlookedEvictions(sim: Simulation): Promise<string[]> {
  const [own, ...others] = sim.reservations;
  const hasJustStarted = sim.started.some(({ start }) => start === sim.now);
  const isLeaving = [...sim.rows.values()].some(({ evictionReason }) => evictionReason !== null);
  // A pass follows in a second, or when that has ended.
  if (own === undefined || others.length > 0 || hasJustStarted || isLeaving || endsSoon(sim)) return [];
  const { evictions, reservations } = await decidedAnew(sim);
  const mine = evictions.filter((eviction) => beneficiaryOf(eviction) === own.uid);
  const promised = own.allocation.start;
  const start = reservations.find(({ uid }) => uid === own.uid)?.allocation.start ?? promised;
  if (mine.length === 0 || start >= promised || mine.some(({ end }) => end >= promised)) return [];
  return [`at ${sim.now}: ${own.uid} waits until ${promised}, and ${mine[0]!.uid} is not evicted for it`];
}

/** Whether something ends so soon that an eviction now would count on it. */
function endsSoon(sim: Simulation): boolean {
  const ends = sim.running().map(({ uid }) => sim.row(uid).allocation!.end);
  return ends.some((end) => end <= sim.now + TERMINATION_SECONDS);
}

/** What a leader would decide that knows no promise. Nothing of the simulation is changed. */
async function decidedAnew(sim: Simulation): Promise<PassResult> {
  const { now, nodes, match: policy } = sim;
  const rows = [...sim.rows.values()].filter(({ phase }) => phase !== 'Finished');
  const matcher = await simulationFluxion();
  await matcher.init({ nodes, policy, now });
  const held = rows.flatMap(({ allocation }) => allocation ?? []);
  await matcher.replay(
    held.map((one) => plannedAllocation(one, now)),
    now,
  );
  const surroundings = sim.surroundings();
  return runPass({ now, nodes, matcher, surroundings, queues: sim.queuesOf(rows), reservations: [] });
}
