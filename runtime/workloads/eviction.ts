/**
 * Evicts workloads from their nodes: commits the reason, suspends the object,
 * waits until its pods are gone, and requeues the workload. An eviction
 * continues after a crash, because its reason is either committed in the row
 * or still visible in the cluster (a suspension by the user).
 */

import { messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import type { EventNote } from '../kubernetes/events';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch } from '../kubernetes/writes';
import type { QueueSettings } from '../queue/settings';
import {
  ownRequeues,
  type Requeue,
  type RequeueCause,
  type SubmissionUpdate,
  type WorkloadRow,
} from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { LONGEST_BACKOFF_SECONDS } from '../scheduler/pass/eligibility';
import { dueEnd, terminationOf } from '../scheduler/pass/planned-end';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import { type ActiveWorkload, isTerminal, lostNodes, type WorkloadAdapter } from './adapter';
import { ifReadable, podsOf } from './demand';
import { isAnswer } from './earlier-guard';
import { listNames } from './events';
import { evictPods } from './evict-pods';
import { REPLACEMENT_SECONDS } from './group-adapter';
import { membershipOf } from './group-member';
import { isLive, type NodeView } from './live-pods';
import { assignedNode, belongsToGrant, isGated } from './pod';
import { asGroup, placesOf } from './pod-group';
import { resetStartTime } from './start-time';
import type { SubmissionBuilder } from './submission';

export interface EvictionOptions {
  readonly client: KubernetesClient;
  readonly workloadCache: WorkloadCache;
  /** Knows what a user changed while the workload was granted. */
  readonly submissionBuilder: Pick<SubmissionBuilder, 'changeOf' | 'asksForGrant'>;
  readonly nodes: NodeView;
  /** The requeue limit and backoff of a queue. */
  readonly requeueOf: (queue: string) => QueueSettings['requeue'];
  /** Called when the units of a job are free again. */
  readonly onFreed: (jobid: number) => void;
  /** Called when the queue has changed in a way that the next scheduling pass should see. */
  readonly onQueueChanged: () => void;
  /** Called when a grant ended before its workload. */
  readonly onRequeued: (cause: RequeueCause) => void;
  readonly recordEvent: (object: KubernetesObject, adapter: WorkloadAdapter, event: EventNote) => void;
  /** Seconds for which a workload avoids nodes on which its pods did not run. */
  readonly avoidSeconds: number;
  readonly logger: DecisionLogger;
  /** Unix seconds. */
  readonly now: () => number;
}

export interface EvictionReason {
  readonly cause: RequeueCause;
  /** The reason for the user, without its consequence: `node node-1 was lost`. */
  readonly message: string;
  /** Nodes that the workload avoids from now on. @default - none */
  readonly avoid?: readonly string[];
}

/** The cluster may be well again at any time. */
const LONGEST_CLUSTER_BACKOFF_SECONDS = 300;
/** Also where its nodes were held in vain for longer: a fault of the cluster may have been the cause. */
const LONGEST_BACKOFF_IN_VAIN_SECONDS = 600;

type RequeueTerms = Pick<Requeue, 'message' | 'notBefore' | 'reason'>;

export class Eviction {
  /** Job id -> generation of the object after its release. The watch lags behind while it shows an earlier one. */
  private readonly releasedGenerations = new Map<number, number>();

  /** Job id -> when all old pods of a group were gone, and new ones were missing; Unix seconds. */
  private readonly incompleteSince = new Map<number, number>();

  constructor(private readonly options: EvictionOptions) {}

  /**
   * Remembers the generation that the release patch returned. The generation that the release started from is not
   * enough: the user may have changed the suspended object in between.
   */
  recordRelease({ metadata }: Pick<KubernetesObject, 'metadata'>, { jobid }: WorkloadRow): void {
    this.releasedGenerations.set(jobid, metadata.generation ?? 0);
  }

  forget({ jobid }: WorkloadRow): void {
    this.releasedGenerations.delete(jobid);
    this.incompleteSince.delete(jobid);
  }

  /** Why the workload must leave its nodes; undefined if it may stay. */
  reasonFor(workload: ActiveWorkload): EvictionReason | undefined {
    const { object, adapter, row } = workload;
    // A workload that cannot be suspended again keeps its nodes until it ends.
    const isSuspendable = adapter.isSuspendable(object);
    if (!isSuspendable && !adapter.isSuspended(object)) return undefined;
    const requested = requestedEviction(row);
    if (requested !== undefined) return requested;
    const lost = lostNodes(row, this.options.nodes.exists);
    if (lost.length > 0 && !this.goesOnWithout(lost, workload))
      return { cause: 'cluster', message: lostMessage(lost) };
    // It would hold its nodes for nothing until its walltime.
    const wantsNone = () => ifReadable(() => podsOf(adapter.demand(object))) === 0;
    if (isSuspendable && row.releasedAt !== null && wantsNone())
      return { cause: 'suspended', message: 'its user wants no pods of it' };
    // Its spec was changed at the apiserver by whoever may, or the watch still shows it as it was before the release.
    const isSuspended = row.releasedAt !== null && adapter.isSuspended(object);
    if (adapter.membersOf(object) !== undefined) return isSuspended ? this.replacedAll(workload) : undefined;
    return isSuspended && isSuspendable
      ? { cause: 'suspended', message: 'its spec.suspend was set to true' }
      : undefined;
  }

  /** All pods of a group are gone, and others wait: they get its places if they ask for what it was granted. */
  private replacedAll({ object, adapter, row, pods }: ActiveWorkload): EvictionReason | undefined {
    if (pods.some((pod) => membershipOf(pod) !== undefined)) return undefined;
    if (this.options.submissionBuilder.asksForGrant(object, adapter, row)) return undefined;
    return { cause: 'suspended', message: 'all its pods are gone, and others wait in their place' };
  }

  /** Whether pods of an array run on other nodes than these, or will: between two tasks none may run for a moment. */
  private goesOnWithout(lost: readonly string[], { object, adapter, row, pods }: ActiveWorkload): boolean {
    if (adapter.isGang(object)) return false;
    const own = pods.filter((pod) => belongsToGrant(pod, row.jobid));
    // Its start may not be committed yet.
    if (row.startedAt === null && !own.some(({ status }) => status?.phase === 'Running')) return false;
    // A gated pod gets no other node than those that are left, and so does one that is still to come.
    const isOneLeft = lost.length < (row.allocation?.nodes.length ?? 0);
    const isElsewhere = (pod: Pod) => {
      const node = assignedNode(pod);
      const goesOn = !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined;
      return goesOn && (node === undefined ? isOneLeft : !lost.includes(node));
    };
    return own.some(isElsewhere) || (isOneLeft && adapter.missingPods(object, row, own) > 0);
  }

  /** Only patches the object. */
  async suspend({ object, adapter, row }: Omit<ActiveWorkload, 'pods'>): Promise<void> {
    const members = adapter.membersOf(object);
    if (members !== undefined) return evictPods(this.options.client, members);
    const patch = adapter.suspendPatch(object);
    if (patch !== undefined)
      await applyPatch(this.options.client, adapter.path(row.namespace, row.name), patch);
  }

  /** Does one step of an eviction. The next change of the object or its pods triggers the next step. */
  async evict(workload: ActiveWorkload, reason: EvictionReason): Promise<void> {
    const { object, adapter, pods } = workload;
    const row = await this.commit(workload.row, reason);
    if (row === undefined) return this.log(workload.row, 'evicting: the row has changed', reason);
    if (!adapter.isSuspended(object)) {
      this.log(row, 'evicting: suspending the object', reason);
      return this.suspend(workload);
    }
    if (this.isStale(object, row)) return this.log(row, 'evicting: waiting for the watch', reason);
    if (!adapter.canRelease(object)) return this.resetStartTime(workload);
    // The watch of the pods may lag behind that of the object, as if there were none.
    if (adapter.unseenPods(object, pods) > 0)
      return this.log(row, 'evicting: waiting for the watch of its pods', reason);
    if (
      pods.some((pod) => isLive(pod, this.options.nodes) || (!adapter.marksPods && mayBeUngated(pod, object)))
    )
      return this.log(row, 'evicting: waiting for the pods to terminate', reason);
    if (this.awaitsPods(object, row))
      return this.log(row, 'evicting: waiting for the pods to be made again', reason);
    const requeued = await this.requeue({ ...workload, row }, reason);
    if (requeued !== undefined)
      this.recordRequeued(object, adapter, this.requeueTerms(row, reason), reason.cause);
  }

  /** What comes after a refusal is not to wait for it: {@link retryOf} says when it is tried again. */
  private async resetStartTime(workload: ActiveWorkload): Promise<void> {
    try {
      await resetStartTime(this.options, workload);
    } catch (error) {
      if (!isAnswer(error)) throw error;
      const { logger } = this.options;
      logDecision(logger, workload.row, 'evicting: its start time stays', { error: messageOf(error) });
    }
  }

  /**
   * A group that waits with fewer pods is another one, as if its user had changed it: it would not count how often it failed.
   * Controllers make pods again within a second, or not at all.
   */
  private awaitsPods(object: KubernetesObject, { jobid }: WorkloadRow): boolean {
    const group = asGroup(object);
    if (group === undefined || placesOf(group).missing === 0) return false;
    const since = this.incompleteSince.get(jobid) ?? this.options.now();
    this.incompleteSince.set(jobid, since);
    return this.options.now() < since + REPLACEMENT_SECONDS;
  }

  /** Once the object is suspended, a failure is no longer visible. Undefined: the row holds no nodes any more. */
  async commit(row: WorkloadRow, reason: EvictionReason): Promise<WorkloadRow | undefined> {
    const { cause, message } = reason;
    if (row.evictionReason !== null || cause === 'preempted' || cause === 'suspended') return row;
    const [due, gone] = [dueEnd(row), Math.ceil(this.options.now()) + terminationOf(row)];
    // At the end of its walltime it is planned to be gone earlier than a whole grace period from now. Beyond that it is not gone yet.
    const end = due > this.options.now() ? Math.min(due, gone) : gone;
    const request = { uid: row.uid, cause, message, avoid: this.avoidedBy(reason), end };
    return (await this.options.workloadCache.requestEviction([request]))[0];
  }

  /** Until when the workload avoids the nodes on which it did not run, by their names. */
  avoidedBy({ avoid = [] }: EvictionReason): WorkloadRow['avoid'] {
    const until = this.options.now() + this.options.avoidSeconds;
    return Object.fromEntries(avoid.map((name) => [name, until]));
  }

  /**
   * Requeues the workload, with what its user changed while it was granted, and frees its units. Returns undefined if its row is in no
   * phase that allows it.
   */
  async requeue(
    { object, live = object, adapter, row }: Omit<ActiveWorkload, 'pods'>,
    reason: EvictionReason,
  ): Promise<WorkloadRow | undefined> {
    return this.takeBack(row, reason, this.options.submissionBuilder.changeOf(live, adapter, row));
  }

  /** @param change of what it asks for @default - it asks for what it was granted */
  async takeBack(
    row: WorkloadRow,
    reason: EvictionReason,
    change?: SubmissionUpdate,
  ): Promise<WorkloadRow | undefined> {
    const { cause } = reason;
    const request = { uid: row.uid, cause, ...this.requeueTerms(row, reason) };
    const requeued = await this.options.workloadCache.requeue(request, change);
    if (requeued === undefined) return undefined;
    this.log(row, 'requeued', reason);
    this.ended(row, cause);
    return requeued;
  }

  /** Tells of a workload that is evicted and comes back only if its user submits it again. */
  tellEnd({ object, adapter, row }: ActiveWorkload, message: string): void {
    this.log(row, 'not retried', { cause: 'failure', message });
    this.recordRequeued(object, adapter, { reason: 'RequeueLimit', message }, 'failure');
  }

  /** The grant of this row has ended, and its units are free. */
  private ended(row: WorkloadRow, cause: RequeueCause): void {
    const { onFreed, onQueueChanged, onRequeued } = this.options;
    this.forget(row);
    onFreed(row.jobid);
    onQueueChanged();
    onRequeued(cause);
  }

  /**
   * Only failures of its own count towards the limit, and only what failed backs off: a preempted or suspended workload did
   * not fail, nor did one that ran for longer than its backoff when the cluster took its nodes. Others would pass it meanwhile.
   */
  requeueTerms(row: WorkloadRow, { cause, message }: EvictionReason): RequeueTerms {
    if (cause === 'preempted' || cause === 'suspended') return { message: `${message}; requeued` };
    const { limit, backoffSeconds } = this.options.requeueOf(row.queue);
    const own = ownRequeues(row);
    if (cause === 'failure' && own >= limit)
      return {
        reason: 'RequeueLimit',
        message: `${message}; retried once an hour after ${countRequeues(own)}, edit the workload to retry now`,
        notBefore: this.options.now() + LONGEST_BACKOFF_SECONDS,
      };
    const [times, longest] =
      cause === 'failure'
        ? [own, LONGEST_BACKOFF_SECONDS]
        : [row.clusterRequeues, Math.max(backoffSeconds, LONGEST_CLUSTER_BACKOFF_SECONDS)];
    const held = cause === 'cluster' ? this.heldInVain(row) : 0;
    // Or a few that never start would hold the cluster in turn.
    const seconds = held > longest ? held : Math.min(longest, backoffSeconds * 2 ** times);
    const ran = row.startedAt === null ? 0 : this.options.now() - row.startedAt;
    if (cause === 'cluster' && ran > seconds) return { message: `${message}; requeued` };
    return {
      message: `${message}; requeued, retrying in ${seconds}s`,
      notBefore: this.options.now() + seconds,
    };
  }

  /** Seconds for which it had its nodes without a start. */
  private heldInVain({ startedAt, allocatedAt }: WorkloadRow): number {
    if (startedAt !== null || allocatedAt === null) return 0;
    return Math.min(LONGEST_BACKOFF_IN_VAIN_SECONDS, Math.ceil(this.options.now() - allocatedAt));
  }

  private recordRequeued(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    { reason = 'Requeued', message }: RequeueTerms,
    cause: RequeueCause,
  ): void {
    this.options.recordEvent(object, adapter, {
      type: cause === 'suspended' ? 'Normal' : 'Warning',
      reason: cause === 'preempted' ? 'Preempted' : reason,
      message,
    });
  }

  /** Whether the watch shows the object as it was before its release. */
  private isStale({ metadata }: KubernetesObject, { jobid }: WorkloadRow): boolean {
    return (metadata.generation ?? 0) < (this.releasedGenerations.get(jobid) ?? 0);
  }

  private log(row: WorkloadRow, decision: string, { cause, message }: EvictionReason): void {
    logDecision(this.options.logger, row, decision, { cause, reason: message });
  }
}

/** Why pods are gone that the queue has evicted, and which nobody makes again as they were. */
export function endOfEvicted(
  { kind, evictionReason }: WorkloadRow,
  adapters: ReadonlyMap<string, Pick<WorkloadAdapter, 'podsExist'>>,
): string | undefined {
  return (adapters.get(kind)?.podsExist === true ? evictionReason : null) ?? undefined;
}

/** The eviction that is committed and under way. */
export function requestedEviction({
  evictionReason,
  evictionCause,
}: WorkloadRow): EvictionReason | undefined {
  if (evictionReason === null) return undefined;
  return { cause: evictionCause ?? 'preempted', message: evictionReason };
}

/**
 * The watch may show a pod as it was before the queue removed its gate: it may run by now. The Job controller deletes
 * the pods of a suspended Job with or without a gate.
 */
function mayBeUngated(pod: Pod, { metadata: { uid } }: KubernetesObject): boolean {
  return isGated(pod) && pod.metadata.uid !== uid && pod.metadata.deletionTimestamp === undefined;
}

function lostMessage(nodes: readonly string[]): string {
  return nodes.length === 1 ? `node ${nodes[0]} was lost` : `nodes ${listNames(nodes)} were lost`;
}

function countRequeues(count: number): string {
  return count === 1 ? '1 requeue' : `${count} requeues`;
}

/** A PodDisruptionBudget may refuse to evict the pods of a group, and a policy of the cluster the removal of a start time. */
export function retryOf({ object, adapter }: ActiveWorkload): ReconcileResult {
  const mayBeRefused =
    adapter.membersOf(object) !== undefined || adapter.startTimePatch(object) !== undefined;
  return mayBeRefused ? { after: 5_000 } : undefined;
}
