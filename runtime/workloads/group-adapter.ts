/**
 * Adapter of a group of plain pods (pod-group.ts). Kubernetes neither gates a pod again nor moves it, so a group leaves its nodes
 * by the eviction of its pods: only where a controller makes each of them again.
 */
import { GROUP_MEMBER_ANNOTATION, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { FluxqError } from '../errors';
import { foreignGatesOf } from '../jobspec/unmodeled';
import { controllerOf } from '../kubernetes/owner';
import { pods as podPath } from '../kubernetes/paths';
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import {
  isTerminal,
  type Outcome,
  type PlacedSets,
  type RecordedGrant,
  type WalltimeEnd,
  type WorkloadAdapter,
} from './adapter';
import { isPastWalltime, requestedDeadline } from './deadlines';
import type { Demand, PodSet } from './demand';
import { membershipOf, membershipText, podSetNameOf } from './group-member';
import {
  assignedNode,
  belongsToGrant,
  isServicePod,
  OF_PLAIN_PODS,
  parseJobid,
  releaseOperations,
  ungated,
} from './pod';
import {
  cannotStart,
  earlierDeadline,
  endOfPods,
  placedDeadline,
  podWalltimeEnd,
  unstartedEnd,
} from './pod-deadlines';
import { failureOf, wasCancelled } from './pod-end';
import { groupEnd, ownMembers, type Places, POD_GROUP, type PodGroup, placesOf } from './pod-group';
import { succeededNodes } from './succeeded-nodes';

/** Seconds that a controller has to make a pod again before a group without it has ended. */
export const REPLACEMENT_SECONDS = 10;

export const groupAdapter: WorkloadAdapter<PodGroup> = {
  ...OF_PLAIN_PODS,
  kind: POD_GROUP,
  apiVersion: 'v1',
  // No object has it: what is read and written is its pods.
  path: (namespace) => podPath(namespace),
  membersOf: ({ members }) => members,
  marksPods: true,
  isSuspended: (group) => {
    const { live, succeeded, failed, joining } = placesOf(group);
    // Also one that can be no group: it waits as any other that cannot be read.
    return live.length === 0 && (joining.length > 0 || succeeded.length + failed.length === 0);
  },
  gates: (group) => {
    const { live, joining } = placesOf(group);
    return foreignGatesOf([...live, ...joining]);
  },
  isReleasedOnto: (group, { jobid }) => placesOf(group).live.every((pod) => belongsToGrant(pod, jobid)),
  isSuspendable: (group) => {
    const { live, joining } = placesOf(group);
    return [...live, ...joining].every((pod) => controllerOf(pod) !== undefined);
  },
  isLarge: () => false,
  demand: demandOf,
  podSetOf: (_group, pod) => podSetNameOf(pod),
  outcome: (group, pods, now, row) => outcomeOf(pods.length === 0 ? group : withPods(group, pods), now, row),
  finishedNodes: (group, row, pods) => finishedNodes(row, withPods(group, pods)),
  podsToPlace: (group, pods, row, now) => podsToPlace(withPods(group, pods), row, now),
  placePatch: (group, row, pod, node, now) =>
    releaseOperations(pod, node, placedDeadline(pod, row, now), marksOf(group, row, pod)),
  earlierPlacePatch: (group, row, pod, node, now) => {
    const deadline = placedDeadline(pod, row, now);
    return deadline && releaseOperations(pod, node, earlierDeadline(deadline), marksOf(group, row, pod));
  },
  placedPod: (group, row, pod, node) => {
    const placed = ungated(pod, node);
    const annotations = { ...placed.metadata.annotations, ...marksOf(group, row, pod) };
    return { ...placed, metadata: { ...placed.metadata, annotations } };
  },
  walltimeEnd: walltimeEndOf,
  releasePatch: () => noObject(),
  earlierReleasePatch: () => undefined,
  handOverPatch: () => noObject(),
  recordedGrant: ({ members }) => recordedGrant(members),
};

/** Each pod of the grant has a deadline of its own. Without the one that cannot start, the others are of no use. */
function walltimeEndOf({ members }: PodGroup, row: WorkloadRow, now: number): WalltimeEnd {
  const own = members.filter((pod) => belongsToGrant(pod, row.jobid));
  const isStuck = row.startedAt === null && own.some(cannotStart);
  return endOfPods(own, (pod) => (isStuck ? unstartedEnd(pod, now) : podWalltimeEnd(pod, row, now)));
}

/** By these every leader knows whose place the pod has. */
function marksOf({ metadata: { uid } }: PodGroup, { jobid }: WorkloadRow, pod: Pod): Record<string, string> {
  const membership = { uid, set: podSetNameOf(pod) };
  return { [GROUP_MEMBER_ANNOTATION]: membershipText(membership), [JOBID_ANNOTATION]: `${jobid}` };
}

/** The group with these of its pods. */
function withPods(group: PodGroup, pods: readonly Pod[]): PodGroup {
  return { ...group, members: ownMembers(pods, group.metadata) };
}

function noObject(): never {
  throw new FluxqError('FLUXQ_GROUP', 'has no object that could be written', {
    remedy: 'report this as a bug',
  });
}

function demandOf(group: PodGroup): Demand {
  const { metadata, members } = group;
  const places = placesOf(group);
  if (places.problem !== undefined)
    throw new FluxqError('FLUXQ_GROUP', places.problem, {
      field: `group ${metadata.name}`,
      remedy: 'correct its pods, or delete them and create them again',
    });
  const counted = [...places.live, ...places.joining];
  const pods = counted.length === 0 ? members : counted;
  const [first, ...others] = podSetsIn(pods).map(podSetOf);
  const missing = incompleteText(places);
  return {
    podSets: [first!, ...others],
    deadlineSeconds: pods.map(requestedDeadline).find((seconds) => seconds !== undefined),
    isService: pods.some(isServicePod),
    priority: pods[0]?.spec.priority,
    ...(missing !== undefined && { incomplete: missing }),
    ...(groupAdapter.isSuspendable(group) ? {} : { isImmovable: true }),
  };
}

interface SetOfPods {
  readonly name: string;
  readonly pods: readonly [Pod, ...Pod[]];
}

/** In the order of their first pods. */
function podSetsIn(pods: readonly Pod[]): readonly SetOfPods[] {
  const sets = Map.groupBy(pods, podSetNameOf);
  return [...sets].map(([name, own]) => ({ name, pods: own as [Pod, ...Pod[]] }));
}

function podSetOf({ name, pods }: SetOfPods): PodSet {
  const [first] = pods;
  const podName = first.metadata.name;
  return { name, count: pods.length, spec: first.spec, labels: commonLabels(pods), podName, field: 'spec' };
}

/** Rules of other pods select a pod set by labels: only what all its pods have is true of each. */
function commonLabels([first, ...others]: SetOfPods['pods']): Readonly<Record<string, string>> {
  const entries = Object.entries(first.metadata.labels ?? {});
  return Object.fromEntries(
    entries.filter(([key, value]) => others.every(({ metadata }) => metadata.labels?.[key] === value)),
  );
}

function incompleteText({ size, live, succeeded, joining, missing, refused }: Places): string | undefined {
  if (missing === 0) return undefined;
  const there = live.length + succeeded.length + joining.length;
  const [why] = refused.values();
  return `${there} of its ${size} pods ${there === 1 ? 'is' : 'are'} there${why === undefined ? '' : `; ${why}`}`;
}

/**
 * Succeeded once each place has had a pod that succeeded. A pod that failed or was deleted is waited for only where a
 * controller makes it again, and not beyond the walltime of the group.
 */
function outcomeOf(group: PodGroup, now: number, row: WorkloadRow | undefined): Outcome | undefined {
  const places = placesOf(group);
  const { size, live, succeeded, failed, joining } = places;
  if (live.length > 0) return undefined;
  // A StatefulSet deletes a pod that failed, and with it what says that its time was over.
  const isOver = hasExceeded(failed) || (joining.length > 0 && isPastWalltime(row, now));
  if (!isOver && succeeded.length + failed.length === 0) return undefined;
  const finishedAt = groupEnd(places, now);
  if (succeeded.length >= size) return { result: 'Succeeded', finishedAt };
  if (!isOver && (joining.length > 0 || mayBeReplaced(places, now))) return undefined;
  if (isOver) return { result: 'TimedOut', finishedAt, ...refusedEviction(row) };
  const eviction = row?.evictionReason ?? undefined;
  const causes = failed.filter((pod) => !wasCancelled(pod, eviction));
  if (causes.length > 0) return { result: 'Failed', finishedAt, message: failureOf(causes) };
  const gone = size - succeeded.length;
  return {
    result: 'Cancelled',
    finishedAt,
    message: eviction ?? `${gone} of its ${size} pods ${gone === 1 ? 'was' : 'were'} deleted`,
  };
}

/** Its pods got a deadline, because nobody could evict them (orphans.ts). */
function refusedEviction(row: WorkloadRow | undefined): Pick<Outcome, 'message'> {
  if (row === undefined || row.evictionReason === null) return {};
  return { message: `${row.evictionReason}, and a PodDisruptionBudget kept its pods from that for too long` };
}

function hasExceeded(failed: readonly Pod[]): boolean {
  return failed.some(({ status }) => status?.reason === 'DeadlineExceeded');
}

/** Whether a controller may make a pod again that has failed or is gone. */
function mayBeReplaced(places: Places, now: number): boolean {
  const { succeeded, failed } = places;
  const isMade = [...succeeded, ...failed].some((pod) => controllerOf(pod) !== undefined);
  return isMade && now < groupEnd(places, now) + REPLACEMENT_SECONDS;
}

/** Nodes whose pods have all succeeded: a pod that failed there may be made again. */
function finishedNodes(row: WorkloadRow, group: PodGroup): readonly string[] {
  const { live, succeeded } = placesOf(group);
  return succeededNodes(row, { succeeded: succeeded.filter((pod) => belongsToGrant(pod, row.jobid)), live });
}

/** Gated pods for which their group has a place. Nobody starts beyond the walltime of the others. */
function podsToPlace(group: PodGroup, row: WorkloadRow, now: number): readonly Pod[] {
  const { joining, failed } = placesOf(group);
  return hasExceeded(failed) || isPastWalltime(row, now) ? [] : joining;
}

/** The grant of the pods that were released last. */
function recordedGrant(members: readonly Pod[]): RecordedGrant | undefined {
  const released = members.filter((pod) => membershipOf(pod) !== undefined);
  const jobids = released.map(({ metadata }) => parseJobid(metadata.annotations?.[JOBID_ANNOTATION]));
  const jobid = Math.max(0, ...jobids);
  const own = released.filter((pod) => belongsToGrant(pod, jobid));
  const live = own.filter((pod) => !isTerminal(pod));
  // Units of pods that have ended are free, unless all have.
  const placement = new Map<string, { pods: number; readonly podSets: Record<string, number> }>();
  for (const pod of live.length === 0 ? own : live) {
    const node = assignedNode(pod);
    if (node === undefined) return undefined;
    const part = placement.get(node) ?? { pods: 0, podSets: {} };
    placement.set(node, part);
    part.pods++;
    const set = podSetNameOf(pod);
    part.podSets[set] = (part.podSets[set] ?? 0) + 1;
  }
  if (placement.size === 0) return undefined;
  return { jobid, placement: [...placement].map(([node, part]): PlacedSets => ({ node, ...part })) };
}
