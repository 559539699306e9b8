import type { WorkloadRow } from '../../queue/workload';
import { priorityOf } from './order';
import { type Borrower, borrowersFor } from './reclaim';
import { forecastOf, type Pass } from './state';
import { heldBy } from './usage';
import { LEAVING_SECONDS, Room, victims } from './victims';

/** @returns whether something was taken back for the row */
export async function preempt(pass: Pass, row: WorkloadRow): Promise<boolean> {
  const { input } = pass;
  const priority = priorityOf(row, pass.budgets.get(row.queue)?.settings);
  const lower = recallable(pass).filter(
    (holder) => holder.preemptible && priorityOf(holder, pass.budgets.get(holder.queue)?.settings) < priority,
  );
  if (lower.length === 0) return false;
  const room = new Room(row.jobspec, await input.matcher.state());
  for (const { allocation } of leaving(pass)) room.shift(allocation!, 1);
  const end = input.now + row.walltime;
  for (const { uid, allocation } of pass.reservations.reachedBy(end))
    if (uid !== row.uid) room.shift(allocation, -1);
  const chosen = victims(
    room,
    lower.map((holder) => ({ ...holder, allocation: holder.allocation! })),
  );
  return recall(pass, chosen ?? [], `preempted by ${row.namespace}/${row.name}, which is more urgent`);
}

/** Takes back what other queues of the cohort have borrowed. @returns whether something was taken back */
export async function reclaim(pass: Pass, row: WorkloadRow): Promise<boolean> {
  const { quotas, budgets, units } = pass;
  const cohort = budgets.get(row.queue)?.settings.cohort;
  const at = pass.input.now + LEAVING_SECONDS;
  const borrowers = recallable(pass)
    .filter(({ queue }) => queue !== row.queue && budgets.get(queue)?.settings.cohort === cohort)
    .map((holder): Borrower => ({ row: holder, holds: heldBy(holder, holder.allocation!, units) }));
  const chosen = borrowersFor(quotas.shortOf(row, at), borrowers, quotas, at);
  return recall(pass, chosen ?? [], `gives back quota that queue ${row.queue} had lent`);
}

/** A pod can't be suspended; what stands on nodes that are gone is on its way already. */
function recallable(pass: Pass): WorkloadRow[] {
  const going = new Set(leaving(pass));
  return pass.holders.filter(
    (row) =>
      row.kind !== 'Pod' &&
      !going.has(row) &&
      row.allocation!.nodes.every(({ name }) => pass.cluster.isUp(name)),
  );
}

/** Taken back already, by this pass or an earlier one. */
function leaving({ holders, recalls }: Pass): WorkloadRow[] {
  const now = new Set(recalls.map(({ uid }) => uid));
  return holders.filter(({ uid, recall: before }) => before !== null || now.has(uid));
}

async function recall(
  pass: Pass,
  chosen: readonly Pick<WorkloadRow, 'uid'>[],
  message: string,
): Promise<boolean> {
  const { matcher, now } = pass.input;
  const gone = now + LEAVING_SECONDS;
  for (const { uid } of chosen) {
    const row = pass.holders.find((holder) => holder.uid === uid)!;
    const { allocation } = row;
    pass.recalls.push({ uid, message });
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
