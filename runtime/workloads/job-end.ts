/** How a Job has ended. */
import { COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import { isTrue } from '../kubernetes/conditions';
import type { Pod } from '../kubernetes/types';
import type { Result, WorkloadRow } from '../queue/workload';
import type { WatchedJob } from '../shared/job-projection';
import { isTerminal, lastFinishTime, type Outcome, secondsOf } from './adapter';
import { failureOf } from './pod-end';

/**
 * The Job controller sets Complete a second or more after the last pod has succeeded. Succeeded is final for a pod, so the
 * count of succeeded pods ends the workload without that delay. But what has to end may end with exit code 0: of a Job that is
 * suspended or has failed, and of pods that were deleted, the Job controller says itself what it counts.
 */
export function outcomeOf(
  job: WatchedJob,
  pods: readonly Pod[],
  now: number,
  row?: WorkloadRow,
): Outcome | undefined {
  if (pods.some((pod) => !isTerminal(pod))) return undefined;
  const end = endOf(job);
  if (end !== undefined)
    return { ...end.outcome, message: neverStarted(job, end, row) ?? messageOf(end, pods) };
  const { completions, suspend } = job.spec;
  if (suspend === true || isTrue(job.status?.conditions, 'FailureTarget')) return undefined;
  const done = pods.filter(
    ({ metadata, status }) => status?.phase === 'Succeeded' && metadata.deletionTimestamp === undefined,
  );
  if (completions === undefined || tasksOf(job, done) < completions) return undefined;
  return { result: 'Succeeded', finishedAt: lastFinishTime(done, now) };
}

/**
 * How many tasks these pods have done: two of one index, as after a node was lost, are one, and an index that a lower
 * `completions` has left out is none.
 */
export function tasksOf({ spec }: WatchedJob, pods: readonly Pod[]): number {
  const { completionMode, completions = Number.POSITIVE_INFINITY } = spec;
  if (completionMode !== 'Indexed') return pods.length;
  const indexes = pods.map(({ metadata }) => Number(metadata.annotations?.[COMPLETION_INDEX_ANNOTATION]));
  return new Set(indexes.filter((index) => index < completions)).size;
}

/** Kubernetes counts the deadline from the release, whether a pod ran or not. */
function neverStarted(
  { spec: { activeDeadlineSeconds } }: WatchedJob,
  { outcome: { result } }: JobEnd,
  row: WorkloadRow | undefined,
): string | undefined {
  if (result !== 'TimedOut' || row === undefined || row.startedAt !== null) return undefined;
  return `none of its pods is known to have run within its activeDeadlineSeconds (${activeDeadlineSeconds} s)`;
}

/** The pods of a Job that exceeded its deadline are deleted; those that failed stay. */
function messageOf({ outcome: { result }, message }: JobEnd, pods: readonly Pod[]): string | undefined {
  if (result === 'Succeeded') return undefined;
  return result === 'Failed' ? (failureOf(pods) ?? (message || undefined)) : undefined;
}

/** The end of a Job as its conditions report it. */
export interface JobEnd {
  readonly outcome: Outcome;
  /** The message of the Job's condition; for a failed Job, the cause. */
  readonly message: string;
}

export function endOf({ status }: WatchedJob): JobEnd | undefined {
  for (const { type, status: value, reason, message = '', lastTransitionTime } of status?.conditions ?? []) {
    if (value !== 'True' || lastTransitionTime === undefined) continue;
    const result = resultOf(type, reason);
    if (result !== undefined)
      return { outcome: { result, finishedAt: secondsOf(lastTransitionTime) }, message };
  }
  return undefined;
}

/** Undefined for a condition that does not end the Job. */
function resultOf(type: string, reason: string | undefined): Result | undefined {
  if (type === 'Complete') return 'Succeeded';
  if (type !== 'Failed') return undefined;
  return reason === 'DeadlineExceeded' ? 'TimedOut' : 'Failed';
}
