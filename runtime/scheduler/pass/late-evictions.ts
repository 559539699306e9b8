/**
 * Evictions for a workload that has a reservation. When it was made, none would have started it earlier; a workload that has ended since, or
 * other settings of a queue, may have changed that.
 */
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import { othersPlanToBorrow } from './borrowed-plans';
import { isEntitled } from './entitlement';
import { isAwaiting, mayEndOthers } from './eviction';
import { TERMINATION_SECONDS } from './planned-end';
import { lowerThan } from './preemptor';
import type { QueueBudget } from './queue-budget';
import type { Reservation } from './reservations';
import { budgetOf, type Pass } from './state';

/** Whether it is worth to ask: the exact answer takes a count of nodes. */
export function mayGainByEviction(pass: Pass, row: WorkloadRow, { start }: Allocation): boolean {
  const budget = budgetOf(pass, row);
  const { preempts, reclaim, fairSharing } = budget.settings;
  const gone = pass.input.now + TERMINATION_SECONDS;
  if (start <= gone || budget.lateEvictionsLeft === 0) return false;
  if (!mayGain(pass, budget, row) || isAwaiting(pass, row)) return false;
  budget.lateEvictionsLeft -= 1;
  if (preempts && row.preemptions === 0 && lowerThan(pass, row).length > 0) return true;
  return (
    (fairSharing !== 'Never' || (reclaim && isEntitled(pass, row, gone))) && othersBorrow(pass, row.queue)
  );
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

/** Whether another queue of its cohort runs more than its own quota, or plans to. */
export function othersBorrow(pass: Pass, queue: string): boolean {
  const cohort = budgetOf(pass, { queue }).settings.cohort ?? '';
  const isOther = (other: string) => other !== queue;
  return borrowersOf(pass).get(cohort)?.some(isOther) === true || othersPlanToBorrow(pass, queue);
}

const known = new WeakMap<Pass, ReadonlyMap<string, readonly string[]>>();

/** By cohort: the queues that have borrowed when the pass first asks. */
function borrowersOf(pass: Pass): ReadonlyMap<string, readonly string[]> {
  const found = known.get(pass) ?? findBorrowers(pass);
  known.set(pass, found);
  return found;
}

function findBorrowers({ budgets, quotas, input }: Pass): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [queue, { settings }] of budgets) {
    const { cohort } = settings;
    if (cohort === null || !quotas.borrowedBy(queue, input.now).some((amount) => amount > 0)) continue;
    found.set(cohort, [...(found.get(cohort) ?? []), queue]);
  }
  return found;
}
