import type { NodePods } from '../jobspec/pods-per-node';
import type { KubernetesObject, Pod, PodSpec } from '../kubernetes/types';
import type { Result, WorkloadRow } from '../queue/workload';
import type { AllocatedNode } from '../resources/types';

export interface WorkloadAdapter<T extends KubernetesObject = KubernetesObject> {
  readonly kind: string;
  readonly apiVersion: string;
  /** Path of one object of this kind. */
  path(namespace: string, name: string): string;
  /** Whether admission holds it back and nobody has released it yet: only such a workload enters the queue. */
  isHeldBack(object: T): boolean;
  /** Whether Kubernetes accepts its release as it is now; only of one that is held back. */
  canRelease(object: T): boolean;
  /** Whether it is released onto exactly this allocation; only of one that is not held back. */
  isReleasedOnto(object: T, row: WorkloadRow): boolean;
  /** Whether `recall` can ever take it back. */
  readonly recallable: boolean;
  /** Pods that run at once, and what each of them asks for. 0 pods: nothing to schedule. */
  demand(object: T): Demand;
  /** The result, once it is over and no pod of it can run again. `now` in Unix seconds. */
  outcome(object: T, pods: readonly Pod[], now: number): Outcome | undefined;
  /** Nodes of the allocation on which nothing of it will run again. */
  doneOn(object: T, row: WorkloadRow, pods: readonly Pod[]): readonly string[];
  /** The one patch that releases it onto these nodes. */
  release(object: T, row: WorkloadRow): Patch;
  /** The patch that takes it back from its nodes; undefined when the kind can't be taken back. */
  recall(object: T): Patch | undefined;
  /** What it was released with, as it says itself; undefined while it is held back, or when it says nothing. */
  grantOf(object: T): WrittenGrant | undefined;
}

/** The grant that a released workload carries: what is known of it where the queue has forgotten. */
export interface WrittenGrant {
  /** Undefined: the kind does not carry it. 0: it was written before there were any. */
  readonly jobid: number | undefined;
  readonly places: readonly NodePods[];
}

export interface Demand {
  readonly pods: number;
  readonly spec: PodSpec;
  /** Seconds after which Kubernetes itself ends it because its user says so; the walltime when they gave no other. */
  readonly deadlineSeconds: number | undefined;
  /** As the apiserver worked it out; undefined where it does so only for the pods to come. */
  readonly priority: number | undefined;
}

export interface Outcome {
  readonly result: Result;
  /** Unix seconds. */
  readonly finishedAt: number;
}

type Patch =
  | { readonly type: 'merge'; readonly body: Readonly<Record<string, unknown>> }
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] };

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** Succeeded or Failed: its containers run no more. */
export function isTerminal(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Unix seconds of an RFC 3339 time. */
export function secondsOf(time: string): number {
  return Date.parse(time) / 1000;
}

/** When the last container of these pods ended; `fallback` when none says so. */
export function lastEnd(pods: readonly Pod[], fallback: number): number {
  const ends = pods.flatMap((pod) =>
    (pod.status?.containerStatuses ?? []).flatMap(({ state }) =>
      state?.terminated?.finishedAt === undefined ? [] : [secondsOf(state.terminated.finishedAt)],
    ),
  );
  return ends.length === 0 ? fallback : Math.max(...ends);
}

/**
 * What Kubernetes is to end it after, so that its plan holds: its walltime in whole seconds, unless its user's own
 * deadline comes sooner.
 */
export function deadlineOf({ walltime }: Pick<WorkloadRow, 'walltime'>, users: number | undefined): number {
  return Math.min(Math.ceil(walltime), users ?? Number.POSITIVE_INFINITY);
}

/** Names of the nodes of an allocation, in its order. */
export function namesOf(nodes: readonly AllocatedNode[]): readonly string[] {
  return nodes.map(({ name }) => name);
}

/** Nodes of its allocation that are not there any more. */
export function lostNodes(
  { allocation }: Pick<WorkloadRow, 'allocation'>,
  nodeExists: (name: string) => boolean,
): readonly string[] {
  return namesOf(allocation?.nodes ?? []).filter((name) => !nodeExists(name));
}
