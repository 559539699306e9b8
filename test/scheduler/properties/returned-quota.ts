/** A queue returns no more than it has borrowed, but for the rest of the last workload. */
import type { Eviction, Start } from '../pass/simulated-runs';
import type { Simulation } from '../pass/simulation';
import { heldBy } from './counted-plan';
import type { Scenario } from './eviction-traces';

const BENEFICIARY = /science\/(j[0-9]+)/;

/** For whom it had to leave. */
export const beneficiaryOf = ({ message }: Pick<Eviction, 'message'>): string =>
  BENEFICIARY.exec(message)![1]!;

/**
 * Queues whose victims of this pass, without the largest, are already what it borrowed.
 * @param ran what ran before the pass: what a queue borrows from the pass on is not returned by that
 */
export function overReturned(
  sim: Simulation,
  { queues }: Pick<Scenario, 'queues'>,
  ran: ReadonlySet<Start>,
): string[] {
  const returned = sim.evicted.filter(({ at, message }) => at === sim.now && message.startsWith('returns'));
  const byQueue = Map.groupBy(returned, ({ uid }) => sim.row(uid).queue);
  return [...byQueue].flatMap(([queue, victims]) => {
    const amounts = victims.map(({ uid }) => coresOf(sim, uid));
    const left = usedBy(sim, queue, ran) - sum(amounts) + Math.max(...amounts);
    const isLawful = left > queues[queue]!.quota.cores!;
    return isLawful ? [] : [`at ${sim.now}: ${queue} returns ${sum(amounts)} cores, too many`];
  });
}

/** What it ran before the pass, without what had to leave already. What it plans is not returned by that either. */
function usedBy(sim: Simulation, queue: string, ran: ReadonlySet<Start>): number {
  const leaving = new Set(
    sim.evicted.filter(({ at, gone }) => at < sim.now && gone === undefined).map(({ uid }) => uid),
  );
  const running = sim
    .running()
    .filter((start) => ran.has(start) && !leaving.has(start.uid) && sim.row(start.uid).queue === queue);
  return sum(running.map(({ uid }) => coresOf(sim, uid)));
}

function coresOf(sim: Simulation, uid: string): number {
  return heldBy(sim.row(uid), { start: 0, end: 0 }).cores;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
