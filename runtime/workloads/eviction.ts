/**
 * Takes workloads back from their nodes: suspends them, waits until their pods
 * are gone, and puts them back into their place in the queue. Whoever asks has
 * committed why before (a recall), or sees why again after a crash (a node that
 * is gone, a user who suspended it).
 */
import type { KubernetesClient } from '../kubernetes/client';
import type { EventNote } from '../kubernetes/events';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { applyPatch } from '../kubernetes/writes';
import type { QueueSettings } from '../queue/settings';
import type { RequeueCause, WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { LONGEST_BACKOFF_SECONDS } from '../scheduler/pass/eligibility';
import { isTerminal, type WorkloadAdapter } from './adapter';
import { isGated } from './pod';

export interface EvictionOptions {
  readonly client: KubernetesClient;
  readonly workloadCache: WorkloadCache;
  readonly nodeExists: (name: string) => boolean;
  /** How often and how soon workloads of this queue are tried again after a failure. */
  readonly requeueOf: (queue: string) => QueueSettings['requeue'];
  /** Units of a job are free from now on. */
  readonly onFreed: (jobid: number) => void;
  readonly onQueueChanged: () => void;
  readonly recordEvent: (object: KubernetesObject, adapter: WorkloadAdapter, news: EventNote) => void;
  /** Unix seconds. */
  readonly now: () => number;
}

export interface EvictionReason {
  readonly cause: RequeueCause;
  /** For its user, without what follows from it: `lost node-1`. */
  readonly what: string;
}

export class Eviction {
  /** Job id -> generation of the object as our release left it: while we see an earlier one, the watch lags behind. */
  private readonly releasedAs = new Map<number, number>();
  /** Job id -> the failure it is taken back for: once it is suspended, nothing of it may show that any more. */
  private readonly begun = new Map<number, EvictionReason>();

  constructor(private readonly options: EvictionOptions) {}

  /**
   * Our release left it so: seen as it was before, it says nothing of what is. Not told from what we saw when we
   * released it: its user may have changed it since, and that was suspended, too.
   */
  releases({ metadata }: Pick<KubernetesObject, 'metadata'>, { jobid }: WorkloadRow): void {
    this.releasedAs.set(jobid, metadata.generation ?? 0);
  }

  forget({ jobid }: WorkloadRow): void {
    this.releasedAs.delete(jobid);
    this.begun.delete(jobid);
  }

  /** The failure for which it is on its way back already. */
  whyBegun({ jobid }: WorkloadRow): EvictionReason | undefined {
    return this.begun.get(jobid);
  }

  /** Seen as it was before we released it. */
  isOldView({ metadata }: KubernetesObject, { jobid }: WorkloadRow): boolean {
    return (metadata.generation ?? 0) < (this.releasedAs.get(jobid) ?? 0);
  }

  /** The patch alone. */
  async suspend(object: KubernetesObject, adapter: WorkloadAdapter, row: WorkloadRow): Promise<void> {
    const patch = adapter.recall(object);
    if (patch !== undefined)
      await applyPatch(this.options.client, adapter.path(row.namespace, row.name), patch);
  }

  /** One step on the way back; the next one when something of it changes. */
  async step(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    row: WorkloadRow,
    pods: readonly Pod[],
    why: EvictionReason,
  ): Promise<void> {
    if (why.cause === 'failure') this.begun.set(row.jobid, why);
    if (!adapter.isHeldBack(object)) return this.suspend(object, adapter, row);
    if (this.isOldView(object, row) || !adapter.canRelease(object)) return;
    if (pods.some((pod) => this.isAlive(pod))) return;
    const requeued = await this.giveBack(row, why);
    if (requeued !== undefined) this.tellRequeued(object, adapter, requeued, why.cause);
  }

  /** Into its place in the queue; its units are free. Undefined: it was not in a phase for it. */
  async giveBack(row: WorkloadRow, why: EvictionReason): Promise<WorkloadRow | undefined> {
    const { workloadCache, onFreed, onQueueChanged } = this.options;
    const requeued = await workloadCache.requeue({ uid: row.uid, cause: why.cause, ...this.terms(row, why) });
    if (requeued === undefined) return undefined;
    this.forget(row);
    onFreed(row.jobid);
    onQueueChanged();
    return requeued;
  }

  /** Only failures count, and only they have to wait: who was taken back for another, or by its user, did nothing wrong. */
  private terms(row: WorkloadRow, { cause, what }: EvictionReason) {
    if (cause !== 'failure') return { message: `${what}, waits again in its place` };
    const { limit, backoffSeconds } = this.options.requeueOf(row.queue);
    if (row.requeues >= limit)
      return {
        reason: 'RequeueLimit',
        message: `${what}, and was requeued ${times(row.requeues)} already; waits until its user changes something about it`,
      } as const;
    const seconds = Math.min(LONGEST_BACKOFF_SECONDS, backoffSeconds * 2 ** row.requeues);
    return {
      message: `${what}, waits again in its place, for ${seconds} s at least`,
      notBefore: this.options.now() + seconds,
    };
  }

  private tellRequeued(
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    { reason, message }: WorkloadRow,
    cause: RequeueCause,
  ): void {
    const news = cause === 'preempted' ? 'Preempted' : (reason ?? 'Requeued');
    const type = cause === 'suspended' ? 'Normal' : 'Warning';
    this.options.recordEvent(object, adapter, { type, reason: news, message: message ?? '' });
  }

  /** Those of a deleted node are gone with it. */
  private isAlive(pod: Pod): boolean {
    const { nodeName } = pod.spec;
    if (isTerminal(pod) || isGated(pod)) return false;
    return nodeName === undefined || this.options.nodeExists(nodeName);
  }
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}
