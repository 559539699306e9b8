/**
 * Keeps the status of every FluxSetup equal to its queue. Nothing is decided by the status, so its writes are few:
 * the counts change with every job and are written at most once per interval.
 */
import { isDeepStrictEqual } from 'node:util';
import type { FluxSetupStatus } from '../../imports/flux-framework.org-status';
import type { Clock } from '../clock';
import type { UnitSettings } from '../jobspec/units';
import type { KubernetesClient } from '../kubernetes/client';
import { type FluxSetupObject, fluxSetups } from '../kubernetes/custom-resources';
import { mergePatchOf } from '../kubernetes/merge-patch';
import type { RateLimiter } from '../kubernetes/rate-limiter';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import type { Surplus } from '../resources/types';
import { type DecisionLogger, resultOf, retryDetail, type StatusDecision } from '../shared/decision-log';
import { queueName } from '../shared/queues';
import { createStatusLimiter, type StatusPace } from '../shared/status-limiter';
import { countQueues, EMPTY, type QueueCounts } from './queue-counts';
import type { QueueRegistry } from './queue-registry';
import { fluxSetupStatus } from './status';

export interface FluxSetupReconcilerOptions {
  readonly client: KubernetesClient;
  readonly queues: QueueRegistry;
  readonly units: UnitSettings;
  /** The rows that are not finished. */
  readonly rows: () => Iterable<WorkloadRow>;
  /** What they use beyond their grants, by uid. */
  readonly surpluses: () => ReadonlyMap<string, Surplus>;
  /** How many workloads of a queue have finished; undefined: not known yet. */
  readonly finishedOf: (queue: string) => number | undefined;
  /** The FluxSetup with this key (`namespace/name`) as the watch last delivered it. */
  readonly fluxSetupOf: (key: string) => FluxSetupObject | undefined;
  /** Whether many workloads start and end at this moment. */
  readonly isBusy: () => boolean;
  /** Writes the settings of all queues to the database. Resolves at once if they are there. */
  readonly storeQueues: () => Promise<void>;
  /** Reconciles this key again: its write is admitted now. */
  readonly enqueue: (key: string) => void;
  readonly clock: Clock;
  readonly logger: DecisionLogger;
  /** Unix seconds. */
  readonly now: () => number;
}

/** Of all FluxSetups together. */
const PACE: StatusPace = {
  perSecond: { busy: 2, quiet: 20 },
  burst: 5,
  longestWait: 30,
  mostPerSecond: 50,
};
/** Seconds between two writes of one FluxSetup. */
const INTERVAL_SECONDS = { busy: 5, quiet: 1 };

/** A status as this process wrote it last, because the watch may lag behind. */
interface Written {
  /** The uid of the FluxSetup. */
  readonly uid: string;
  readonly status: FluxSetupStatus;
  /** Unix seconds; 0 if this process has not written it yet. */
  readonly at: number;
}

export class FluxSetupReconciler {
  /** By key. */
  private readonly written = new Map<string, Written>();
  /** Undefined: rows changed since the last count. */
  private counts: ReadonlyMap<string, QueueCounts> | undefined;
  private readonly limiter: RateLimiter;

  constructor(private readonly options: FluxSetupReconcilerOptions) {
    this.limiter = createStatusLimiter(PACE, options);
  }

  /** No further write is admitted. */
  stop(): void {
    this.limiter.stop();
  }

  /** The next reconciliation counts the rows again, for all FluxSetups together. */
  recount(): void {
    this.counts = undefined;
  }

  /** @param key `namespace/name` */
  async reconcile(key: string): Promise<ReconcileResult> {
    const { fluxSetupOf, storeQueues, logger } = this.options;
    const object = fluxSetupOf(key);
    // The status must not announce settings that are not in the database.
    await storeQueues();
    const decision = object === undefined ? this.forget(key) : await this.writeStatus(key, object);
    logger.debug({ fluxsetup: key, queue: key, ...retryDetail(decision) }, `FluxSetup: ${decision.decision}`);
    return resultOf(decision);
  }

  private async writeStatus(key: string, object: FluxSetupObject): Promise<StatusDecision> {
    const before = this.lastStatus(key, object);
    const status = this.statusOf(object, before.status);
    if (isDeepStrictEqual(status, before.status)) {
      this.limiter.drop(key);
      return { decision: 'status is up to date' };
    }
    // A change of the spec is confirmed at once; counts can wait.
    if (before.status.observedGeneration === object.metadata.generation) {
      const wait = this.secondsToWait(before);
      if (wait > 0) return { decision: 'status write is rate-limited', after: Math.ceil(wait * 1000) };
      if (!this.limiter.claim(key)) return { decision: 'status write is rate-limited' };
    }
    if (!(await this.patchStatus(object, status))) return { decision: 'the FluxSetup is gone' };
    this.written.set(key, { uid: object.metadata.uid, status, at: this.options.now() });
    return { decision: 'status written' };
  }

  private forget(key: string): StatusDecision {
    this.written.delete(key);
    this.limiter.drop(key);
    return { decision: 'the FluxSetup is gone' };
  }

  private lastStatus(key: string, { metadata, status = {} }: FluxSetupObject): Written {
    const written = this.written.get(key);
    return written?.uid === metadata.uid ? written : { uid: metadata.uid, status, at: 0 };
  }

  private secondsToWait(before: Written): number {
    const { isBusy, now } = this.options;
    return before.at + (isBusy() ? INTERVAL_SECONDS.busy : INTERVAL_SECONDS.quiet) - now();
  }

  private statusOf({ metadata }: FluxSetupObject, previous: FluxSetupStatus): FluxSetupStatus {
    const { queues, finishedOf, now, rows, surpluses, units } = this.options;
    const queue = queueName(metadata.namespace ?? '', metadata.name);
    this.counts ??= countQueues(rows(), units, surpluses());
    return fluxSetupStatus({
      queue,
      settings: queues.byName(queue),
      problem: queues.problemOf(queue),
      counts: this.counts.get(queue) ?? EMPTY,
      finished: finishedOf(queue),
      previous,
      generation: metadata.generation ?? 0,
      now: now(),
    });
  }

  /** Returns false if the FluxSetup is gone or is another one: the watch reports that. */
  private async patchStatus({ metadata }: FluxSetupObject, status: FluxSetupStatus): Promise<boolean> {
    const { name, namespace, uid } = metadata;
    // Usage names every resource, so a quota that was removed is named as null, even if this process never saw it.
    const quota = mergePatchOf(status.usage ?? {}, status.quota ?? {});
    const body = { metadata: { uid }, status: { ...status, quota } };
    const path = fluxSetups(namespace, name, 'status');
    return (await applyPatch(this.options.client, path, { type: 'merge', body })) === 'done';
  }
}
