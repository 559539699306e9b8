/**
 * batch/v1 Job. Held back by `suspend`; released by one merge patch that
 * unsuspends it, writes the assignment into its pod template, where pod
 * admission finds it, and makes Kubernetes end it when its walltime is over.
 */
import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  DEADLINE_ANNOTATION,
  GANG_SIZE,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import { jobs } from '../kubernetes/paths';
import type { Job, Pod } from '../kubernetes/types';
import type { Result, WorkloadRow } from '../queue/workload';
import { deadlineOf, isTerminal, lastEnd, type Outcome, secondsOf, type WorkloadAdapter } from './adapter';
import { encodeAssignment, leftOpen, nodeOfIndex, nodesOf, placementOf } from './assignment';
import { isOfRun, placeOf } from './pod';

export const jobAdapter: WorkloadAdapter<Job> = {
  kind: 'Job',
  apiVersion: 'batch/v1',
  path: (namespace, name) => jobs(namespace, name),
  isHeldBack: (job) => job.spec.suspend === true && endOf(job) === undefined,
  // Its template can't be changed until the Job controller has let go of the run before.
  canRelease: (job) => job.status?.startTime === undefined,
  isReleasedOnto: (job, row) =>
    job.spec.template.metadata?.annotations?.[ASSIGNMENT_ANNOTATION] === assignmentOf(job, row),
  recallable: true,
  demand: (job) => ({
    pods: podsOf(job),
    spec: job.spec.template.spec,
    deadlineSeconds: usersDeadline(job),
    // Anyone can write a number into a template; it is the class that counts.
    priority: undefined,
  }),
  outcome,
  doneOn,
  release: (job, row) => {
    const { annotations, activeDeadlineSeconds } = enforcement(job, row);
    return {
      type: 'merge',
      body: {
        metadata: { uid: job.metadata.uid, annotations },
        spec: {
          suspend: false,
          activeDeadlineSeconds,
          template: {
            metadata: {
              annotations: {
                [ASSIGNMENT_ANNOTATION]: assignmentOf(job, row),
                [JOBID_ANNOTATION]: String(row.jobid),
              },
            },
          },
        },
      },
    };
  },
  recall: (job) =>
    job.spec.suspend === true
      ? undefined
      : { type: 'merge', body: { metadata: { uid: job.metadata.uid }, spec: { suspend: true } } },
  grantOf({ spec: { suspend, template } }) {
    const { [ASSIGNMENT_ANNOTATION]: assignment = '', [JOBID_ANNOTATION]: jobid } =
      template.metadata?.annotations ?? {};
    const places = suspend === true ? [] : nodesOf(assignment);
    return places.length === 0 ? undefined : { jobid: jobidIn(jobid), places };
  },
};

/** 0 for text that we never wrote: a number that no table can hold would keep everything else from being adopted. */
function jobidIn(text = ''): number {
  return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 0;
}

/** Seconds; the one that we wrote at a release, because its walltime ends before its user's own. */
export function enforcedDeadline({ metadata, spec: { activeDeadlineSeconds } }: Job): number | undefined {
  const ours = metadata.annotations?.[DEADLINE_ANNOTATION];
  return ours === String(activeDeadlineSeconds) ? activeDeadlineSeconds : undefined;
}

/** Not the one of an earlier release: it was made from the walltime of that time. */
function usersDeadline(job: Job): number | undefined {
  return enforcedDeadline(job) === undefined ? job.spec.activeDeadlineSeconds : undefined;
}

/** The Job controller counts from the Job's start, which is its release, and not the time that it was suspended. */
function enforcement(job: Job, row: WorkloadRow) {
  const users = usersDeadline(job);
  const activeDeadlineSeconds = deadlineOf(row, users);
  const ours = activeDeadlineSeconds === users ? null : String(activeDeadlineSeconds);
  return { activeDeadlineSeconds, annotations: { [DEADLINE_ANNOTATION]: ours } };
}

/** Those that are granted together. */
function podsOf(job: Job): number {
  const { parallelism = 1, completions = parallelism } = job.spec;
  return Math.min(parallelism, completions, gangSize(job) ?? parallelism);
}

/** Undefined: all pods of this Job are one gang. Text that is no such number counts for nothing. */
function gangSize({ metadata, spec }: Job): number | undefined {
  const text = metadata.annotations?.[GANG_SIZE] ?? '';
  return spec.completionMode === 'Indexed' && /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : undefined;
}

function assignmentOf(job: Job, row: WorkloadRow): string {
  const parts = placementOf(row);
  const text = encodeAssignment(parts);
  if (gangSize(job) === undefined) return text;
  return leftOpen(
    text,
    parts.reduce((sum, { pods }) => sum + pods, 0),
  );
}

/**
 * The Job controller says Complete a second or more after the last pod has
 * succeeded; succeeded pods are final, so their count ends it at once.
 */
function outcome(job: Job, pods: readonly Pod[], now: number): Outcome | undefined {
  if (pods.some((pod) => !isTerminal(pod))) return undefined;
  const end = endOf(job);
  if (end !== undefined) return end.outcome;
  const { completions } = job.spec;
  const succeeded = pods.filter(({ status }) => status?.phase === 'Succeeded');
  if (completions === undefined || succeeded.length < completions) return undefined;
  return { result: 'Succeeded', finishedAt: lastEnd(succeeded, now) };
}

/** What the Job controller says of a Job that is over. */
export interface JobEnd {
  readonly outcome: Outcome;
  /** In its own words; of a failure, why. */
  readonly message: string;
}

export function endOf({ status }: Job): JobEnd | undefined {
  for (const { type, status: value, reason, message = '', lastTransitionTime } of status?.conditions ?? []) {
    if (value !== 'True' || lastTransitionTime === undefined) continue;
    const result = resultOf(type, reason);
    if (result !== undefined)
      return { outcome: { result, finishedAt: secondsOf(lastTransitionTime) }, message };
  }
  return undefined;
}

/** Undefined: a condition that does not end it. */
function resultOf(type: string, reason: string | undefined): Result | undefined {
  if (type === 'Complete') return 'Succeeded';
  if (type !== 'Failed') return undefined;
  return reason === 'DeadlineExceeded' ? 'TimedOut' : 'Failed';
}

/** A succeeded pod is not made again when every completion has its own pod from the start. */
function doneOn(job: Job, row: WorkloadRow, pods: readonly Pod[]): readonly string[] {
  const { completions, parallelism = 1, template } = job.spec;
  if (row.allocation === null || completions === undefined || completions > parallelism) return [];
  // Seen as it was before this run, or released by a leader that did not write it.
  if (template.metadata?.annotations?.[JOBID_ANNOTATION] !== String(row.jobid)) return [];
  const done = doneByNode(job, row, pods);
  if (done.size === 0) return [];
  // A pod may have taken the place of one that succeeded: what is there is not done, whatever the count.
  const live = new Set(pods.filter((pod) => !isTerminal(pod)).map(placeOf));
  return placementOf(row)
    .filter(({ node, pods: placed }) => (done.get(node) ?? 0) >= placed && !live.has(node))
    .map(({ node }) => node);
}

/**
 * How many pods of each node's share have succeeded. An index keeps its place whenever it succeeded, also in a run
 * before a requeue and wherever it was then; pods without an index count only in the run they are of.
 */
function doneByNode({ spec }: Job, { jobid }: WorkloadRow, pods: readonly Pod[]): Map<string, number> {
  const succeeded = pods.filter(({ status }) => status?.phase === 'Succeeded');
  const annotations = spec.template.metadata?.annotations;
  const nodes =
    spec.completionMode === 'Indexed'
      ? [
          ...new Set(succeeded.map(({ metadata }) => metadata.annotations?.[COMPLETION_INDEX_ANNOTATION])),
        ].map((index) => nodeOfIndex(annotations?.[ASSIGNMENT_ANNOTATION] ?? '', Number(index)))
      : succeeded.filter((pod) => isOfRun(pod, jobid)).map(({ spec: { nodeName } }) => nodeName);
  const done = new Map<string, number>();
  for (const node of nodes) if (node !== undefined) done.set(node, (done.get(node) ?? 0) + 1);
  return done;
}
