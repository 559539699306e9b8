/**
 * Groups of plain pods (`fluxqueue/group`): pods of one namespace with one name are one workload, whoever makes them. The
 * group has no object in Kubernetes. It is assembled from its pods, and what the queue would write of it is written of each of
 * them. Pure.
 */
import { GROUP, GROUP_SIZE, HOLD, USER_ANNOTATION } from '../../constructs/api/labels';
import { MOST_POD_SETS } from '../../constructs/api/workload-kinds';
import { askOf } from '../jobspec/jobspec';
import { podSetsOf } from '../jobspec/pod-sets';
import type { KubernetesObject, ObjectMeta, Pod } from '../kubernetes/types';
import type { GroupRow } from '../shared/pod-facts';
import type { WorkloadKey } from '../shared/workload-key';
import { isKnown, isTerminal, lastFinishTime, secondsOf } from './adapter';
import {
  groupSizeOf,
  membershipOf,
  newGroupUid,
  podSetNameOf,
  type SharedTerm,
  sharedTerms,
  userOf,
} from './group-member';
import { isGated } from './pod';
import { hasSucceeded } from './pod-end';
import { rowUserOf } from './row-user';
import { settingOf } from './settings';
import { tally } from './tally';

export const POD_GROUP = 'PodGroup';

export interface PodGroup extends KubernetesObject {
  /** Its pods: those that were released, and those that wait for it. */
  readonly members: readonly Pod[];
  /** Granted pods by pod set. @default - it has no grant, or one for equal pods */
  readonly granted?: ReadonlyMap<string, number>;
}

/** Who has a place in a group, and who waits for one. */
export interface Places {
  /** Pods of the whole group. */
  readonly size: number;
  /** Released pods that have not ended, also those that are being deleted. */
  readonly live: readonly Pod[];
  readonly succeeded: readonly Pod[];
  readonly failed: readonly Pod[];
  /** Gated pods for which there is a place, the oldest first. */
  readonly joining: readonly Pod[];
  /** The other gated pods, each with a sentence. */
  readonly refused: ReadonlyMap<Pod, string>;
  /** Places that no pod has and no pod waits for. */
  readonly missing: number;
  /** Why its pods can be no group, as a clause. @default - they can */
  readonly problem?: string | undefined;
}

/**
 * The group as its pods have it now; undefined if none is there. A row is about the pods of its user alone: others would have its
 * place in the queue, and be charged to it.
 * @param pods that name the group, of its namespace
 * @param row its row, if it has one that has not ended
 */
export function assembleGroup(
  { namespace, name }: Pick<WorkloadKey, 'namespace' | 'name'>,
  pods: readonly Pod[],
  row: GroupRow | undefined,
): PodGroup | undefined {
  const all = [...pods].sort(byAge);
  const uid = row?.uid ?? groupUid(all);
  const isOwn = ({ metadata }: Pod) => row === undefined || rowUserOf(metadata) === row.user;
  const found = all.filter((pod) => isOfGroup(pod, uid));
  const reference = found.find((pod) => membershipOf(pod) !== undefined) ?? found.find(isOwn);
  if (uid === undefined || reference === undefined) return undefined;
  const { labels = {}, annotations = {} } = reference.metadata;
  const members = ownMembers(found, { uid, annotations });
  const [first] = members as [Pod, ...Pod[]];
  const granted = grantedSets(row);
  const places = placesOf({ members, ...(granted && { granted }) });
  const isHeld = places.joining.some(({ metadata }) => settingOf(metadata, HOLD) === 'true');
  return {
    metadata: {
      namespace,
      name,
      uid,
      resourceVersion: '',
      creationTimestamp: first.metadata.creationTimestamp,
      labels: without(labels),
      annotations: { ...without(annotations), ...(isHeld && { [HOLD]: 'true' }) },
    },
    members,
    ...(granted && { granted }),
  };
}

/** All pods of a pod set may be gone: what their controller makes again has their places all the same. */
function grantedSets(row: GroupRow | undefined): PodGroup['granted'] {
  if (row === undefined || row.allocation === null) return undefined;
  const sets = podSetsOf(row.jobspec);
  return sets && new Map(sets.map(({ name, jobspec }) => [name, askOf(jobspec).pods]));
}

/** The object as a group of pods; undefined for one of another kind. */
export function asGroup(object: KubernetesObject): PodGroup | undefined {
  return 'members' in object ? (object as PodGroup) : undefined;
}

type GroupMetadata = Pick<ObjectMeta, 'uid' | 'annotations'>;

const ordered = new WeakMap<readonly Pod[], GroupMetadata & { readonly members: readonly Pod[] }>();

/** The pods of this group in one order: those of its user before others, the oldest first. One reconcile asks for it often. */
export function ownMembers(pods: readonly Pod[], group: GroupMetadata): readonly Pod[] {
  const known = ordered.get(pods);
  if (known?.uid === group.uid && known.annotations === group.annotations) return known.members;
  const members = orderMembers(pods, group);
  ordered.set(pods, { ...group, members });
  return members;
}

function orderMembers(pods: readonly Pod[], { uid, annotations }: GroupMetadata): readonly Pod[] {
  const user = annotations?.[USER_ANNOTATION] ?? '';
  const members = pods.filter((pod) => isOfGroup(pod, uid)).sort(byAge);
  const isOwn = ({ metadata }: Pod) => userOf(metadata) === user;
  return [...members.filter(isOwn), ...members.filter((pod) => !isOwn(pod))];
}

/** Whether the pod was released with the group of this uid, or waits: then it belongs to the one that there is. */
export function isOfGroup(pod: Pod, uid: string | undefined): boolean {
  const membership = membershipOf(pod);
  return membership === undefined ? isGated(pod) : membership.uid === uid;
}

/** Of a group without a row: the one whose pods run, the one that waits, or the one that ended last. */
function groupUid(pods: readonly Pod[]): string | undefined {
  const released = pods.filter((pod) => membershipOf(pod) !== undefined);
  const live = released.find((pod) => !isTerminal(pod));
  if (live !== undefined) return membershipOf(live)!.uid;
  const first = pods.find(isGated);
  if (first !== undefined) return newGroupUid(first);
  const last = released.at(-1);
  return last && membershipOf(last)!.uid;
}

/** The settings of the members are its own, but for those that make them its members. */
function without(settings: Readonly<Record<string, string>>): Record<string, string> {
  const { [GROUP]: _, [GROUP_SIZE]: __, [HOLD]: ___, ...own } = settings;
  return own;
}

/** A released pod has what was granted, so others are compared with it. */
function referenceOf(members: readonly Pod[]): Pod {
  return members.find((pod) => membershipOf(pod) !== undefined) ?? members[0]!;
}

const known = new WeakMap<
  readonly Pod[],
  { readonly granted: PodGroup['granted']; readonly places: Places }
>();

/** @param group its members are in the order of `ownMembers` */
export function placesOf(group: Pick<PodGroup, 'members' | 'granted'>): Places {
  const { members, granted } = group;
  const last = known.get(members);
  if (last !== undefined && last.granted === granted) return last.places;
  const places = findPlaces(group);
  known.set(members, { granted, places });
  return places;
}

function findPlaces({ members, granted }: Pick<PodGroup, 'members' | 'granted'>): Places {
  const released = members.filter((pod) => membershipOf(pod) !== undefined);
  const waiting = members.filter((pod) => membershipOf(pod) === undefined && !isLeaving(pod));
  const reference = referenceOf(members);
  const size = groupSizeOf(reference) ?? 0;
  const live = released.filter((pod) => !isTerminal(pod));
  const ended = released.filter(isTerminal);
  const [succeeded, failed] = [ended.filter(hasSucceeded), ended.filter((pod) => !hasSucceeded(pod))];
  const refused = new Map<Pod, string>();
  const differs = (pod: Pod) => differenceOf(pod, reference) ?? newSetIn(pod, released, granted);
  const alike = waiting.filter((pod) => {
    const difference = differs(pod);
    if (difference !== undefined) refused.set(pod, difference);
    return difference === undefined;
  });
  const free = Math.max(0, size - live.length - succeeded.length);
  const taken = tally([...live, ...succeeded].map(podSetNameOf));
  const joining: Pod[] = [];
  for (const pod of alike) {
    const set = podSetNameOf(pod);
    const count = taken.get(set) ?? 0;
    const isFree = released.length === 0 || count < (granted?.get(set) ?? size);
    if (joining.length >= free || !isFree) refused.set(pod, beyondText(pod, size));
    else {
      taken.set(set, count + 1);
      joining.push(pod);
    }
  }
  return {
    ...{ size, live, succeeded, failed, joining, refused },
    missing: free - joining.length,
    problem: released.length > 0 ? undefined : problemOf(reference, joining),
  };
}

/**
 * A pod that differs from the first one is left out, so it keeps nobody's group from starting. The first pod of a name is that
 * of the group, whoever made it: a namespace has one group of a name, and who may create pods in it shares its names.
 */
function problemOf(reference: Pod, joining: readonly Pod[]): string | undefined {
  if (groupSizeOf(reference) === undefined)
    return `pod ${reference.metadata.name} has no valid ${GROUP_SIZE}: the number of pods of the whole group`;
  const sets = new Set(joining.map(podSetNameOf)).size;
  return sets > MOST_POD_SETS
    ? `its pods ask for ${sets} different things: a group has at most ${MOST_POD_SETS} kinds of pods`
    : undefined;
}

/** What the pod has otherwise than the pod with which the group began. */
function differenceOf(pod: Pod, reference: Pod): string | undefined {
  if (pod === reference) return undefined;
  const others = sharedTerms(reference);
  const i = sharedTerms(pod).findIndex((term, at) => term.value !== others[at]!.value);
  if (i < 0) return undefined;
  return differenceText([pod, sharedTerms(pod)[i]!], [reference, others[i]!]);
}

function differenceText([pod, own]: [Pod, SharedTerm], [other, theirs]: [Pod, SharedTerm]): string {
  const said = ({ value }: SharedTerm) => (value === '' ? 'none' : value);
  return (
    `pod ${pod.metadata.name} is left out of the group: its ${own.name} is ${said(own)}, and that of pod ` +
    `${other.metadata.name} ${said(theirs)}; all pods of a group have the same user and settings`
  );
}

/** A running group has places for the pods that it was granted for, and for no others. */
function newSetIn(pod: Pod, released: readonly Pod[], granted: PodGroup['granted']): string | undefined {
  if (released.length === 0) return undefined;
  const set = podSetNameOf(pod);
  if (granted?.has(set) === true || released.some((other) => podSetNameOf(other) === set)) return undefined;
  return `pod ${pod.metadata.name} is left out of the group: it asks for something else than the pods that were started`;
}

function beyondText({ metadata }: Pod, size: number): string {
  return `pod ${metadata.name} is beyond the ${size} pods of its group: it waits until a place in the group is free`;
}

function isLeaving({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

const ages = new WeakMap<Pod, number>();

/** Reading a time costs more than all else of a comparison, and a group of thousands is ordered for each change of a pod. */
function createdAt(pod: Pod): number {
  const known = ages.get(pod) ?? secondsOf(pod.metadata.creationTimestamp);
  ages.set(pod, known);
  return known;
}

/** The oldest first; of one second by name, so that every leader has one order, and users can tell it. */
export function byAge(a: Pod, b: Pod): number {
  return createdAt(a) - createdAt(b) || (a.metadata.name < b.metadata.name ? -1 : 1);
}

/** Unix seconds at which the last of its pods ended. */
export function groupEnd({ succeeded, failed }: Places, now: number): number {
  const ended = [...succeeded, ...failed];
  return lastFinishTime(ended, lastStart(ended) ?? now);
}

/** A pod that the kubelet refuses, or whose node is lost, has no containers that could say when it ended. */
function lastStart(pods: readonly Pod[]): number | undefined {
  const times = pods.map(({ status }) => secondsOf(status?.startTime ?? '')).filter(isKnown);
  return times.length === 0 ? undefined : Math.max(...times);
}
