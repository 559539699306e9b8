/**
 * batch/v1 Job. Held back by `suspend`; released by one merge patch that
 * unsuspends it and writes the assignment into its pod template, where pod
 * admission finds it.
 */
import { ASSIGNMENT_ANNOTATION, GANG_SIZE } from '../../constructs/names';
import { jobs } from '../kubernetes/paths';
import type { Job, Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/types';
import { isTerminal, lastEnd, type Outcome, secondsOf, type WorkloadAdapter } from './adapter';
import { encodeAssignment, leftOpen } from './assignment';
import { placementOf } from './placement';

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
    deadlineSeconds: job.spec.activeDeadlineSeconds,
  }),
  outcome,
  doneOn,
  release: (job, row) => ({
    type: 'merge',
    body: {
      metadata: { uid: job.metadata.uid },
      spec: {
        suspend: false,
        template: { metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: assignmentOf(job, row) } } },
      },
    },
  }),
  recall: (job) =>
    job.spec.suspend === true
      ? undefined
      : { type: 'merge', body: { metadata: { uid: job.metadata.uid }, spec: { suspend: true } } },
};

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
  if (end !== undefined) return end;
  const { completions } = job.spec;
  const succeeded = pods.filter(({ status }) => status?.phase === 'Succeeded');
  if (completions === undefined || succeeded.length < completions) return undefined;
  return { result: 'Succeeded', finishedAt: lastEnd(succeeded, now) };
}

function endOf({ status }: Job): Outcome | undefined {
  for (const { type, status: value, reason, lastTransitionTime } of status?.conditions ?? []) {
    if (value !== 'True' || lastTransitionTime === undefined) continue;
    const finishedAt = secondsOf(lastTransitionTime);
    if (type === 'Complete') return { result: 'Succeeded', finishedAt };
    if (type === 'Failed')
      return { result: reason === 'DeadlineExceeded' ? 'TimedOut' : 'Failed', finishedAt };
  }
  return undefined;
}

/** A succeeded pod is not made again when every completion has its own pod from the start. */
function doneOn(job: Job, row: WorkloadRow, pods: readonly Pod[]): readonly string[] {
  const { completions, parallelism = 1 } = job.spec;
  if (row.allocation === null || completions === undefined || completions > parallelism) return [];
  const succeeded = new Map<string, number>();
  for (const { spec, status } of pods)
    if (status?.phase === 'Succeeded' && spec.nodeName !== undefined)
      succeeded.set(spec.nodeName, (succeeded.get(spec.nodeName) ?? 0) + 1);
  if (succeeded.size === 0) return [];
  return placementOf(row)
    .filter(({ node, pods: placed }) => (succeeded.get(node) ?? 0) >= placed)
    .map(({ node }) => node);
}
