/**
 * Reconciles one workload, from its submission to its end. Each call takes a
 * key (`Job/namespace/name`), reads the object, its pods and its row, and does
 * the next step. Every step is idempotent, so a step that a crash interrupts is
 * done again.
 */
import type { Clock } from '../clock';
import type { KubernetesClient } from '../kubernetes/client';
import type { EventNote } from '../kubernetes/events';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch } from '../kubernetes/writes';
import type { QueueSettings } from '../queue/settings';
import type { Result, WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import type { WorkloadKey } from '../shared/workload-key';
import { type ActiveWorkload, isTerminal, namesOf, secondsOf, type WorkloadAdapter } from './adapter';
import { unrecordedGrant } from './adoption';
import { listNames } from './events';
import { Eviction } from './eviction';
import { belongsToGrant, isGated, pinPatch } from './pod';
import { Release } from './release';
import type { SubmissionBuilder } from './submission';
import { nodesForGatedPods } from './ungate';

export interface WorkloadReconcilerOptions {
  readonly client: KubernetesClient;
  readonly workloadCache: WorkloadCache;
  readonly submissionBuilder: SubmissionBuilder;
  readonly adapters: ReadonlyMap<string, WorkloadAdapter>;
  /** The object of a key, as the watch last delivered it. */
  readonly objectOf: (key: WorkloadKey) => KubernetesObject | undefined;
  /** The pods of the workload with this uid, as the watch last delivered them. */
  readonly podsOf: (uid: string) => readonly Pod[];
  readonly nodeExists: (name: string) => boolean;
  /** The requeue limit and backoff of a queue. */
  readonly requeueOf: (queue: string) => QueueSettings['requeue'];
  /** Called when the units of a job are free again. */
  readonly onFreed: (jobid: number) => void;
  /** Called when the units on some nodes of a job are free again. */
  readonly onShrunk: (jobid: number, nodes: readonly string[]) => void;
  /** Called when a workload runs under a grant that the queue has no record of. */
  readonly onUnrecordedGrant: () => void;
  /** Called when the queue has changed in a way that the next scheduling pass should see. */
  readonly onQueueChanged: () => void;
  readonly recordEvent: (object: KubernetesObject, adapter: WorkloadAdapter, event: EventNote) => void;
  readonly logger: DecisionLogger;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
}

const IMMEDIATELY = { after: 1 };
/** kube-scheduler already records an Event for each pod, so a short wait for a single node needs no other. */
const NOTABLE_WAIT_SECONDS = 5;
/** A pod of a deleted object may not have reached the pod cache yet. */
const DELETED_GRACE_MS = 500;

export class WorkloadReconciler {
  /** Uid -> when the object was first missing, in milliseconds of the clock. */
  private readonly deletedSince = new Map<string, number>();
  private readonly eviction: Eviction;
  private readonly release: Release;

  constructor(private readonly options: WorkloadReconcilerOptions) {
    this.eviction = new Eviction(options);
    this.release = new Release({ ...options, eviction: this.eviction });
  }

  async reconcile(key: WorkloadKey): Promise<ReconcileResult> {
    const { workloadCache, objectOf, podsOf, adapters } = this.options;
    const object = objectOf(key);
    const named = workloadCache.byName(key.kind, key.namespace, key.name);
    if (named !== undefined && named.uid !== object?.metadata.uid) {
      const result = await this.cancelDeleted(named);
      if (result !== undefined) return result;
    }
    if (object === undefined) return undefined;
    const adapter = adapters.get(key.kind)!;
    const row = workloadCache.byUid(object.metadata.uid);
    if (row === undefined) return this.submit(key, object, adapter);
    const workload = { object, adapter, row, pods: podsOf(row.uid) };
    return row.phase === 'Waiting' ? this.reconcileWaiting(workload) : this.reconcileGranted(workload);
  }

  /** Queues an object without a row. A finished workload has no row either, but its object is not suspended. */
  private async submit(
    key: WorkloadKey,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
  ): Promise<undefined> {
    const { submissionBuilder, onQueueChanged } = this.options;
    this.requestAdoption(key, object, adapter);
    if (object.metadata.deletionTimestamp !== undefined || !adapter.isSuspended(object)) return;
    const row = await submissionBuilder.submit(object, adapter);
    if (row === undefined) return;
    this.log(row, 'submitted', { held: row.held });
    onQueueChanged();
  }

  /** Requests an audit, which adopts the workload, if it runs under a grant that the queue has no record of. */
  private requestAdoption(
    key: WorkloadKey,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row?: WorkloadRow,
  ): boolean {
    const pods = this.options.podsOf(object.metadata.uid);
    if (unrecordedGrant(object, adapter, row, pods, this.options.now()) === undefined) return false;
    logDecision(this.options.logger, row ?? key, 'runs under an unrecorded grant, requesting an audit');
    this.options.onUnrecordedGrant();
    return true;
  }

  /** Finishes, cancels or updates a waiting workload. */
  private async reconcileWaiting(workload: ActiveWorkload): Promise<undefined> {
    const { workloadCache, now, submissionBuilder, onQueueChanged } = this.options;
    const { object, adapter, row, pods } = workload;
    const outcome = adapter.outcome(object, pods, now());
    if (outcome !== undefined) return this.finish(row, outcome.result, outcome.finishedAt);
    if (object.metadata.deletionTimestamp !== undefined) return this.cancel(row);
    if (this.requestAdoption(row, object, adapter, row)) return;
    if (!adapter.isSuspended(object)) {
      // A former leader released it too late: it has no grant.
      this.log(row, 'released without a grant, suspending it');
      await this.eviction.suspend(workload);
    }
    const update = submissionBuilder.changeOf(object, adapter, row);
    if (update === undefined) return this.log(row, 'waiting, unchanged');
    await workloadCache.update(update);
    this.log(row, 'waiting, submission updated');
    onQueueChanged();
  }

  /** Releases a granted workload, places its pods, evicts it if necessary, and records its start and end. */
  private async reconcileGranted(workload: ActiveWorkload): Promise<ReconcileResult> {
    const { workloadCache, now } = this.options;
    const { object, adapter, pods } = workload;
    const row = await this.recordStart(workload);
    const current = { ...workload, row };
    const outcome = adapter.outcome(object, pods, now());
    if (outcome !== undefined) return this.finish(row, outcome.result, outcome.finishedAt);
    const reason = this.eviction.reasonFor(current);
    if (reason !== undefined) {
      await this.eviction.evict(current, reason);
      // Once it waits again, changes that the user made while it ran take effect.
      return workloadCache.byUid(row.uid)?.phase === 'Waiting' ? IMMEDIATELY : undefined;
    }
    if (row.releasedAt === null) {
      const result = await this.release.release(current);
      if (result === 'deleted') return this.cancel(row);
      if (result !== undefined) return result;
    }
    await this.ungatePods(row, pods);
    await this.shrinkAllocation(current);
    return undefined;
  }

  /** Records that the first pods run. A workload that has finished meanwhile also gets its start time. */
  private async recordStart({ object, adapter, row, pods }: ActiveWorkload): Promise<WorkloadRow> {
    const { workloadCache, now } = this.options;
    const startedPods = pods.filter((pod) => this.hasStarted(pod, row));
    if (row.phase !== 'Ready' || startedPods.length === 0) return row;
    const times = startedPods.map(({ status }) => secondsOf(status?.startTime ?? '')).filter(Number.isFinite);
    const first = times.length === 0 ? now() : Math.min(...times);
    // Kubernetes truncates times to seconds: a start is never before its grant.
    const started = await workloadCache.running(row.uid, Math.max(first, row.allocatedAt ?? 0));
    if (started !== undefined) {
      this.log(row, 'started', { startedAt: started.startedAt });
      this.recordScheduled(object, adapter, row);
    }
    return workloadCache.byUid(row.uid) ?? row;
  }

  /** Ignores pods from before a requeue: those that have ended and those on a node that no longer exists. */
  private hasStarted(pod: Pod, { uid, jobid, releasedAt }: WorkloadRow): boolean {
    const { metadata, spec, status } = pod;
    if (metadata.uid === uid || belongsToGrant(pod, jobid))
      return status?.phase === 'Running' || isTerminal(pod);
    const isOnNode = spec.nodeName !== undefined && this.options.nodeExists(spec.nodeName);
    return releasedAt !== null && status?.phase === 'Running' && isOnNode;
  }

  private recordScheduled(object: KubernetesObject, adapter: WorkloadAdapter, row: WorkloadRow): void {
    const { now, recordEvent } = this.options;
    const waited = Math.max(0, Math.round((row.allocatedAt ?? now()) - row.submittedAt));
    const nodes = namesOf(row.allocation!.nodes);
    if (nodes.length === 1 && waited < NOTABLE_WAIT_SECONDS) return;
    const pods = row.pods === 1 ? '1 pod' : `${row.pods} pods`;
    const message = `${pods} on ${listNames(nodes)} after ${waited}s in queue ${row.queue}`;
    recordEvent(object, adapter, { type: 'Normal', reason: 'Scheduled', message });
  }

  /** Admission gates the pods whose node it cannot know; they get the free slots of the allocation. */
  private async ungatePods(row: WorkloadRow, pods: readonly Pod[]): Promise<void> {
    const gated = pods.filter((pod) => isGated(pod) && pod.metadata.uid !== row.uid);
    if (gated.length === 0) return;
    const { client } = this.options;
    const placed = nodesForGatedPods(row, pods, gated);
    this.log(row, 'ungating pods', { gated: gated.length, ungated: placed.length });
    for (const { pod, node } of placed)
      await applyPatch(client, `/api/v1/namespaces/${row.namespace}/pods/${pod.metadata.name}`, {
        type: 'json',
        body: pinPatch(pod, node),
      });
  }

  /** Frees the nodes on which no pod of the workload will run again. */
  private async shrinkAllocation({ object, adapter, row, pods }: ActiveWorkload): Promise<void> {
    const { workloadCache, onShrunk } = this.options;
    const current = workloadCache.byUid(row.uid);
    if (current?.allocation == null) return;
    const finished = new Set(adapter.finishedNodes(object, current, pods));
    if (finished.size === 0 || finished.size === current.allocation.nodes.length) return;
    const nodes = current.allocation.nodes.filter(({ name }) => !finished.has(name));
    if ((await workloadCache.shrink(row.uid, { ...current.allocation, nodes })) === undefined) return;
    this.log(row, 'allocation shrunk', { freed: [...finished] });
    onShrunk(row.jobid, [...finished]);
  }

  /** Cancels a row whose object no longer exists, once its pods are gone too. */
  private async cancelDeleted(row: WorkloadRow): Promise<ReconcileResult> {
    const { podsOf, clock } = this.options;
    if (podsOf(row.uid).some((pod) => !isTerminal(pod) && pod.metadata.uid !== row.uid)) {
      this.log(row, 'deleted, waiting for its pods to terminate');
      return { after: DELETED_GRACE_MS };
    }
    if (row.phase !== 'Waiting' && row.kind !== 'Pod') {
      const since = this.deletedSince.get(row.uid) ?? clock.now();
      this.deletedSince.set(row.uid, since);
      if (clock.now() - since < DELETED_GRACE_MS) return { after: DELETED_GRACE_MS };
    }
    this.deletedSince.delete(row.uid);
    return this.cancel(row);
  }

  private cancel(row: WorkloadRow): Promise<undefined> {
    return this.finish(row, 'Cancelled', this.options.now());
  }

  private async finish(row: WorkloadRow, result: Result, finishedAt: number): Promise<undefined> {
    const { workloadCache, onFreed, onQueueChanged } = this.options;
    // Kubernetes truncates times to seconds: an end is never before its start.
    await workloadCache.finish(row.uid, result, Math.max(finishedAt, row.startedAt ?? 0));
    this.log(row, 'finished', { result });
    this.eviction.forget(row);
    this.release.forget(row);
    onFreed(row.jobid);
    onQueueChanged();
  }

  private log(row: WorkloadRow, decision: string, detail: Readonly<Record<string, unknown>> = {}): undefined {
    logDecision(this.options.logger, row, decision, detail);
  }
}
