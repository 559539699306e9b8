import type { WorkloadRow } from '../../queue/workload';
import type { Quotas } from './quota';

export interface Borrower {
  readonly row: WorkloadRow;
  /** What the row holds, by dimension. */
  readonly holds: Float64Array;
}

/**
 * Which borrowers have to return quota: the youngest of those beyond their own quota.
 * @param short how much is missing, by dimension
 * @param at the time when evicted workloads are gone
 * @returns none if nothing is missing; undefined if all borrowers together do not suffice
 */
export function borrowersFor(
  short: Float64Array,
  borrowers: readonly Borrower[],
  quotas: Pick<Quotas, 'borrowedBy'>,
  at: number,
): readonly WorkloadRow[] | undefined {
  const missing = short.slice();
  const isMissing = () => missing.some((amount) => amount > 0);
  const borrowed = new Map<string, Float64Array>();
  const taken: WorkloadRow[] = [];
  const youngest = [...borrowers].sort((a, b) => (b.row.allocatedAt ?? 0) - (a.row.allocatedAt ?? 0));
  for (const { row, holds } of youngest) {
    if (!isMissing()) break;
    const beyond = borrowed.get(row.queue) ?? quotas.borrowedBy(row.queue, at).slice();
    borrowed.set(row.queue, beyond);
    if (!holds.some((amount, i) => amount > 0 && missing[i]! > 0 && beyond[i]! > 0)) continue;
    holds.forEach((amount, i) => {
      missing[i]! -= amount;
      beyond[i]! -= amount;
    });
    taken.push(row);
  }
  return isMissing() ? undefined : taken;
}
