/**
 * Reservations are those of the cluster and not of each queue: however the same workloads are dealt to queues of one policy, the same
 * of them are protected. A workload may have one if fewer than its queue may have are held by workloads that come before it and wait
 * for the same thing: for nodes, or for the quota of the same cohort. Whoever waits for own quota or a limit of the queue is in
 * nobody else's way.
 */
import type { WorkloadRow } from '../../queue/workload';
import type { QueueBudget } from './queue-budget';
import type { QuotaShortage } from './quota-shortage';
import type { Reservation } from './reservations';
import { budgetOf, type Pass } from './state';

/** What a workload lacks. @default - nodes */
export type Lack = Pick<QuotaShortage, 'ofCohort'> | undefined;

/**
 * Whether the workloads that come before the row leave a reservation for it. Those that come later do not count: what was promised
 * to them is kept.
 */
export function hasShare(pass: Pass, budget: QueueBudget, row: WorkloadRow, lack?: Lack): boolean {
  const isOfQueue = lack?.ofCohort === false;
  // A promise that is lost is given again.
  if (budget.line === budget.settings.name || isOfQueue || pass.broken.has(row.uid)) return true;
  let before = 0;
  for (const other of pass.reservations.ofLine(budget.line)) {
    if (!isRival(pass, other, row, lack)) continue;
    before += 1;
    if (before >= budget.mostReservations) return false;
  }
  return budget.mostReservations > 0;
}

function isRival(pass: Pass, other: Reservation, row: WorkloadRow, lack: Lack): boolean {
  if (!pass.reservations.isReached(other)) return false;
  const owner = pass.reservations.rowOf(other);
  if ((lack !== undefined || other.ofCohort === true) && !areOfCohort(pass, owner, row)) return false;
  // What is reserved on these nodes does not protect a workload that may use others as well.
  return pass.cluster.mayUseNodesOf(owner.jobspec, row.jobspec);
}

function areOfCohort(pass: Pass, a: WorkloadRow, b: WorkloadRow): boolean {
  const { cohort } = budgetOf(pass, a).settings;
  return cohort !== null && cohort === budgetOf(pass, b).settings.cohort;
}
