/**
 * Follows one workload through its life. Called with a key (`Job/namespace/name`);
 * reads the object, its pods and its row; does the next thing; says when to
 * look again. What it does is safe to do twice, so a crash anywhere is followed
 * by the same step again.
 */

import type { Clock } from '../clock';
import { messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import type { EventNote } from '../kubernetes/events';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { applyPatch } from '../kubernetes/writes';
import type { QueueSettings } from '../queue/settings';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { AllocatedNode } from '../resources/types';
import type { WorkloadKey } from '../shared/workload-key';
import { isTerminal, lostNodes, namesOf, secondsOf, type WorkloadAdapter } from './adapter';
import { forgottenGrant } from './adoption';
import { Eviction, type EvictionReason } from './eviction';
import { isGated, isOfRun, pinPatch, unpinned } from './pod';
import type { SubmissionBuilder } from './submission';
import { nodesForGated } from './ungate';

export interface WorkloadReconcilerOptions {
  readonly client: KubernetesClient;
  readonly workloadCache: WorkloadCache;
  readonly submissionBuilder: SubmissionBuilder;
  readonly adapters: ReadonlyMap<string, WorkloadAdapter>;
  /** The object of a key, as last seen. */
  readonly objectOf: (key: WorkloadKey) => KubernetesObject | undefined;
  /** The pods of the workload with this uid, as last seen. */
  readonly podsOf: (uid: string) => readonly Pod[];
  readonly nodeExists: (name: string) => boolean;
  /** How often and how soon workloads of this queue are tried again after a failure. */
  readonly requeueOf: (queue: string) => QueueSettings['requeue'];
  /** Units of a job are free from now on. */
  readonly onFreed: (jobid: number) => void;
  /** Units on some nodes of a job are free from now on. */
  readonly onShrunk: (jobid: number, nodes: readonly string[]) => void;
  /** It runs by a grant that the queue does not know of. */
  readonly onForgotten: () => void;
  /** Something changed that the next pass should see. */
  readonly onQueueChanged: () => void;
  readonly recordEvent: (object: KubernetesObject, adapter: WorkloadAdapter, news: EventNote) => void;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
}

/** When to look again; nothing: when something changes. */
type Next = { readonly after: number } | undefined;

const AT_ONCE = { after: 1 };
/** A wait that is news to its user. */
const WORTH_TELLING_SECONDS = 5;
/** A released workload whose object is gone may still have a pod on the way into our cache. */
const GONE_GRACE_MS = 500;
/** A release that is refused may be accepted later (the Job controller has not let go of it yet, a policy changes). */
const REFUSED_RETRY_MS = 2_000;
/** After so long it gives its units back: nothing else would free them. */
const REFUSED_PATIENCE_MS = 60_000;

export class WorkloadReconciler {
  private readonly goneSince = new Map<string, number>();
  /** Job id -> since when its release is refused, milliseconds of the clock. */
  private readonly refusedSince = new Map<number, number>();
  private readonly eviction: Eviction;

  constructor(private readonly options: WorkloadReconcilerOptions) {
    this.eviction = new Eviction(options);
  }

  async reconcile(key: WorkloadKey): Promise<Next> {
    const { workloadCache, objectOf, adapters } = this.options;
    const object = objectOf(key);
    const row = workloadCache.byName(key.kind, key.namespace, key.name);
    if (row !== undefined && row.uid !== object?.metadata.uid) {
      const next = await this.cancelGone(row);
      if (next !== undefined) return next;
    }
    if (object === undefined) return undefined;
    const adapter = adapters.get(key.kind)!;
    const current = workloadCache.byUid(object.metadata.uid);
    if (current === undefined) return this.submit(object, adapter);
    if (current.phase === 'Waiting') return this.reconcileWaiting(object, adapter, current);
    return this.reconcileRunning(object, adapter, current);
  }

  /** Not in the queue yet (or finished: then it is no longer held back). */
  private async submit(object: KubernetesObject, adapter: WorkloadAdapter): Promise<Next> {
    if (this.isForgotten(object, adapter)) this.options.onForgotten();
    if (object.metadata.deletionTimestamp !== undefined || !adapter.isHeldBack(object)) return undefined;
    const row = await this.options.submissionBuilder.submit(object, adapter);
    if (row !== undefined) this.options.onQueueChanged();
    return undefined;
  }

  private isForgotten(object: KubernetesObject, adapter: WorkloadAdapter, row?: WorkloadRow): boolean {
    const pods = this.options.podsOf(object.metadata.uid);
    return forgottenGrant(object, adapter, row, pods, this.options.now()) !== undefined;
  }

  /** Waiting: gone, ended by its user, or edited. */
  private async reconcileWaiting(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
  ): Promise<Next> {
    const { workloadCache, now, submissionBuilder, onQueueChanged } = this.options;
    const outcome = adapter.outcome(object, this.options.podsOf(row.uid), now());
    if (outcome !== undefined) {
      await this.finish(row, outcome.result, outcome.finishedAt);
      return undefined;
    }
    if (object.metadata.deletionTimestamp !== undefined) {
      await this.finish(row, 'Cancelled', now());
      return undefined;
    }
    if (this.isForgotten(object, adapter, row)) {
      this.options.onForgotten();
      return undefined;
    }
    // Released by a leader that was overtaken, too late: nothing is granted to it.
    if (!adapter.isHeldBack(object)) await this.eviction.suspend(object, adapter, row);
    const update = submissionBuilder.changeOf(object, adapter, row);
    if (update === undefined) return undefined;
    await workloadCache.update(update);
    onQueueChanged();
    return undefined;
  }

  /** Ready or Running: release it, place its pods, see it end. */
  private async reconcileRunning(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
  ): Promise<Next> {
    const pods = this.options.podsOf(row.uid);
    // Also when it has ended meanwhile: that it ran, and since when, belongs to its record.
    const started = pods.filter((pod) => this.hasStarted(pod, row));
    if (row.phase === 'Ready' && started.length > 0) await this.started(object, adapter, row, started);
    const current = this.options.workloadCache.byUid(row.uid) ?? row;
    const outcome = adapter.outcome(object, pods, this.options.now());
    if (outcome !== undefined) {
      await this.finish(current, outcome.result, outcome.finishedAt);
      return undefined;
    }
    const why = this.evictionReason(object, adapter, current, pods);
    if (why !== undefined) {
      await this.eviction.step(object, adapter, current, pods, why);
      // What its user changed while it ran counts now.
      return this.options.workloadCache.byUid(row.uid)?.phase === 'Waiting' ? AT_ONCE : undefined;
    }
    if (current.releasedAt === null) {
      const next = await this.release(object, adapter, current);
      if (next !== undefined) return next;
    }
    await this.placeGated(current, pods);
    await this.shrink(object, adapter, current, pods);
    return undefined;
  }

  /** Pods may be left over from before a requeue: those that ended, and those on a node that is gone. */
  private hasStarted(pod: Pod, { uid, jobid, releasedAt }: WorkloadRow): boolean {
    const { metadata, spec, status } = pod;
    if (metadata.uid === uid || isOfRun(pod, jobid)) return status?.phase === 'Running' || isTerminal(pod);
    const isThere = spec.nodeName !== undefined && this.options.nodeExists(spec.nodeName);
    return releasedAt !== null && status?.phase === 'Running' && isThere;
  }

  private async release(object: KubernetesObject, adapter: WorkloadAdapter, row: WorkloadRow): Promise<Next> {
    const { workloadCache, now } = this.options;
    // After a crash between patch and commit the object is released already.
    if (!adapter.isHeldBack(object)) {
      if (adapter.isReleasedOnto(object, row)) await workloadCache.released(row.uid);
      else await this.eviction.suspend(object, adapter, row);
      return undefined;
    }
    if (object.metadata.deletionTimestamp !== undefined) {
      await this.finish(row, 'Cancelled', now());
      return undefined;
    }
    return adapter.canRelease(object) ? this.patchRelease(object, adapter, row) : undefined;
  }

  private async patchRelease(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
  ): Promise<Next> {
    const { client, workloadCache, now } = this.options;
    try {
      const path = adapter.path(row.namespace, row.name);
      const outcome = await applyPatch(client, path, adapter.release(object, row), (left) =>
        this.eviction.releases(left, row),
      );
      if (outcome === 'gone') await this.finish(row, 'Cancelled', now());
      if (outcome === 'conflict') return { after: GONE_GRACE_MS };
      if (outcome !== 'done') return undefined;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.refused(object, adapter, row, messageOf(error));
    }
    this.refusedSince.delete(row.jobid);
    await workloadCache.released(row.uid);
    return undefined;
  }

  /** Nothing but a change by its user can help a workload whose release is refused for so long. */
  private async refused(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
    why: string,
  ): Promise<Next> {
    const { workloadCache, clock, recordEvent } = this.options;
    const since = this.refusedSince.get(row.jobid) ?? clock.now();
    this.refusedSince.set(row.jobid, since);
    if (clock.now() - since < REFUSED_PATIENCE_MS) return { after: REFUSED_RETRY_MS };
    this.refusedSince.delete(row.jobid);
    const message = `can't be released: ${why}`;
    if ((await this.eviction.giveBack(row, { cause: 'failure', what: message })) === undefined)
      return undefined;
    await workloadCache.wait([{ uid: row.uid, reason: 'Invalid', message, estimatedStart: null }]);
    recordEvent(object, adapter, { type: 'Warning', reason: 'Invalid', message });
    return undefined;
  }

  private async started(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
    pods: readonly Pod[],
  ): Promise<void> {
    const { workloadCache, now, recordEvent } = this.options;
    const first = Math.min(
      ...pods.map(({ status }) => secondsOf(status?.startTime ?? '')).filter(Number.isFinite),
    );
    // Kubernetes tells whole seconds, cut off.
    const startedAt = Math.max(Number.isFinite(first) ? first : now(), row.allocatedAt ?? 0);
    const started = await workloadCache.running(row.uid, startedAt);
    if (started === undefined) return;
    const waited = Math.max(0, Math.round((row.allocatedAt ?? now()) - row.submittedAt));
    const nodes = namesOf(row.allocation!.nodes);
    // Where one pod went at once, kube-scheduler has said already.
    if (nodes.length === 1 && waited < WORTH_TELLING_SECONDS) return;
    recordEvent(object, adapter, {
      type: 'Normal',
      reason: 'Scheduled',
      message: `${row.pods} ${row.pods === 1 ? 'pod' : 'pods'} on ${listed(nodes)} after ${waited} s in queue ${row.queue}`,
    });
  }

  /** Pods that admission could not pin for sure carry our gate: the free places of the allocation are theirs. */
  private async placeGated(row: WorkloadRow, pods: readonly Pod[]): Promise<void> {
    const gated = pods.filter((pod) => isGated(pod) && pod.metadata.uid !== row.uid);
    if (gated.length === 0) return;
    const { client } = this.options;
    for (const { pod, node } of nodesForGated(row, pods, gated))
      await applyPatch(client, `/api/v1/namespaces/${row.namespace}/pods/${pod.metadata.name}`, {
        type: 'json',
        body: pinPatch(pod, node),
      });
  }

  /** Frees the nodes on which nothing of it runs again. */
  private async shrink(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
    pods: readonly Pod[],
  ): Promise<void> {
    const current = this.options.workloadCache.byUid(row.uid);
    if (current?.allocation == null) return;
    const done = new Set(adapter.doneOn(object, current, pods));
    if (done.size === 0 || done.size === current.allocation.nodes.length) return;
    const left: readonly AllocatedNode[] = current.allocation.nodes.filter(({ name }) => !done.has(name));
    const shrunk = await this.options.workloadCache.shrink(row.uid, { ...current.allocation, nodes: left });
    if (shrunk !== undefined) this.options.onShrunk(row.jobid, [...done]);
  }

  /** Why it has to leave its nodes; undefined: it need not. */
  private evictionReason(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
    pods: readonly Pod[],
  ): EvictionReason | undefined {
    // What can't be taken back stays where it is until it ends.
    if (!adapter.recallable && !adapter.isHeldBack(object)) return undefined;
    if (row.recall !== null) return { cause: 'preempted', what: row.recall };
    const lost = lostNodes(row, this.options.nodeExists);
    if (lost.length > 0) return { cause: 'failure', what: `lost ${listed(lost)}` };
    const begun = this.eviction.whyBegun(row);
    if (begun !== undefined) return begun;
    const stray = unpinned(row, pods);
    if (stray !== undefined) {
      const what = `${stray.metadata.name} was made without being pinned to its node, as if admission was not in force`;
      return { cause: 'failure', what };
    }
    // Released, and held back again; if not by us then by its user. Or we see it as it was before.
    const suspended = adapter.recallable && row.releasedAt !== null && adapter.isHeldBack(object);
    return suspended ? { cause: 'suspended', what: 'was suspended' } : undefined;
  }

  /** The object of this row no longer exists; its units are free once its pods don't either. */
  private async cancelGone(row: WorkloadRow): Promise<Next> {
    if (this.options.podsOf(row.uid).some((pod) => !isTerminal(pod) && pod.metadata.uid !== row.uid))
      return { after: GONE_GRACE_MS };
    if (row.phase !== 'Waiting' && row.kind !== 'Pod') {
      const since = this.goneSince.get(row.uid) ?? this.options.clock.now();
      this.goneSince.set(row.uid, since);
      if (this.options.clock.now() - since < GONE_GRACE_MS) return { after: GONE_GRACE_MS };
    }
    this.goneSince.delete(row.uid);
    await this.finish(row, 'Cancelled', this.options.now());
    return undefined;
  }

  private async finish(row: WorkloadRow, result: WorkloadRow['result'], finishedAt: number): Promise<void> {
    // Kubernetes tells whole seconds, cut off: nothing ends before it starts.
    await this.options.workloadCache.finish(row.uid, result!, Math.max(finishedAt, row.startedAt ?? 0));
    this.eviction.forget(row);
    this.refusedSince.delete(row.jobid);
    this.options.onFreed(row.jobid);
    this.options.onQueueChanged();
  }
}

/** The apiserver, or a policy in it, will have none of it. */
function isRefusal(error: unknown): boolean {
  return isStatus(error, 422) || isStatus(error, 403) || isStatus(error, 400);
}

/** At most three names in a sentence. */
function listed(names: readonly string[]): string {
  return names.length <= 3
    ? names.join(', ')
    : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`;
}
