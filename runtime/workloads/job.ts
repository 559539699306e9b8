/**
 * Adapter of batch/v1 Job. A queued Job has `spec.suspend: true`. One JSON
 * patch releases it: the patch unsuspends the Job, writes the assignment into
 * its pod template, where pod admission reads it, and sets the deadline by
 * which Kubernetes enforces the walltime.
 */
import {
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  GANG_SIZE,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { NodePods } from '../jobspec/pods-per-node';
import { foreignGates } from '../jobspec/unmodeled';
import { isTrue } from '../kubernetes/conditions';
import { controllerOf } from '../kubernetes/owner';
import { jobs } from '../kubernetes/paths';
import type { Job, Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { parseRanges } from '../resources/idset';
import type { WatchedJob } from '../shared/job-projection';
import {
  isTerminal,
  type JsonPatchOperation,
  type Patch,
  type RecordedGrant,
  secondsOf,
  type WorkloadAdapter,
} from './adapter';
import {
  encodeAssignment,
  isOpen,
  nodeOfIndex,
  nodesOf,
  openAssignment,
  placementOf,
  withoutNotes,
} from './assignment';
import { releasedDeadline, requestedDeadline, stagedSeconds, walltimeEnd } from './deadlines';
import { jobHandOver } from './hand-over';
import { endOf, outcomeOf, tasksOf } from './job-end';
import { deadlineOperations, isReleasedAs, isReplacementNoted, jobReleasePatch } from './job-release';
import { awaitedPods, neededPods, pinnedTasks } from './needed-pods';
import { assignedNode, belongsToGrant, isGated, parseJobid, pinPatch, ungated } from './pod';
import { hasSucceeded } from './pod-end';
import { replacesEnded } from './replacement-policy';
import { settingOf } from './settings';
import { gatesOf, isStaged, stagedPlacement, stageOperations } from './staged';
import { tally } from './tally';
import { templatePod } from './template-pod';

const POD_SET = 'pods';

export const jobAdapter: WorkloadAdapter<WatchedJob> = {
  kind: 'Job',
  apiVersion: 'batch/v1',
  path: (namespace, name) => jobs(namespace, name),
  membersOf: () => undefined,
  podsExist: false,
  marksPods: false,
  isSuspended: (job) => job.spec.suspend === true && endOf(job) === undefined,
  isStaged,
  gates: (job, pods) => gatesOf(job, pods, !isGang(job) || missing(job, pods) === 0),
  stagePatch: (job, row) => jsonPatch(stageOperations(job, row)),
  // The pod template is immutable until the Job controller has reset status.startTime after a suspension.
  canRelease: (job) => job.status?.startTime === undefined,
  startTimePatch: ({ metadata: { uid }, status }) =>
    status?.startTime !== undefined && isTrue(status.conditions, 'Suspended')
      ? {
          type: 'json',
          body: [
            { op: 'test', path: '/metadata/uid', value: uid },
            { op: 'test', path: '/spec/suspend', value: true },
            { op: 'remove', path: '/status/startTime' },
          ],
        }
      : undefined,
  isReleasedOnto: (job, row) =>
    withoutNotes(job.spec.template.metadata?.annotations?.[ASSIGNMENT_ANNOTATION] ?? '') ===
    assignmentOf(job, row),
  isSuspendable: () => true,
  isLarge: ({ isLarge = false }) => isLarge,
  demand: (job) => ({
    podSets: [
      {
        name: POD_SET,
        count: waitingPods(job),
        spec: job.spec.template.spec,
        labels: job.spec.template.metadata?.labels ?? {},
        annotations: job.spec.template.metadata?.annotations,
        field: 'spec.template.spec',
      },
    ],
    deadlineSeconds: requestedDeadline(job),
    isService: false,
    isRemainder: waitingPods(job) < gangPods(job),
    // Users can write any number into a template, so only the PriorityClass counts.
    priority: undefined,
  }),
  samplePod: (job) => templatePod(job as Job),
  podSetOf: () => POD_SET,
  podsToPlace: (_job, pods) => pods.filter(isGated).sort(byOtherGates),
  // What the others of its Job are charged is learned from the first that runs.
  largerPods: () => [],
  placelessPods: () => [],
  placePatch: (_job, _row, pod, node) => pinPatch(pod, node),
  earlierPlacePatch: () => undefined,
  placedPod: (_job, _row, pod, node) => ungated(pod, node),
  outcome: outcomeOf,
  finishedNodes,
  isGang,
  idleNodes,
  neededPods: (job, row, pods) => (isGang(job) ? undefined : neededPods(job, row, pods)),
  missingPods,
  awaitedPods: (job, row, pods) => awaitedPods(job, row, pods, missingPods(job, row, pods)),
  unseenPods: ({ status }, pods) => {
    const counted = (status?.active ?? 0) + (status?.terminating ?? 0);
    return Math.max(0, counted - pods.filter((pod) => !isTerminal(pod)).length);
  },
  releasePatch: (job, row) => ({ type: 'json', body: [...releaseOf(job, row), ...replacesEnded(job)] }),
  earlierReleasePatch: (job, row) =>
    replacesEnded(job).length === 0 ? undefined : { type: 'json', body: releaseOf(job, row) },
  replacementPolicy: (job, { jobid }) =>
    isReleasedAs(job, jobid) ? (job.spec.podReplacementPolicy ?? 'TerminatingOrFailed') : undefined,
  isReplacementNoted,
  walltimeEnd: (job, row, now) =>
    walltimeEnd(job, row, now, isStaged(job) ? stagedSeconds(job, row) : undefined),
  suspendPatch: (job) =>
    job.spec.suspend === true
      ? undefined
      : { type: 'merge', body: { metadata: { uid: job.metadata.uid }, spec: { suspend: true } } },
  handOverPatch: (job, starts) => ({ type: 'json', body: jobHandOver(job, starts) }),
  recordedGrant(job, pods) {
    const { suspend, template } = job.spec;
    // Its pods had no node before they were granted, and it has the job id of no grant.
    if (isStaged(job)) return grantOn(stagedPlacement(pods, endOf(job) !== undefined));
    const { [ASSIGNMENT_ANNOTATION]: assignment = '', [JOBID_ANNOTATION]: jobid } =
      template.metadata?.annotations ?? {};
    if (suspend === true) return undefined;
    const grant = grantOn(nodesOf(assignment), parseJobid(jobid));
    const releasedAt = secondsOf(job.status?.startTime ?? '');
    return grant && Number.isFinite(releasedAt) ? { ...grant, releasedAt } : grant;
  },
};

function grantOn(placement: readonly NodePods[], jobid?: number): RecordedGrant | undefined {
  return placement.length === 0 ? undefined : { jobid, placement };
}

function jsonPatch(body: readonly JsonPatchOperation[] | undefined): Patch | undefined {
  return body && { type: 'json', body };
}

/** A staged Job runs already, and its pods are pinned one by one. */
function releaseOf(job: WatchedJob, row: WorkloadRow): readonly JsonPatchOperation[] {
  if (isStaged(job)) return deadlineOperations(job, releasedDeadline(job, row, stagedSeconds(job, row)));
  return jobReleasePatch(job, row, {
    assignment: assignmentOf(job, row),
    deadline: releasedDeadline(job, row),
  });
}

/** The number of pods that are granted together. */
function gangPods(job: WatchedJob): number {
  const { parallelism = 1, completions = parallelism } = job.spec;
  return Math.min(parallelism, completions, gangSize(job) ?? parallelism);
}

/** An array that waits asks for no more pods at once than it has tasks left. What runs keeps what it was granted. */
function waitingPods(job: WatchedJob): number {
  const all = gangPods(job);
  const waits = job.spec.suspend === true || isStaged(job);
  // The Job controller may be about to say that its last task is done.
  return isGang(job) || !waits ? all : Math.min(all, Math.max(1, openTasks(job, job.status?.succeeded)));
}

/** The tasks that have not ended. Without completions they are endless, until one has succeeded: then no further pod is created. */
function openTasks(job: WatchedJob, succeeded = 0): number {
  const { completions = succeeded > 0 ? 0 : Infinity } = job.spec;
  return Math.max(0, completions - succeeded - failedFor(job));
}

/**
 * Undefined if all pods that run at once are granted together, as where more tasks follow: these need the slots of those that have ended.
 * What an elastic Job was granted stays so when its user makes it smaller. Ignores invalid text.
 */
function gangSize({ metadata, spec }: WatchedJob): number | undefined {
  const { parallelism = 1, completions = parallelism, suspend, template } = spec;
  const isElastic = suspend !== true && isOpen(template.metadata?.annotations?.[ASSIGNMENT_ANNOTATION]);
  if (completions > parallelism && !isElastic) return undefined;
  const text = settingOf(metadata, GANG_SIZE) ?? '';
  return spec.completionMode === 'Indexed' && GANG_FORMAT.test(text) ? Number(text) : undefined;
}

const GANG_FORMAT = /^[1-9][0-9]{0,8}$/;
/** The Jobs of these kinds talk to each other. */
const GANG_OWNERS: ReadonlySet<string> = new Set(['MiniCluster', 'JobSet']);

/** Kubernetes does not say whether the pods of a Job need each other, so the Job or its owner has to. */
function isGang(job: WatchedJob): boolean {
  return GANG_FORMAT.test(settingOf(job.metadata, GANG_SIZE) ?? '') || hasGangOwner(job);
}

export function hasGangOwner(job: WatchedJob): boolean {
  return GANG_OWNERS.has(controllerOf(job)?.kind ?? '');
}

function assignmentOf(job: WatchedJob, row: WorkloadRow): string {
  const parts = placementOf(row);
  const text = encodeAssignment(parts);
  const granted = parts.reduce((sum, { pods }) => sum + pods, 0);
  // A closed assignment of one node sends every pod without an index there, also more than were granted.
  const isNarrow = job.spec.completionMode !== 'Indexed' && granted < gangPods(job);
  return gangSize(job) === undefined && !isNarrow ? text : openAssignment(text, granted);
}

function missingPods(job: WatchedJob, { jobid }: WorkloadRow, pods: readonly Pod[]): number {
  // The watch still shows the object before this release.
  return isReleasedAs(job, jobid) ? missing(job, pods) : 0;
}

/** Failed pods that the Job controller replaces later count as missing: only its Events tell whether it can. */
function missing(job: WatchedJob, pods: readonly Pod[]): number {
  // The Job creates no further pods.
  if (job.spec.suspend === true || job.metadata.deletionTimestamp !== undefined || endOf(job) !== undefined)
    return 0;
  const replacesEnding = job.spec.podReplacementPolicy !== 'Failed';
  const jobid = job.spec.template.metadata?.annotations?.[JOBID_ANNOTATION];
  // One that ends has a slot of its own grant only: its replacement has one of this grant.
  const isThere = (pod: Pod) =>
    !isTerminal(pod) &&
    (pod.metadata.deletionTimestamp === undefined ||
      (!replacesEnding && pod.metadata.annotations?.[JOBID_ANNOTATION] === jobid));
  const live = pods.filter(isThere).length;
  return Math.max(0, Math.min(gangPods(job), openTasks(job, succeededTasks(job, pods))) - live);
}

function succeededTasks(job: WatchedJob, pods: readonly Pod[]): number {
  return Math.max(job.status?.succeeded ?? 0, tasksOf(job, pods.filter(hasSucceeded)));
}

/** The tasks that get no further pod, because each has retries of its own (`backoffLimitPerIndex`). */
function failedFor({ status }: WatchedJob): number {
  return parseRanges(status?.failedIndexes ?? '').reduce((sum, [from, to]) => sum + to - from, 0);
}

/** The nodes on which no task runs again. */
function finishedNodes(job: WatchedJob, row: WorkloadRow, pods: readonly Pod[]): readonly string[] {
  // More pods than were granted at once: the gated ones start as others end.
  if (pods.some(isGated)) return [];
  const { completions, parallelism = 1, suspend } = job.spec;
  const open = openTasks(job, succeededTasks(job, pods));
  // The template of an elastic gang pins indexes that come again when its user makes it larger.
  const mayGrow = gangSize(job) !== undefined;
  const isEachStarted = suspend !== true && !mayGrow && open <= gangPods(job) && missing(job, pods) === 0;
  // Each task that is left has its pod. One that the watch of pods does not show yet, or that replaces one which admission did not
  // pin, is pinned by its index.
  if (isEachStarted) {
    const pinned = pinnedTasks(job, pods);
    return nodesWithout(job, row, pods, false).filter((node) => !pinned.has(node));
  }
  // Otherwise a succeeded pod is replaced by none only if every task had its own pod from the start.
  if (completions === undefined || completions > parallelism) return [];
  // Of an array that was granted its last tasks, a pod that is still to come may need the slot of any index that is done.
  if (isPinned(job) && row.pods < gangPods(job)) return [];
  return nodesWithout(job, row, pods, true);
}

/** Pods of an array that have no index of the assignment are gated when they are created, and get what is granted then. */
function idleNodes(job: WatchedJob, row: WorkloadRow, pods: readonly Pod[]): readonly string[] {
  // A gated pod may have got its node a moment ago.
  if (pods.some(isGated)) return [];
  return nodesWithout(job, row, pods, isPinned(job));
}

/** A pod that another controller keeps would use its slot for nothing. */
function byOtherGates(a: Pod, b: Pod): number {
  return foreignGates(a.spec).length - foreignGates(b.spec).length;
}

/** Whether admission pins its pods by their indexes. */
function isPinned(job: WatchedJob): boolean {
  return job.spec.completionMode === 'Indexed' && !isStaged(job);
}

/** @param allSucceeded whether all pods that the assignment gives to the node have to have succeeded */
function nodesWithout(
  job: WatchedJob,
  row: WorkloadRow,
  pods: readonly Pod[],
  allSucceeded: boolean,
): readonly string[] {
  if (row.allocation === null) return [];
  // The watch still shows the object before this release.
  if (!isReleasedAs(job, row.jobid)) return [];
  const succeeded = allSucceeded ? succeededByNode(job, row, pods) : undefined;
  if (succeeded?.size === 0) return [];
  // Another pod may run on the node in place of one that succeeded, so a node with a live pod is not finished.
  const live = new Set(pods.filter((pod) => !isTerminal(pod)).map(assignedNode));
  return placementOf(row)
    .filter(
      ({ node, pods: placed }) =>
        (succeeded === undefined || (succeeded.get(node) ?? 0) >= placed) && !live.has(node),
    )
    .map(({ node }) => node);
}

/**
 * The number of succeeded pods per node of the current assignment. A succeeded index counts on the node that the
 * assignment gives it, even if it succeeded on another node before a requeue; pods without an index count only if they
 * belong to the current grant.
 */
function succeededByNode(job: WatchedJob, { jobid }: WorkloadRow, pods: readonly Pod[]): Map<string, number> {
  const succeeded = pods.filter(hasSucceeded);
  const annotations = job.spec.template.metadata?.annotations;
  const nodes = isPinned(job)
    ? [...new Set(succeeded.map(({ metadata }) => metadata.annotations?.[COMPLETION_INDEX_ANNOTATION]))].map(
        (index) => nodeOfIndex(annotations?.[ASSIGNMENT_ANNOTATION] ?? '', Number(index)),
      )
    : succeeded.filter((pod) => belongsToGrant(pod, jobid)).map(({ spec: { nodeName } }) => nodeName);
  return tally(nodes);
}
