/**
 * The planned end of an allocation: when the plan counts on its units. It is the end in the row, which is its walltime
 * or, once its eviction was requested, the time at which its pods should be gone. Pods with a longer grace period than
 * Kubernetes' own may use the rest of it beyond their walltime, so a pass and Fluxion plan with both: else a walltime of a
 * second would pass every reservation, and stay for an hour. The end in the row stays that of the walltime, which is what
 * its user is told and what is enforced.
 * A workload that has not ended by then (a finalizer, a kubelet that does not answer) is an overrun: the longer it lasts,
 * the longer it is predicted to last. One that has not even started by then has to leave nodes for which a reservation
 * waits, once it has had some time for its start: it is planned to be gone then. A prediction is a function of the row and
 * of the time, so it is written nowhere, and a new leader makes the same one.
 */
import { DEFAULT_GRACE_SECONDS } from '../../jobspec/jobspec';
import type { Jobspec } from '../../jobspec/types';
import { isImmovable, type WorkloadRow } from '../../queue/workload';
import { isEndless } from '../../resources/endless';
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

/** Seconds of its grace period beyond Kubernetes' own, by which its pods may outlast its walltime. */
function extraGraceOf(row: Pick<WorkloadRow, 'jobspec'>): number {
  return Math.max(0, terminationOf(row) - TERMINATION_SECONDS);
}

/** One object for all passes, because what they find out of a jobspec is kept with it. */
const withGraces = new WeakMap<Jobspec, Jobspec>();

/** A row that waits, as a pass plans it: with the time that its pods may need to end. */
export function withGrace(row: WorkloadRow): WorkloadRow {
  return lastingLonger(row, extraGraceOf(row));
}

/** The row as if it asked for these seconds more. */
export function lastingLonger(row: WorkloadRow, extra: number): WorkloadRow {
  const { jobspec, walltime } = row;
  if (extra <= 0 || isEndless({ start: 0, end: walltime })) return row;
  const known = withGraces.get(jobspec);
  const duration = jobspec.attributes.system.duration + extra;
  const planned = known?.attributes.system.duration === duration ? known : lengthened(jobspec, extra);
  withGraces.set(jobspec, planned);
  return { ...row, jobspec: planned, walltime: walltime + extra };
}

function lengthened(jobspec: Jobspec, extra: number): Jobspec {
  const { attributes } = jobspec;
  const { system } = attributes;
  return {
    ...jobspec,
    attributes: { ...attributes, system: { ...system, duration: system.duration + extra } },
  };
}

/** The allocation as it is written in the row, of one that was planned for a row `withGrace`. */
export function withoutGrace(row: Pick<WorkloadRow, 'jobspec'>, allocation: Allocation): Allocation {
  const extra = extraGraceOf(row);
  return extra === 0 || isEndless(allocation) ? allocation : { ...allocation, end: allocation.end - extra };
}

/** A row with an allocation, as far as its planned end depends on it. */
export type Holder = Pick<
  WorkloadRow,
  'allocation' | 'evictionReason' | 'jobspec' | 'startedAt' | 'walltime' | 'requeues' | 'kind'
>;

/** When the plan counts on its units, if it does not overrun. The end of an eviction is that of the grace period already. */
export function dueEnd({
  allocation,
  evictionReason,
  jobspec,
}: Pick<Holder, 'allocation' | 'evictionReason' | 'jobspec'>): number {
  const { end } = allocation!;
  return evictionReason !== null || isEndless(allocation!) ? end : end + extraGraceOf({ jobspec });
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

/**
 * Seconds from its grant that a workload has for its start at least, however short its walltime is. Doubled by each requeue: what pulls
 * an image for longer starts in the end, also where somebody always waits for its nodes.
 */
const START_SECONDS = 60;
const MOST_DOUBLED = 4;
/** What cannot be put back has all of that time at once. A fault of the cluster may pass meanwhile. */
export const KEPT_SECONDS = 600;

/** Seconds from its grant after which it leaves nodes for which a reservation waits, if it has not started. */
export function startLimitOf(row: Pick<WorkloadRow, 'walltime' | 'requeues' | 'kind' | 'jobspec'>): number {
  const { walltime, requeues } = row;
  const least = isImmovable(row) ? KEPT_SECONDS : START_SECONDS * 2 ** Math.min(requeues, MOST_DOUBLED);
  return Math.max(walltime, least);
}

/** When the plan counts on its units; undefined: it is an overrun, and its end is only predicted. */
function knownEnd(holder: Holder, now: number): number | undefined {
  const due = dueEnd(holder);
  if (due > now) return due;
  if (holder.startedAt !== null || holder.evictionReason !== null) return undefined;
  const gone = holder.allocation!.start + startLimitOf(holder) + TERMINATION_SECONDS;
  return gone > now ? gone : undefined;
}

/** When it is planned to end. */
export function plannedEndOf(holder: Holder, now: number): number {
  return knownEnd(holder, now) ?? plannedEnd(dueEnd(holder), now);
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

/** Its allocation from its start to its planned end. A leader whose clock was ahead may have written a later start. */
export function plannedAllocation(holder: Holder, now: number): Allocation {
  const allocation = holder.allocation!;
  const [start, end] = [Math.min(allocation.start, now), plannedEndOf(holder, now)];
  return start === allocation.start && end === allocation.end ? allocation : { ...allocation, start, end };
}

/** The row with its planned allocation; the same row if it is the allocation in the row. */
export function withPlannedEnd(row: WorkloadRow, now: number): WorkloadRow {
  if (row.allocation === null) return row;
  const planned = plannedAllocation(row, now);
  return planned === row.allocation ? row : { ...row, allocation: planned };
}
