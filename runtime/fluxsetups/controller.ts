/**
 * FluxSetups at work: their settings in force here and in the queue's tables, what waits
 * judged anew when they change, and their status kept.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../clock';
import type { Config } from '../config';
import type { KubernetesClient } from '../kubernetes/client';
import type { ReconcileResult } from '../kubernetes/work-queue';
import type { Queue } from '../queue/store';
import type { WorkloadRow } from '../queue/workload';
import { Finished } from './queue-counts';
import { QueueRegistry } from './queue-registry';
import { type FluxSetupObject, ownQueue } from './queue-settings';
import { FluxSetupReconciler } from './reconciler';

export interface SetupsOptions {
  readonly config: Config;
  readonly client: KubernetesClient;
  readonly queue: Queue;
  readonly fence: number;
  readonly rows: () => Iterable<WorkloadRow>;
  /** All FluxSetups as last seen. */
  readonly all: () => readonly FluxSetupObject[];
  readonly seen: (namespace: string, name: string) => FluxSetupObject | undefined;
  readonly busy: () => boolean;
  /** A FluxSetup (`namespace/name`) is to be looked at. */
  readonly add: (key: string) => void;
  /** A queue changed. @param rejudge whether what waits in this namespace may belong elsewhere, or be planned otherwise, now */
  readonly onChanged: (namespace: string, rejudge: boolean) => void;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
}

/** What changes within this time is counted once. */
const GATHER_MS = 1_000;

/** What the rows of its workloads are made with; the rest is read by every pass. */
function ofWorkloads(setup: FluxSetupObject | undefined) {
  return setup && [setup.spec.walltime, setup.spec.priority];
}

export class FluxSetupController {
  readonly queues: QueueRegistry;
  private readonly finished = new Finished();
  private readonly reconciler: FluxSetupReconciler;
  private stored: Promise<void> | undefined;
  private cancel: (() => void) | undefined;
  private stopped = false;

  constructor(private readonly options: SetupsOptions) {
    const { config, all } = options;
    this.queues = new QueueRegistry(ownQueue(config.queue), config.queue.enabled, all);
    this.reconciler = new FluxSetupReconciler({
      ...options,
      queues: this.queues,
      units: config.units,
      finishedOf: (queue) => this.finished.of(queue),
      store: () => this.store(),
    });
  }

  /** The rows are there. Resolves when what has ended before is counted. */
  async start(): Promise<void> {
    for (const { queue } of this.options.rows()) this.queues.remember(queue);
    this.finished.start(await this.options.queue.finished());
  }

  stop(): void {
    this.stopped = true;
    this.cancel?.();
  }

  reconcile(key: string): Promise<ReconcileResult> {
    return this.reconciler.reconcile(key);
  }

  /** One came, went, or was written. */
  changed(before: FluxSetupObject | undefined, now: FluxSetupObject | undefined): void {
    const { namespace = '', name } = (now ?? before)!.metadata;
    // A status of ours changes nothing.
    if (before === undefined || before.metadata.generation !== now?.metadata.generation) {
      this.queues.changed();
      this.stored = undefined;
      this.reconciler.recount();
      this.options.onChanged(namespace, !isDeepStrictEqual(ofWorkloads(before), ofWorkloads(now)));
    }
    this.options.add(`${namespace}/${name}`);
  }

  rowChanged(row: WorkloadRow): void {
    this.finished.changed(row);
    if (this.stopped || this.cancel !== undefined || this.options.all().length === 0) return;
    this.cancel = this.options.clock.after(GATHER_MS, () => this.enqueueAll());
  }

  enqueueAll(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.reconciler.recount();
    for (const { metadata } of this.options.all()) this.options.add(`${metadata.namespace}/${metadata.name}`);
  }

  /** The queues in force are in the tables. Those of one change share a write; after one that failed the next who asks writes again. */
  async store(): Promise<void> {
    const { queue, fence } = this.options;
    const stored = this.stored ?? queue.setQueues(fence, this.queues.all());
    this.stored = stored;
    try {
      await stored;
    } catch (error) {
      if (this.stored === stored) this.stored = undefined;
      throw error;
    }
  }
}
