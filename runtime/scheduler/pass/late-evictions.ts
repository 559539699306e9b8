/**
 * Evictions for a workload that has a reservation. When it was made, none would have started it earlier; a workload that has ended since, or
 * other settings of a queue, may have changed that.
 */
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import { othersBorrow } from './borrowers';
import { isEntitled } from './entitlement';
import { isAwaiting, mayEndOthers } from './eviction';
import { isQuotaInVain, mayPreemptOthers } from './eviction-tries';
import { TERMINATION_SECONDS } from './planned-end';
import type { QueueBudget } from './queue-budget';
import type { Reservation } from './reservations';
import { budgetOf, type Pass } from './state';

/** Whether it is worth to ask: the exact answer takes a count of nodes. */
export function mayGainByEviction(pass: Pass, row: WorkloadRow, { start }: Allocation): boolean {
  const budget = budgetOf(pass, row);
  const gone = pass.input.now + TERMINATION_SECONDS;
  if (start <= gone || budget.lateEvictionsLeft === 0) return false;
  if (!mayGain(pass, budget, row) || isAwaiting(pass, row)) return false;
  if (!mayPreemptOthers(pass, budget, row) && !mayTakeQuota(pass, budget, row, gone)) return false;
  budget.lateEvictionsLeft -= 1;
  return true;
}

/** Whether its queue has a right to what others have borrowed, and it is not known that this does not help. */
function mayTakeQuota(pass: Pass, budget: QueueBudget, row: WorkloadRow, gone: number): boolean {
  const { preempts, reclaim, fairSharing: sharing } = budget.settings;
  if (!(reclaim || sharing !== 'Never') || !othersBorrow(pass, row.queue)) return false;
  const isKnown = (entitled: boolean) =>
    isQuotaInVain(pass, budget, row, {
      sharing,
      isEntitled: entitled,
      preempts: preempts && row.preemptions === 0,
    });
  const entitled = reclaim && !isKnown(true) && isWithinOwn(pass, row, gone);
  return (entitled || sharing !== 'Never') && !isKnown(entitled);
}

/** A look at all reservations of the queue comes last: thousands may ask. */
function isWithinOwn(pass: Pass, row: WorkloadRow, at: number): boolean {
  const { quotas } = pass;
  return !quotas.borrows(row, quotas.leftOf(row.queue, at)) && isEntitled(pass, row, at);
}

/** Whether a pass after this one, which starts something, should ask for the row. */
export function mayGainLater(pass: Pass, reservation: Reservation): boolean {
  const row = pass.reservations.rowOf(reservation);
  const gone = pass.input.now + 1 + TERMINATION_SECONDS;
  return reservation.allocation.start > gone && mayGain(pass, budgetOf(pass, row), row);
}

function mayGain(pass: Pass, { settings }: QueueBudget, row: WorkloadRow): boolean {
  const { preempts, reclaim, fairSharing } = settings;
  const hasRights = (preempts && row.preemptions === 0) || reclaim || fairSharing !== 'Never';
  return hasRights && mayEndOthers(pass, row);
}
