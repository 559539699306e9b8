/** The quota that a workload lacks for a start by evictions. */
import type { WorkloadRow } from '../../queue/workload';
import { borrowedBy } from './cohort-shares';
import { ownQuotaFor } from './entitlement';
import { goneAfter, leavesBy } from './eviction';
import { besideNear, nearUsage } from './near-starts';
import { TERMINATION_SECONDS } from './planned-end';
import { type QuotaHolder, QuotaRoom } from './quota-room';
import type { Pass } from './state';
import { ofLowerPriority } from './strategies';
import type { Room } from './victims';

/** What the row lacks when those have left that leave soon: the others are no reason to wait. */
export function roomFor(pass: Pass, row: WorkloadRow, notBefore?: number): QuotaRoom<QuotaHolder> {
  const { quotas } = pass;
  const at = leavesBy(pass, notBefore);
  const late = goneAfter(pass, at).map((other) => ({
    row: other,
    holds: quotas.chargedBy(other, other.allocation!),
  }));
  const room = new QuotaRoom<QuotaHolder>(
    row,
    besideNear(pass, row, { lacks: quotas.lacking(row, at), at, late }),
    {
      isCharged: (other, account) => quotas.isCharged(other, account),
      borrowedBy: (queue) => borrowedBy(pass, queue, at),
    },
  );
  for (const other of late) room.noteLeaving(other);
  return room;
}

/** What the row exceeds the own quota of its queue by: only what this queue holds itself makes room for it. */
export function ownQuotaRoom(pass: Pass, row: WorkloadRow): Room<QuotaHolder> {
  const at = pass.input.now + TERMINATION_SECONDS;
  const left = ownQuotaFor(pass, row, at, ofLowerPriority(pass, row));
  const near = nearUsage(pass, row, at);
  const short = pass.quotas.leastOf(row).map((amount, i) => (amount > 0 ? amount + near[i]! - left[i]! : 0));
  return new QuotaRoom(row, [{ account: row.queue, short }], {
    isCharged: ({ queue }, account) => queue === account,
    borrowedBy: () => short,
  });
}
