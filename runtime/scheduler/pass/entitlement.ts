/** What a queue that reclaims has a right to: its own quota. */
import type { WorkloadRow } from '../../queue/workload';
import type { Reservation } from './reservations';
import type { Pass } from './state';
import { addTo, type Usage } from './usage';

/** Whether its queue has own quota for a row that starts at that time. */
export function isEntitled(pass: Pass, row: WorkloadRow, at: number): boolean {
  return !pass.quotas.borrows(row, ownQuotaFor(pass, row, at));
}

/**
 * The own quota that its queue has for a row that starts at that time, beside what it holds and has planned by then, and beside
 * its claims, whenever they start: victims that leave late would let the row run into them.
 * @param yielding reservations that give way to the row and do not count
 */
export function ownQuotaFor(
  { quotas, reservations }: Pass,
  row: WorkloadRow,
  at: number,
  yielding: readonly Reservation[] = [],
): Usage {
  const isOwn = (other: Reservation) => reservations.rowOf(other).queue === row.queue;
  const own = yielding.filter(isOwn).map((other) => reservations.rowOf(other));
  const left = quotas.without(own, () => quotas.leftOf(row.queue, at));
  for (const other of reservations.ofQueue(row.queue)) {
    const { uid, allocation, isClaim } = other;
    if (isClaim !== true || uid === row.uid || allocation.start <= at || yielding.includes(other)) continue;
    addTo(left, quotas.chargedBy(reservations.rowOf(other), allocation), -1);
  }
  return left;
}
