/**
 * A term: what a leader does from the moment it holds the lease and the fence until it loses them. Its areas start
 * from Postgres and the apiserver alone, so a term after a crash is a term like any other.
 */
import { pause } from '../clock';
import { FluxJobController } from '../fluxjobs/controller';
import { FluxSetupController } from '../fluxsetups/controller';
import { MiniClusterController } from '../miniclusters/controller';
import { Scheduler } from '../scheduler/controller';
import { PhaseTimer } from '../scheduler/phase-timer';
import type { Controller, Shared } from '../shared/shared';
import { WorkloadController } from '../workloads/controller';
import { Audit } from './audit';
import { Measurements } from './measurements';
import { Retention } from './retention';
import { createShared, type TermOptions } from './shared';

/** Milliseconds. The first pass waits no longer for the repairs, and the other areas no longer for the first pass. */
const RECOVERY_MS = 5_000;

/** `objects`: report the watched objects. `rows`: read the queue. `areas`: start them. `repairs`: see {@link Audit}. */
type TermPhase = 'objects' | 'rows' | 'areas' | 'repairs';

export class Term {
  private readonly shared: Shared;
  private readonly audit: Audit;
  private readonly workloads: WorkloadController;
  private readonly scheduler: Scheduler;
  private readonly fluxJobs: FluxJobController;
  private readonly fluxSetups: FluxSetupController;
  private readonly miniClusters: readonly MiniClusterController[];
  private readonly retention: Retention;
  private readonly measurements: Measurements;
  private isScheduling = false;
  private stopped = false;

  constructor(options: TermOptions) {
    const shared = createShared(options);
    this.shared = shared;
    this.workloads = new WorkloadController(shared);
    this.audit = new Audit(shared, this.workloads.submissionBuilder);
    this.scheduler = new Scheduler(shared, this.audit);
    this.fluxJobs = new FluxJobController(shared, this.scheduler);
    this.fluxSetups = new FluxSetupController(shared, this.scheduler.surpluses);
    const { enabled } = shared.config.miniClusters;
    this.miniClusters = enabled ? [new MiniClusterController(shared, this.fluxJobs)] : [];
    this.retention = new Retention(shared);
    this.measurements = new Measurements(shared, () => this.scheduler.unmanaged());
  }

  /** Resolves when the first scheduling pass was tried and every object is enqueued. It rejects if the database fails. */
  async start(): Promise<void> {
    const { informers, workloadCache, signals, time, logger } = this.shared;
    const phases = new PhaseTimer<TermPhase>(time.clock);
    phases.start('objects');
    informers.replay();
    phases.start('rows');
    await workloadCache.reload();
    // No area starts before everything has been listed: until then an object that is not in a cache may exist.
    phases.start('areas');
    await this.startInOrder([informers, this.fluxSetups, this.fluxJobs, this.workloads]);
    for (const { rewritten } of [informers.jobs, informers.pods, ...informers.kinds.values()])
      rewritten.subscribe(() => signals.resync.emit());
    if (this.stopped) return;
    phases.start('repairs');
    await this.recover();
    if (this.stopped) return;
    this.isScheduling = true;
    await this.startInOrder([this.scheduler, this.retention, this.measurements, ...this.miniClusters]);
    logger.info({ milliseconds: phases.stop() }, 'term started');
    await this.withinTime(this.scheduler.tried);
    if (this.stopped) return;
    // Reconciling everything takes seconds, in which the first pass would wait for the processor.
    signals.resync.emit();
    void this.workloads.queue.caughtUp().then(() => this.audit.recovered());
  }

  /** Why no workload is scheduled at this moment; undefined while passes succeed. */
  get trouble(): string | undefined {
    return this.isScheduling ? this.scheduler.trouble : 'the term is starting';
  }

  /** Ends the term, also while it is starting. No area writes any more once this resolves. */
  async stop(): Promise<void> {
    this.stopped = true;
    const { informers, events } = this.shared;
    const { scheduler, retention, measurements, workloads, miniClusters } = this;
    await stopAll([scheduler, retention, measurements, workloads, ...miniClusters, informers]);
    // Their last changes were for these.
    await stopAll([this.fluxJobs, this.fluxSetups]);
    await events.stop();
  }

  private async startInOrder(parts: readonly Controller[]): Promise<void> {
    for (const part of parts) {
      if (this.stopped) return;
      await part.start();
    }
  }

  /** Repairs what happened while nobody led, before anything is decided on it. */
  private async recover(): Promise<void> {
    await this.audit.recover();
    this.workloads.enqueueNew();
    await this.withinTime(this.workloads.queue.caughtUp());
  }

  private async withinTime(work: Promise<void>): Promise<void> {
    const done = new AbortController();
    await Promise.race([work, pause(this.shared.time.clock, RECOVERY_MS, done.signal)]);
    done.abort();
  }
}

async function stopAll(parts: readonly Controller[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop()));
}
