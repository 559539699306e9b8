import type { NodePods } from '../jobspec/pods-per-node';
import type { Job, KubernetesObject, Pod } from '../kubernetes/types';
import type { Result, WorkloadRow } from '../queue/workload';
import type { AllocatedNode } from '../resources/types';
import type { Demand } from './demand';

/** Which pods of a workload get a replacement: those that have ended, or also those that were asked to end. */
export type PodReplacementPolicy = NonNullable<Job['spec']['podReplacementPolicy']>;

/** What the queue needs to know about one kind of workload. */
export interface WorkloadAdapter<T extends KubernetesObject = KubernetesObject> {
  readonly kind: string;
  readonly apiVersion: string;
  /** API path of one object of this kind. */
  path(namespace: string, name: string): string;
  /** The pods that are the workload, of a kind without an object of its own: what is written of it is written of each of them. */
  membersOf(object: T): readonly Pod[] | undefined;
  /** Whether the patch that places a pod also notes the grant in it: the pods say then who has a place. */
  readonly marksPods: boolean;
  /** Whether its pods are there before it is granted anything: the apiserver has stored them as they will run. */
  readonly podsExist: boolean;
  /** Whether the object is suspended (Job) or gated (Pod) and not finished. Only such an object enters the queue. */
  isSuspended(object: T): boolean;
  /** Whether the object has started without a grant, so that its pods exist and wait (staged.ts). */
  isStaged(object: T): boolean;
  /** The scheduling gates of other controllers that keep the workload from a grant. `pods` are those that exist. */
  gates(object: T, pods: readonly Pod[]): readonly string[];
  /** The patch after which the pods of a waiting object exist and wait; undefined if there is nothing to do. */
  stagePatch(object: T, row: WorkloadRow): Patch | undefined;
  /** Whether Kubernetes accepts the release patch in the object's current state. Only valid for a suspended object. */
  canRelease(object: T): boolean;
  /**
   * The patch of its status that removes the start of an object that is suspended and has run, after which Kubernetes accepts the
   * release patch; undefined if there is none, or Kubernetes has not seen the suspension yet.
   */
  startTimePatch(object: T): Patch | undefined;
  /** Whether the object was released onto exactly this allocation. Only valid for an object that is not suspended. */
  isReleasedOnto(object: T, row: WorkloadRow): boolean;
  /** Whether the object can be suspended again after its release, so that it can be evicted. */
  isSuspendable(object: T): boolean;
  /** Whether each write of the object is expensive, because it is much larger than ordinary ones. */
  isLarge(object: T): boolean;
  /** The pods that start together, and how long they may run. With 0 pods there is nothing to schedule. */
  demand(object: T): Demand;
  /**
   * The first pod of a pod set as the controller of the kind makes it, for a dry run; undefined if its pods exist before their grant.
   * @param object as the apiserver has it: the watch keeps less
   */
  samplePod(object: KubernetesObject, set: string): object | undefined;
  /** The name of the pod set of one of its pods. */
  podSetOf(object: T, pod: Pod): string;
  /**
   * The result, once the workload has finished and none of its pods can run again. `now` is in Unix seconds.
   * @param row @default - not known when its time is over
   */
  outcome(object: T, pods: readonly Pod[], now: number, row?: WorkloadRow): Outcome | undefined;
  /** Nodes of the allocation on which no pod of this workload will run again. */
  finishedNodes(object: T, row: WorkloadRow, pods: readonly Pod[]): readonly string[];
  /**
   * Whether its pods are of use only together: if one of them cannot run, all are evicted and start again. The pods of an
   * array that run stay where they are.
   */
  isGang(object: T): boolean;
  /** Nodes that no pod of the workload uses, and to which no pod of it that is still to come is pinned. */
  idleNodes(object: T, row: WorkloadRow, pods: readonly Pod[]): readonly string[];
  /**
   * How many pods can still run at once on each granted node; undefined if the workload may need all that it was granted. An
   * array needs fewer once its user lowers its parallelism.
   */
  neededPods(object: T, row: WorkloadRow, pods: readonly Pod[]): ReadonlyMap<string, number> | undefined;
  /** The number of pods that the released object should have and that do not exist yet, of those granted together. */
  missingPods(object: T, row: WorkloadRow, pods: readonly Pod[]): number;
  /** Pods to come that admission pins to each node: gated pods do not get their slots. */
  awaitedPods(object: T, row: WorkloadRow, pods: readonly Pod[]): ReadonlyMap<string, number>;
  /** The number of pods that are not over by the object's own count, and that the watch does not show yet. */
  unseenPods(object: T, pods: readonly Pod[]): number;
  /** The gated pods of a released object that may get a slot of its grant. `now` is in Unix seconds. */
  podsToPlace(object: T, pods: readonly Pod[], row: WorkloadRow, now: number): readonly Pod[];
  /** Gated pods that find no place of their pod set because they ask for more than was granted for it, although one is free. */
  largerPods(object: T, row: WorkloadRow, pods: readonly Pod[]): readonly LargerPod[];
  /** Gated pods of which the grant has no place any more, while nothing of it lives that would leave one. */
  placelessPods(object: T, row: WorkloadRow, pods: readonly Pod[]): readonly Pod[];
  /** The patch that gives a gated pod its node. `now` is in Unix seconds. */
  placePatch(object: T, row: WorkloadRow, pod: Pod, node: string, now: number): readonly JsonPatchOperation[];
  /** The same without what the guard of an earlier version refuses; undefined: it refuses nothing of it. */
  earlierPlacePatch(
    object: T,
    row: WorkloadRow,
    pod: Pod,
    node: string,
    now: number,
  ): readonly JsonPatchOperation[] | undefined;
  /** The pod as that patch leaves it. */
  placedPod(object: T, row: WorkloadRow, pod: Pod, node: string): Pod;
  /** The single patch that releases the object onto its allocated nodes. */
  releasePatch(object: T, row: WorkloadRow): Patch;
  /** The same without what the guard of an earlier version refuses; undefined: it refuses nothing of it. */
  earlierReleasePatch(object: T, row: WorkloadRow): Patch | undefined;
  /** Which pods the released object replaces; undefined for a kind that replaces none, and as long as the watch is behind the release. */
  replacementPolicy(object: T, row: WorkloadRow): PodReplacementPolicy | undefined;
  /** Whether the object says that its user had the default policy, and that the queue wrote another one. */
  isReplacementNoted(object: T): boolean;
  /** What enforces the walltime of an object by its start, and when to look again. `now` is in Unix seconds. */
  walltimeEnd(object: T, row: WorkloadRow, now: number): WalltimeEnd;
  /** The patch that suspends the object; undefined if it is suspended or its kind is not suspendable. */
  suspendPatch(object: T): Patch | undefined;
  /**
   * The single patch by which the object is none of the queue any more.
   * @param starts whether it also starts: a Job that its user suspended stays so
   */
  handOverPatch(object: T, starts: boolean): Patch;
  /** The grant that the object itself carries, or its pods; undefined if it is suspended or carries none. */
  recordedGrant(object: T, pods: readonly Pod[]): RecordedGrant | undefined;
}

/** A queued or granted workload as one reconcile sees it. */
export interface ActiveWorkload {
  readonly object: KubernetesObject;
  /** The object as its user has it, which counts for its next grant (as-granted.ts). @default - object */
  readonly live?: KubernetesObject;
  readonly adapter: WorkloadAdapter;
  readonly row: WorkloadRow;
  readonly pods: readonly Pod[];
}

/** A pod that is larger than its template, as a webhook may have made it. */
export interface LargerPod {
  readonly pod: Pod;
  /** As a clause. */
  readonly excess: string;
}

/** The grant that a released object carries. It restores the queue after the database lost rows. */
export interface RecordedGrant {
  /** Undefined if this kind does not carry a job id, 0 if the object carries no valid one. */
  readonly jobid: number | undefined;
  readonly placement: readonly PlacedSets[];
  /** Unix seconds at which the object was released onto it. @default - only its pods tell */
  readonly releasedAt?: number | undefined;
}

/** The pods of a workload on one node. */
export interface PlacedSets extends NodePods {
  /** How many of them are of each pod set, of a gang of several. @default - all of them are of one */
  readonly podSets?: Readonly<Record<string, number>>;
}

export interface Outcome {
  readonly result: Result;
  /** What ended it, as a clause, if that is known and is no success. */
  readonly message?: string | undefined;
  /** Unix seconds. */
  readonly finishedAt: number;
}

export interface WalltimeEnd {
  /** @default - nothing is due */
  readonly patch?: Patch;
  /** Of a workload that is its pods, for each of which something is due. @default - for none */
  readonly ofPods?: readonly PodPatch[];
  /** Milliseconds. @default - not before the next change */
  readonly after?: number;
}

interface PodPatch {
  readonly pod: Pod;
  readonly patch: Patch;
}

export type Patch =
  | { readonly type: 'merge'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] };

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** Whether the pod is Succeeded or Failed: its containers never run again. */
export function isTerminal(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Unix seconds of an RFC 3339 time. */
export function secondsOf(time: string): number {
  return Date.parse(time) / 1000;
}

/** The init containers, sidecars and containers of a pod. */
export function containerStatusesOf({ status }: Pick<Pod, 'status'>): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

/**
 * Unix seconds at which the first container of these pods started, also an init container: it uses the units of the grant.
 * `fallback` if nothing reports it. The start time of a pod is before its image is pulled.
 */
export function firstStartTime(pods: readonly Pod[], fallback: number): number {
  const times = pods.flatMap((pod) => {
    const starts = containerStatusesOf(pod).map(
      ({ state }) => state?.running?.startedAt ?? state?.terminated?.startedAt ?? '',
    );
    const known = starts.map(secondsOf).filter(isKnown);
    return known.length > 0 ? known : [secondsOf(pod.status?.startTime ?? '')].filter(isKnown);
  });
  return times.length === 0 ? fallback : Math.min(...times);
}

/** Unix seconds at which the last container of these pods finished; `fallback` if no container reports it. */
export function lastFinishTime(pods: readonly Pod[], fallback: number): number {
  const times = pods
    .flatMap(containerStatusesOf)
    .map(({ state }) => secondsOf(state?.terminated?.finishedAt ?? ''))
    .filter(isKnown);
  return times.length === 0 ? fallback : Math.max(...times);
}

/** The kubelet reports the year 1970 for a container that could not be started. */
export function isKnown(seconds: number): boolean {
  return seconds > 0;
}

/**
 * The activeDeadlineSeconds of a release. Kubernetes enforces the walltime by it, so that the plan holds: the walltime
 * in whole seconds, or the user's own deadline if that is shorter.
 */
export function deadlineOf({ walltime }: Pick<WorkloadRow, 'walltime'>, users: number | undefined): number {
  return Math.min(Math.ceil(walltime), users ?? Number.POSITIVE_INFINITY);
}

/** Names of the nodes of an allocation, in its order. */
export function namesOf(nodes: readonly AllocatedNode[]): readonly string[] {
  return nodes.map(({ name }) => name);
}

/** Allocated nodes that no longer exist. */
export function lostNodes(
  { allocation }: Pick<WorkloadRow, 'allocation'>,
  nodeExists: (name: string) => boolean,
): readonly string[] {
  return namesOf(allocation?.nodes ?? []).filter((name) => !nodeExists(name));
}
