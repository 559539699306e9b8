/**
 * The planned end of an allocation: when the plan counts on its units. It is the end in the row, which is its walltime
 * or, once its eviction was requested, the time at which its pods should be gone. A workload that has not ended by then
 * (a long grace period, a finalizer, a kubelet that does not answer) is an overrun: the longer it lasts, the longer it is
 * predicted to last. A prediction is a function of the end in the row and of the time, so it is written nowhere, and a
 * new leader makes the same one.
 */
import { DEFAULT_GRACE_SECONDS } from '../../jobspec/jobspec';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';

/** Seconds from the end of a grace period until the controller has seen that the pods are gone. */
const NOTICE_SECONDS = 15;

/** Seconds until the pods of a workload that has to end are gone, with Kubernetes' own grace period. */
export const TERMINATION_SECONDS = DEFAULT_GRACE_SECONDS + NOTICE_SECONDS;

/** Nobody is evicted for a start that comes less earlier than this: what he leaves idles until all that is needed is free. */
export const LEAST_GAIN_SECONDS = 15;

/** The same for a workload whose pods name a grace period. */
export function terminationOf({ jobspec }: Pick<WorkloadRow, 'jobspec'>): number {
  const { graceSeconds = DEFAULT_GRACE_SECONDS } = jobspec.attributes.user ?? {};
  return graceSeconds + NOTICE_SECONDS;
}

/**
 * The first of the ends `end`, `end` + 45 s, + 90 s, + 180 s, ... that is still to come. When one is reached, the workload
 * is predicted to run for as long again as it has overrun: in a day the plan changes eleven times.
 */
export function plannedEnd(end: number, now: number): number {
  let planned = end;
  for (let over = TERMINATION_SECONDS; planned <= now; over *= 2) planned = end + over;
  return planned;
}

/** A planned end that moved to later. */
export interface Delay {
  readonly before: number;
  readonly end: number;
}

/** Whether what starts then may have been planned on units or quota that come free later by the delay. */
export function countsOn(start: number, { before, end }: Delay): boolean {
  return before <= start && start < end;
}

/** The allocation from its start to its planned end. A leader whose clock was ahead may have written a later start. */
export function plannedAllocation(allocation: Allocation, now: number): Allocation {
  const { start, end } = allocation;
  if (start <= now && end > now) return allocation;
  return { ...allocation, start: Math.min(start, now), end: plannedEnd(end, now) };
}

/** The row with its planned allocation; the same row if it is the allocation in the row. */
export function withPlannedEnd(row: WorkloadRow, now: number): WorkloadRow {
  if (row.allocation === null) return row;
  const planned = plannedAllocation(row.allocation, now);
  return planned === row.allocation ? row : { ...row, allocation: planned };
}
