/** What queues have borrowed of their cohort, and their shares of what it lends. */
import type { WorkloadRow } from '../../queue/workload';
import { byCohort, lendableOf } from './cohort-quota';
import { ownQuotaFor } from './entitlement';
import { evicted } from './eviction';
import type { Shares } from './fair-sharing';
import type { Pass } from './state';
import { addTo, type Usage } from './usage';

/**
 * How much more than its own quota a queue runs at that time, by dimension: what it has only planned to borrow, or borrows from this pass
 * on, is not returned by what it ran before within its own quota.
 */
export function borrowedBy({ quotas, reservations, budgets }: Pass, queue: string, at: number): Usage {
  const plans = [...reservations.ofQueue(queue)].map((other) => reservations.rowOf(other));
  const { started } = budgets.get(queue)!;
  return quotas.without([...plans, ...started], () => quotas.borrowedBy(queue, at));
}

/**
 * The shares that are compared for a row that would start at that time. Its queue has what it runs and what is promised to it, the others
 * only what they run and do not have to leave.
 */
export function sharesFor(pass: Pass, row: WorkloadRow, at: number): Shares {
  const { quotas } = pass;
  const least = quotas.leastOf(row);
  return {
    queue: row.queue,
    wanted: ownQuotaFor(pass, row, at).map((left, i) => least[i]! - left),
    beyondOf: (queue) => withoutLeaving(pass, queue, borrowedBy(pass, queue, at), at),
    shareOf: (queue, beyond) => shareOf(pass, queue, beyond),
  };
}

/** The amounts that a queue holds at that time, without what has to leave later. They are changed. */
export function withoutLeaving(pass: Pass, queue: string, amounts: Usage, at: number): Usage {
  for (const { row, end } of evicted(pass))
    if (row.queue === queue && end > at) addTo(amounts, pass.quotas.chargedBy(row, row.allocation!), -1);
  return amounts;
}

/** The largest part of what the cohort lends of one resource, divided by the weight of the queue; 0: it has borrowed nothing. */
export function shareOf(pass: Pass, queue: string, beyond: Usage): number {
  const { cohort, weight } = pass.budgets.get(queue)!.settings;
  const lendable = lendableBy(pass, cohort!);
  let largest = 0;
  for (let i = 0; i < lendable.length; i++)
    if (lendable[i]! > 0 && lendable[i]! < Infinity) largest = Math.max(largest, beyond[i]! / lendable[i]!);
  return largest / weight;
}

const known = new WeakMap<Pass, ReadonlyMap<string, Usage>>();

function lendableBy(pass: Pass, cohort: string): Usage {
  const all = known.get(pass) ?? lendableOfAll(pass);
  known.set(pass, all);
  return all.get(cohort)!;
}

function lendableOfAll({ budgets }: Pass): ReadonlyMap<string, Usage> {
  const cohorts = byCohort([...budgets.values()].map(({ settings }) => settings));
  return new Map([...cohorts].map(([name, members]) => [name, lendableOf(members)]));
}
