/** The head of a fcfs queue: nobody of its queue passes it. */
import type { WorkloadRow } from '../../queue/workload';
import { isNear } from './near-starts';
import type { QueueBudget } from './queue-budget';
import type { Reservation } from './reservations';
import { isOwed, type Pass } from './state';

/** Behind a row with a reservation a fcfs queue is closed; where that start is soon, others may leave for those behind it. */
export function closeBehind(pass: Pass, { uid }: WorkloadRow, budget: QueueBudget): void {
  // Behind one that can't follow, later ones that were promised a start change nothing.
  if (!budget.isStrict || (budget.closed && budget.follows === undefined)) return;
  const reservation = pass.reservations.of(uid);
  budget.closed = true;
  budget.follows = reservation && startsSoon(pass, reservation) ? reservation.allocation.start : undefined;
}

function startsSoon(pass: Pass, reservation: Reservation): boolean {
  return isOwed(pass, reservation) || isNear(pass, reservation.allocation);
}
