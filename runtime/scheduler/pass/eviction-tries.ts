/**
 * Evictions for workloads behind others of their queue for which nobody can leave: they may start before these, as in backfill, because
 * an eviction delays no promise. Each try counts nodes, so one that was in vain stands for all that ask for as much.
 */
import type { FairSharing } from '../../../constructs/api/policies';
import type { WorkloadRow } from '../../queue/workload';
import { othersBorrow } from './borrowers';
import { lowestPreemptible, mayEndOthers } from './eviction';
import { priorityOf } from './order';
import type { QueueBudget } from './queue-budget';
import { type Refusals, refusals } from './refusal-cache';
import type { Pass } from './state';

/** Whether somebody may have to leave for the row, behind the next in its queue. */
export function mayEvictBehind(pass: Pass, budget: QueueBudget, row: WorkloadRow): boolean {
  if ((budget.isStrict && !budget.closed) || budget.evictionsLeft === 0) return false;
  if (mayPreemptOthers(pass, budget, row)) return true;
  return mayEndOthers(pass, row) && mayTakeShare(pass, budget, row) && !isVain(pass, budget, row);
}

/** Whether it has a higher priority than others that may have to leave, and it is not known that this helps none. */
export function mayPreemptOthers(pass: Pass, budget: QueueBudget, row: WorkloadRow): boolean {
  return mayEndOthers(pass, row) && mayPreempt(pass, budget, row) && !isVain(pass, budget, row);
}

function isVain({ cache }: Pass, budget: QueueBudget, row: WorkloadRow): boolean {
  return cache.vain.get(keyOf(budget, row))?.covers(row.jobspec) === true;
}

function mayPreempt(pass: Pass, { settings }: QueueBudget, row: WorkloadRow): boolean {
  if (!settings.preempts || row.preemptions > 0) return false;
  return priorityOf(row, settings) > lowestPreemptible(pass);
}

function mayTakeShare(pass: Pass, { settings }: QueueBudget, { queue }: WorkloadRow): boolean {
  return settings.fairSharing !== 'Never' && othersBorrow(pass, queue);
}

/** The row was asked for, and nobody's eviction would start it now. */
export function noteEvictionInVain(pass: Pass, budget: QueueBudget, row: WorkloadRow): void {
  note(pass, keyOf(budget, row), row);
  budget.evictionsLeft = Math.max(0, budget.evictionsLeft - 1);
}

/** By what right a workload that lacks quota may have others evicted. */
export interface QuotaRights {
  /** Whether shares of the cohort decide, and how. */
  readonly sharing: FairSharing;
  /** Its queue has own quota for it, which others have borrowed. */
  readonly isEntitled: boolean;
  readonly preempts: boolean;
}

/** Whether it is known that no eviction frees the quota that the row lacks, and nodes for it. */
export function isQuotaInVain(
  { cache }: Pass,
  budget: QueueBudget,
  row: WorkloadRow,
  rights: QuotaRights,
): boolean {
  return cache.vain.get(quotaKeyOf(budget, row, rights))?.covers(row.jobspec) === true;
}

export function noteQuotaInVain(
  pass: Pass,
  budget: QueueBudget,
  row: WorkloadRow,
  rights: QuotaRights,
): void {
  note(pass, quotaKeyOf(budget, row, rights), row);
  budget.reclaimsLeft = Math.max(0, budget.reclaimsLeft - 1);
}

function quotaKeyOf(
  budget: QueueBudget,
  row: WorkloadRow,
  { sharing, isEntitled, preempts }: QuotaRights,
): string {
  return `quota ${sharing} ${isEntitled} ${preempts} ${keyOf(budget, row)}`;
}

/** Who has left for a row once does not leave for it again, but may leave for others; who is protected for now may leave soon. */
function note({ cache, beneficiaries, preemptAt }: Pass, key: string, { uid, jobspec }: WorkloadRow): void {
  if (beneficiaries.has(uid) || preemptAt.has(uid)) return;
  const known: Refusals = cache.vain.get(key) ?? refusals({ compareWalltime: true });
  known.add(jobspec);
  cache.vain.set(key, known);
}

/** Who may leave for a row depends on its queue and its priority. */
function keyOf({ settings }: QueueBudget, row: WorkloadRow): string {
  return `${priorityOf(row, settings)} ${settings.name}`;
}
