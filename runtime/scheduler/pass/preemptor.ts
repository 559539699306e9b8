/** Preemption: evictions for a workload of higher priority. */
import type { MatchResult } from '../../fluxion/types';
import type { WorkloadRow } from '../../queue/workload';
import { type EvictionPlan, evictableFor, evictFor, type Holder, nodeRoom, protectedUntil } from './eviction';
import { priorityOf } from './order';
import { shownName } from './shown-names';
import type { Pass } from './state';
import { victims } from './victims';

/**
 * Evicts preemptible workloads of lower priority.
 * @param plan its match asks Fluxion for the row, which has no reservation
 * @returns the answer of Fluxion; undefined if nobody was evicted; `enough` if nobody has to be, because others leave or end soon
 */
export async function evictLowerPriority(
  pass: Pass,
  row: WorkloadRow,
  plan: Omit<EvictionPlan, 'messageFor'>,
): Promise<MatchResult | 'enough' | undefined> {
  pass.preemptAt.delete(row.uid);
  const lower = lowerThan(pass, row);
  if (lower.length === 0) return undefined;
  const room = await nodeRoom(pass, row, plan.notBefore);
  const { now } = pass.input;
  const open = lower.filter((holder) => protectedUntil(pass, holder) <= now);
  const chosen = victims(room, open);
  if (chosen === undefined)
    waitForProtected(pass, row, {
      holders: lower,
      until: (holder) => protectedUntil(pass, holder),
      suffices: (holders) => victims(room, holders) !== undefined,
    });
  if (chosen === undefined) return undefined;
  if (chosen.length === 0) return 'enough';
  return evictFor(pass, row, chosen, { ...plan, messageFor: (victim) => preemptedBy(victim.row, row) });
}

/** What the user of the victim reads. */
export function preemptedBy(victim: WorkloadRow, row: WorkloadRow): string {
  return `preempted by ${shownName(victim, row)}, which has a higher priority`;
}

/** Whether workloads that it may preempt have now run for the minimum time. */
export function isPreemptDue({ preemptAt, input }: Pass, { uid }: Pick<WorkloadRow, 'uid'>): boolean {
  return (preemptAt.get(uid) ?? Infinity) <= input.now;
}

/** Preemptible workloads of lower priority, also those that may not be preempted yet, or not again. */
export function lowerThan(pass: Pass, row: WorkloadRow): Holder[] {
  const priority = priorityOf(row, pass.budgets.get(row.queue)?.settings);
  return evictableFor(pass, row).filter((holder) => holder.row.preemptible && holder.priority < priority);
}

/** Who may be evicted for a row from when on. */
export interface Protected<H> {
  readonly holders: readonly H[];
  /** Unix seconds; Infinity: never. */
  readonly until: (holder: H) => number;
  /** Whether the row starts if these are evicted. If some suffice, more of them do, too. */
  readonly suffices: (holders: readonly H[]) => boolean;
}

/**
 * Where workloads that run too short to be preempted would suffice, the row is asked for again when enough of them may be. Where those
 * would that may never be preempted again, it is told so.
 */
export function waitForProtected<H>(
  { preemptAt, input }: Pass,
  { uid }: WorkloadRow,
  { holders, until, suffices }: Protected<H>,
): void {
  const isEnough = (at: number) => suffices(holders.filter((holder) => until(holder) <= at));
  const times = [...new Set(holders.map(until))].filter((at) => at > input.now);
  times.sort((a, b) => a - b);
  if (times.length === 0 || !isEnough(times.at(-1)!)) return;
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isEnough(times[middle]!)) high = middle;
    else low = middle + 1;
  }
  preemptAt.set(uid, Math.min(preemptAt.get(uid) ?? Infinity, Math.ceil(times[low]!)));
}
