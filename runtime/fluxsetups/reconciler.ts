/**
 * Keeps the status of every FluxSetup equal to its queue. Nothing is decided by
 * it, so its writes are few: counts change with every job, and are written when
 * something has changed at most once in a while.
 */
import { isDeepStrictEqual } from 'node:util';
import { FLUXSETUP_GROUP, FLUXSETUP_VERSION } from '../../constructs/api/labels';
import type { FluxSetupStatus } from '../../imports/flux-framework.org-status';
import type { UnitSettings } from '../jobspec/units';
import type { KubernetesClient } from '../kubernetes/client';
import { mergePatchOf } from '../kubernetes/merge-patch';
import { namespaced } from '../kubernetes/paths';
import { RateLimiter } from '../kubernetes/rate-limiter';
import { applyPatch } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import { countQueues, EMPTY, type QueueCounts } from './queue-counts';
import type { QueueRegistry } from './queue-registry';
import { type FluxSetupObject, queueName } from './queue-settings';
import { fluxSetupStatus } from './status';

export const fluxSetups = namespaced(FLUXSETUP_GROUP, FLUXSETUP_VERSION, 'fluxsetups');

export interface FluxSetupReconcilerOptions {
  readonly client: KubernetesClient;
  readonly queues: QueueRegistry;
  readonly units: UnitSettings;
  /** The rows that are not finished. */
  readonly rows: () => Iterable<WorkloadRow>;
  /** How many of a queue are over. */
  readonly finishedOf: (queue: string) => number;
  /** As last seen. */
  readonly seen: (namespace: string, name: string) => FluxSetupObject | undefined;
  /** Whether many workloads start and end just now. */
  readonly busy: () => boolean;
  /** The settings in force are in the queue's tables; resolves at once when they are. */
  readonly store: () => Promise<void>;
  /** Unix seconds. */
  readonly now: () => number;
}

/** Writes per second, of all FluxSetups together. */
const PACE = { busy: 2, quiet: 20 };
const BURST = 5;
const MOST_LAG_SECONDS = 60;
/** Seconds between two writes of one FluxSetup. */
const APART = { busy: 5, quiet: 1 };

interface Written {
  readonly uid: string;
  readonly status: FluxSetupStatus;
  /** Unix seconds. */
  readonly at: number;
}

type Next = { readonly after: number } | undefined;

export class FluxSetupReconciler {
  /** What was written last by us, where the watch may lag behind. */
  private readonly written = new Map<string, Written>();
  private counted: ReadonlyMap<string, QueueCounts> | undefined;
  private readonly pace = new RateLimiter(
    (waiting) => Math.max(this.options.busy() ? PACE.busy : PACE.quiet, waiting / MOST_LAG_SECONDS),
    BURST,
  );

  constructor(private readonly options: FluxSetupReconcilerOptions) {}

  /** Rows changed: they are counted once more, for all FluxSetups together. */
  recount(): void {
    this.counted = undefined;
  }

  /** @param key `namespace/name` */
  async reconcile(key: string): Promise<Next> {
    const { seen, store, now } = this.options;
    const [namespace = '', name = ''] = key.split('/');
    const object = seen(namespace, name);
    // What it says is at work is in the tables, too.
    await store();
    if (object === undefined) return this.forget(key);
    const before = this.known(key, object);
    const status = this.statusOf(object, before.status);
    if (isDeepStrictEqual(status, before.status)) {
      this.pace.drop(key);
      return undefined;
    }
    const wait = this.waitOf(key, object, before);
    if (wait > 0) return { after: Math.ceil(wait * 1000) };
    if (await this.write(object, status))
      this.written.set(key, { uid: object.metadata.uid, status, at: now() });
    return undefined;
  }

  private forget(key: string): undefined {
    this.written.delete(key);
    this.pace.drop(key);
  }

  private known(key: string, { metadata, status = {} }: FluxSetupObject): Written {
    const written = this.written.get(key);
    return written?.uid === metadata.uid ? written : { uid: metadata.uid, status, at: 0 };
  }

  /** Its owner who changes it wants to see that it is at work; counts can wait. */
  private waitOf(key: string, { metadata }: FluxSetupObject, before: Written): number {
    const { busy, now } = this.options;
    if (before.status.observedGeneration !== metadata.generation) return 0;
    const due = before.at + (busy() ? APART.busy : APART.quiet) - now();
    return due > 0 ? due : this.pace.claim(key, now());
  }

  private statusOf({ metadata }: FluxSetupObject, previous: FluxSetupStatus): FluxSetupStatus {
    const { queues, finishedOf, now, rows, units } = this.options;
    const queue = queueName(metadata.namespace ?? '', metadata.name);
    this.counted ??= countQueues(rows(), units);
    return fluxSetupStatus({
      queue,
      settings: queues.byName(queue),
      problem: queues.problemOf(queue),
      counts: this.counted.get(queue) ?? EMPTY,
      finished: finishedOf(queue),
      previous,
      generation: metadata.generation ?? 0,
      now: now(),
    });
  }

  /** @returns false when it is gone, or another by now: the watch will tell */
  private async write({ metadata }: FluxSetupObject, status: FluxSetupStatus): Promise<boolean> {
    const { name, namespace, uid } = metadata;
    // Usage names every resource: none keeps a quota that it has lost, also one that was never seen here.
    const quota = mergePatchOf(status.usage ?? {}, status.quota ?? {});
    const body = { metadata: { uid }, status: { ...status, quota } };
    const path = fluxSetups(namespace, name, 'status');
    return (await applyPatch(this.options.client, path, { type: 'merge', body })) === 'done';
  }
}
