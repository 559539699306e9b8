/** How many reservations a pass plans again only to start them earlier, and not now. */
import type { QueueBudget } from './queue-budget';
import type { Pass } from './state';

/** A conservative queue has thousands. More cost time and gain nothing: replayed traces of 10,000 jobs wait no less with 8, 16, or all. */
const MOST_OF_LINE = 4;

/** Of a thousand queues each has the reservation of its head, and one end may let all of these move, one after the other. */
const MOST = 8;

/** Queues that share their reservations share these, too: how workloads are dealt to queues changes no start. */
export function mayImprove({ improved }: Pass, { line }: QueueBudget): boolean {
  if ((improved.get(line) ?? 0) >= MOST_OF_LINE) return false;
  let all = 0;
  for (const count of improved.values()) all += count;
  return all < MOST;
}

export function countImprovement({ improved }: Pass, { line }: QueueBudget): void {
  improved.set(line, (improved.get(line) ?? 0) + 1);
}
