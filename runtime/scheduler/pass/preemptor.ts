/** Evictions: for a workload of higher priority (preemption), and for a queue that takes back lent quota (reclaim). */
import type { WorkloadRow } from '../../queue/workload';
import { priorityOf } from './order';
import { TERMINATION_SECONDS } from './planned-end';
import { type Borrower, borrowersFor } from './reclaim';
import { forecastOf, type Pass } from './state';
import { heldBy } from './usage';
import { FreeCapacity, victims } from './victims';

/** Evicts preemptible workloads of lower priority. @returns whether anything was evicted for the row */
export async function evictLowerPriority(pass: Pass, row: WorkloadRow): Promise<boolean> {
  const { input } = pass;
  const priority = priorityOf(row, pass.budgets.get(row.queue)?.settings);
  const lower = evictable(pass).filter(
    (holder) => holder.preemptible && priorityOf(holder, pass.budgets.get(holder.queue)?.settings) < priority,
  );
  if (lower.length === 0) return false;
  const free = new FreeCapacity(row.jobspec, await input.matcher.state());
  for (const { allocation } of leaving(pass)) free.release(allocation!);
  const end = input.now + row.walltime;
  for (const { uid, allocation } of pass.reservations.reachedBefore(end))
    if (uid !== row.uid) free.take(allocation);
  const chosen = victims(
    free,
    lower.map((holder) => ({ ...holder, allocation: holder.allocation! })),
  );
  return evict(pass, chosen ?? [], `preempted by ${row.namespace}/${row.name}, which has a higher priority`);
}

/** Evicts workloads of other queues that have borrowed the quota which the row needs. */
export async function reclaimQuota(pass: Pass, row: WorkloadRow): Promise<void> {
  const { quotas, budgets, units } = pass;
  const cohort = budgets.get(row.queue)?.settings.cohort;
  const at = pass.input.now + TERMINATION_SECONDS;
  const borrowers = evictable(pass)
    .filter(({ queue }) => queue !== row.queue && budgets.get(queue)?.settings.cohort === cohort)
    .map((holder): Borrower => ({ row: holder, holds: heldBy(holder, holder.allocation!, units) }));
  const chosen = borrowersFor(quotas.shortOf(row, at), borrowers, quotas, at);
  await evict(pass, chosen ?? [], `returns quota that it borrowed from queue ${row.queue}`);
}

/** A bare pod can't be suspended; a workload that lost a node is requeued anyway. */
function evictable(pass: Pass): WorkloadRow[] {
  const going = new Set(leaving(pass));
  return pass.holders.filter(
    (row) =>
      row.kind !== 'Pod' &&
      !going.has(row) &&
      row.allocation!.nodes.every(({ name }) => pass.cluster.isUp(name)),
  );
}

/** Evicted by this pass or an earlier one. */
function leaving({ holders, evictions }: Pass): WorkloadRow[] {
  const now = new Set(evictions.map(({ uid }) => uid));
  return holders.filter(({ uid, evictionReason }) => evictionReason !== null || now.has(uid));
}

/** Plans as if their pods were gone after `TERMINATION_SECONDS`. @returns whether there were any */
async function evict(
  pass: Pass,
  chosen: readonly Pick<WorkloadRow, 'uid'>[],
  message: string,
): Promise<boolean> {
  const { matcher, now } = pass.input;
  const gone = now + TERMINATION_SECONDS;
  for (const { uid } of chosen) {
    const row = pass.holders.find((holder) => holder.uid === uid)!;
    const { allocation } = row;
    pass.evictions.push({ uid, message, end: gone });
    if (allocation!.end <= gone) continue;
    const cut = { ...allocation!, end: gone };
    await matcher.cancel(row.jobid);
    await matcher.replay([cut], now);
    pass.quotas.hold(row, cut.start, cut.end, cut);
    const forecast = forecastOf(pass);
    forecast.remove(allocation!);
    forecast.add(cut);
  }
  return chosen.length > 0;
}
