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
  if (!isOfQueue && passesOthers(pass, budget, row, lack)) return false;
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

/** So many requests are compared: each of ten thousand workloads may ask. */
const MOST_COMPARED = 16;

/** The row waits, and may not reserve. */
export function passOver(pass: Pass, row: WorkloadRow, lack?: Lack): void {
  budgetOf(pass, row).refusedFirst += 1;
  const key = `${row.queue} ${lack === undefined} ${row.shape}`;
  if (lack?.ofCohort === false || pass.unpromised.size >= MOST_COMPARED || pass.unpromised.has(key)) return;
  pass.unpromised.set(key, { row, lack });
}

/**
 * Whether a queue that has a reservation would have another one although earlier workloads of other queues wait for the same and may have
 * none. What ends early would be used by those that have: the earlier ones would collide with their later starts, and wait for ever.
 */
function passesOthers(pass: Pass, budget: QueueBudget, row: WorkloadRow, lack: Lack): boolean {
  // A promise that is lost, or was displaced, is given again: also by a new leader, which knows it from the row.
  const wasPromised =
    row.estimatedStart !== null ||
    pass.broken.has(row.uid) ||
    pass.input.cache?.promised.has(row.uid) === true;
  if (wasPromised || budget.reservationsLeft >= budget.mostReservations) return false;
  return [...pass.unpromised.values()].some((other) => {
    if (other.row.queue === row.queue) return false;
    if ((lack !== undefined || other.lack !== undefined) && !areOfCohort(pass, other.row, row)) return false;
    return pass.cluster.mayUseNodesOf(other.row.jobspec, row.jobspec);
  });
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
