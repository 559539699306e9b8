/**
 * The FluxSetups as an area of the term: it writes the settings of the queues to the database, announces their
 * changes, and keeps the status of every FluxSetup.
 */
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../errors';
import type { FluxSetupObject } from '../kubernetes/custom-resources';
import type { Change } from '../kubernetes/informer';
import type { WorkQueue } from '../kubernetes/work-queue';
import type { WorkloadRow } from '../queue/workload';
import { reconcileQueue } from '../shared/reconcile-queue';
import type { Controller, Shared } from '../shared/shared';
import type { Surpluses } from '../shared/surplus';
import { FinishedCounts } from './finished-counts';
import type { QueueRegistry } from './queue-registry';
import { FluxSetupReconciler } from './reconciler';

/** FluxSetups that are reconciled at the same time. */
const CONCURRENCY = 2;
/** Milliseconds. Row changes within this time are counted together. */
const GATHER_MS = 1_000;
/** Milliseconds until the finished workloads are counted again after the database did not. It reads the whole history for that. */
const COUNT_AGAIN_MS = 600_000;

export type FluxSetupShared = Omit<Shared, 'queues'> & { readonly queues: QueueRegistry };

export class FluxSetupController implements Controller {
  private readonly queue: WorkQueue;
  private readonly finished = new FinishedCounts();
  private readonly reconciler: FluxSetupReconciler;
  /** The last write of the queues to the database; undefined if their settings changed since. */
  private stored: Promise<void> | undefined;
  private cancelCount: (() => void) | undefined;
  private cancelLoad: (() => void) | undefined;
  private stopped = false;

  constructor(
    private readonly shared: FluxSetupShared,
    private readonly surpluses: Surpluses,
  ) {
    const { client, queues, config, workloadCache, informers, logger, now } = shared;
    this.reconciler = new FluxSetupReconciler({
      client,
      queues,
      units: config.units,
      rows: () => workloadCache.active(),
      surpluses: () => surpluses.charges(),
      finishedOf: (queue) => this.finished.of(queue),
      fluxSetupOf: (key) => informers.fluxSetups.get(key),
      isBusy: shared.busyness.isBusy,
      storeQueues: () => this.storeQueues(),
      enqueue: (key) => this.queue.add(key),
      clock: shared.time.clock,
      logger,
      now,
    });
    this.queue = reconcileQueue(shared, {
      name: 'fluxsetups',
      concurrency: CONCURRENCY,
      reconcile: (key) => this.reconciler.reconcile(key),
    });
  }

  /** Resolves when the queues are in the database. */
  async start(): Promise<void> {
    const { queues, workloadCache, informers, signals } = this.shared;
    for (const row of workloadCache.active()) queues.remember(row.queue);
    informers.fluxSetups.changed.subscribe((change) => this.fluxSetupChanged(change));
    workloadCache.onChange((row) => this.rowChanged(row));
    this.surpluses.changed.subscribe(() => this.count());
    signals.resync.subscribe(() => this.enqueueAll());
    await this.storeQueues();
    if (!this.stopped) void this.loadFinished();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelCount?.();
    this.cancelLoad?.();
    this.reconciler.stop();
    await this.queue.stop();
  }

  /** No term waits for it: a long history can take more than the time of a statement. */
  private async loadFinished(): Promise<void> {
    const { queue, logger, time } = this.shared;
    this.finished.ask();
    try {
      this.finished.load(await queue.finished());
      if (!this.stopped) this.enqueueAll();
    } catch (error) {
      if (this.stopped) return;
      logger.warn({ error: messageOf(error) }, 'the finished workloads of the queues could not be counted');
      this.cancelLoad = time.clock.after(COUNT_AGAIN_MS, () => void this.loadFinished());
    }
  }

  /**
   * Writes the queues in force to the database. Callers between two changes share one write; after a failed write
   * the next caller writes again.
   */
  private async storeQueues(): Promise<void> {
    const { queue, fence, queues } = this.shared;
    const stored = this.stored ?? queue.setQueues(fence, queues.all());
    this.stored = stored;
    try {
      await stored;
    } catch (error) {
      if (this.stored === stored) this.stored = undefined;
      throw error;
    }
  }

  private fluxSetupChanged({ key, now, before }: Change<FluxSetupObject>): void {
    // A status write leaves the generation and changes no queue.
    if (before === undefined || before.metadata.generation !== now?.metadata.generation) {
      this.shared.queues.invalidate();
      this.stored = undefined;
      this.reconciler.recount();
      this.announce(
        (now ?? before)!,
        !isDeepStrictEqual(submissionSettings(before), submissionSettings(now)),
      );
    }
    this.queue.add(key);
  }

  private announce({ metadata: { namespace = '' } }: FluxSetupObject, changesSubmissions: boolean): void {
    const { signals } = this.shared;
    if (changesSubmissions) signals.resubmitWaiting.emit({ namespaces: new Set([namespace]) });
    else signals.schedule.emit();
  }

  private rowChanged(row: WorkloadRow): void {
    this.finished.rowChanged(row);
    this.count();
  }

  private count(): void {
    const { informers, time } = this.shared;
    if (this.stopped || this.cancelCount !== undefined || informers.fluxSetups.size === 0) return;
    this.cancelCount = time.clock.after(GATHER_MS, () => this.enqueueAll());
  }

  private enqueueAll(): void {
    this.cancelCount?.();
    this.cancelCount = undefined;
    this.reconciler.recount();
    for (const { metadata } of this.shared.informers.fluxSetups.list())
      this.queue.add(`${metadata.namespace}/${metadata.name}`);
  }
}

/** The settings that submissions depend on; every pass reads the others again. Undefined: there is no queue. */
function submissionSettings(fluxSetup: FluxSetupObject | undefined) {
  return fluxSetup && [fluxSetup.spec.walltime, fluxSetup.spec.priority, fluxSetup.spec.allowStackQueue];
}
