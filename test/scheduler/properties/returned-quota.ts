/** A queue returns no more than it has borrowed, but for the rest of the last workload. */
import type { Simulation } from '../pass/simulation';
import { heldBy } from './counted-plan';
import type { Scenario } from './eviction-traces';

/** Queues whose victims of now, without the largest, are already what it borrowed. */
export function overReturned(sim: Simulation, { queues }: Pick<Scenario, 'queues'>): string[] {
  const returned = sim.evicted.filter(({ at, message }) => at === sim.now && message.startsWith('returns'));
  const byQueue = Map.groupBy(returned, ({ uid }) => sim.row(uid).queue);
  return [...byQueue].flatMap(([queue, victims]) => {
    const amounts = victims.map(({ uid }) => coresOf(sim, uid));
    const left = usedBy(sim, queue) - sum(amounts) + Math.max(...amounts);
    const isLawful = left > queues[queue]!.quota.cores!;
    return isLawful ? [] : [`at ${sim.now}: ${queue} returns ${sum(amounts)} cores, too many`];
  });
}

/** What it runs, without what had to leave before. What it plans is not returned by what runs. */
function usedBy(sim: Simulation, queue: string): number {
  const before = new Set(
    sim.evicted.filter(({ at, gone }) => at < sim.now && gone === undefined).map(({ uid }) => uid),
  );
  const running = sim.running().filter(({ uid }) => !before.has(uid) && sim.row(uid).queue === queue);
  return sum(running.map(({ uid }) => coresOf(sim, uid)));
}

function coresOf(sim: Simulation, uid: string): number {
  return heldBy(sim.row(uid), { start: 0, end: 0 }).cores;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
