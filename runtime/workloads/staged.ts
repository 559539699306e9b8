/**
 * Jobs whose template has a scheduling gate of another controller, which lifts it from pods that exist. Such a Job is
 * *staged*: it starts without a grant, so its pods exist and carry both gates, the other controller's and the queue's. They
 * hold no units, and no pod runs, because the queue's own gate stays. Once only that gate is left, the Job is queued, and a
 * grant pins and ungates its pods one by one, as it does with all pods that admission cannot pin.
 *
 * The template of a Job that has started cannot change, so its assignment names no node, and its job id is one of a former
 * state of the row: as-granted.ts.
 */
import { ADMITTED_LABEL, ASSIGNMENT_ANNOTATION, JOBID_ANNOTATION } from '../../constructs/api/labels';
import type { NodePods } from '../jobspec/pods-per-node';
import { foreignGates, foreignGatesOf } from '../jobspec/unmodeled';
import type { ObjectMeta, Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WatchedJob } from '../shared/job-projection';
import { type ActiveWorkload, isTerminal, type JsonPatchOperation } from './adapter';
import { withoutNotes } from './assignment';
import { isParked, parkedDeadline } from './deadlines';
import { deadlineOperations, jobReleasePatch } from './job-release';
import { assignedNode, isGated } from './pod';
import { tally } from './tally';

/** An assignment that names no node: admission gates each pod with it. */
const STAGED = 'staged';

type Template = Pick<WatchedJob, 'spec'>;

function marksOf({ spec: { template } }: Template): Readonly<Record<string, string>> {
  return template.metadata?.annotations ?? {};
}

/** Whether the Job has started without a grant. It stays staged under the grant that it gets then. */
export function isStaged({ metadata, spec }: WatchedJob): boolean {
  const isOurs = metadata.labels?.[ADMITTED_LABEL] === 'true' && spec.suspend !== true;
  return isOurs && withoutNotes(marksOf({ spec })[ASSIGNMENT_ANNOTATION] ?? '') === STAGED;
}

/** The gates of other controllers in the template. A pod with a node cannot have any. */
function gatesInTemplate({ spec: { template } }: Template): readonly string[] {
  return template.spec.nodeName === undefined ? foreignGates(template.spec) : [];
}

/**
 * The scheduling gates of other controllers for which the Job waits.
 * @param isWhole whether all pods exist that have to start together
 */
export function gatesOf(job: WatchedJob, pods: readonly Pod[], isWhole: boolean): readonly string[] {
  const inTemplate = gatesInTemplate(job);
  if (inTemplate.length === 0 || !isStaged(job)) return inTemplate;
  const waiting = pods.filter(
    (pod) => isGated(pod) && !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined,
  );
  if (waiting.length === 0 || !isWhole) return inTemplate;
  return foreignGatesOf(waiting);
}

/** What makes pods of a Job that waits; undefined if there is nothing to do. */
export function stageOperations(
  job: WatchedJob,
  row: WorkloadRow,
): readonly JsonPatchOperation[] | undefined {
  // A manifest that is applied again has the deadline of its user, which would count from here on.
  if (isStaged(job)) return isParked(job) ? undefined : deadlineOperations(job, parkedDeadline(job));
  const mayStart = job.spec.suspend === true && job.status?.startTime === undefined;
  if (!mayStart || row.reason !== 'SchedulingGated' || gatesInTemplate(job).length === 0) return undefined;
  return jobReleasePatch(job, row, { assignment: STAGED, deadline: parkedDeadline(job) });
}

/**
 * The nodes of pods of a staged Job that have lost the gate of the queue.
 * @param hasEnded whether the Job has: pods that ended before may be of a grant before
 */
export function stagedPlacement(pods: readonly Pod[], hasEnded: boolean): readonly NodePods[] {
  const placed = pods.filter((pod) => !isGated(pod) && (hasEnded || !isTerminal(pod)));
  return [...tally(placed.map(assignedNode))].map(([node, count]) => ({ node, pods: count }));
}

/** The same workload, with the job id of its row in a staged Job and in the pods that it has made since it was staged. */
export function stagedAsGranted(workload: ActiveWorkload): ActiveWorkload {
  const { object, row, pods } = workload;
  if (row.kind !== 'Job' || !isStaged(object as WatchedJob)) return workload;
  const job = object as WatchedJob;
  const { template } = job.spec;
  const metadata = withJobid(template.metadata ?? {}, row);
  const granted = { ...job, spec: { ...job.spec, template: { ...template, metadata } } };
  const stage = marksOf(job)[JOBID_ANNOTATION];
  return {
    ...workload,
    object: granted,
    pods: pods.map((pod) =>
      pod.metadata.annotations?.[JOBID_ANNOTATION] === stage
        ? { ...pod, metadata: withJobid(pod.metadata, row) }
        : pod,
    ),
  };
}

function withJobid<T extends Pick<ObjectMeta, 'annotations'>>(metadata: T, { jobid }: WorkloadRow): T {
  return { ...metadata, annotations: { ...metadata.annotations, [JOBID_ANNOTATION]: String(jobid) } };
}
