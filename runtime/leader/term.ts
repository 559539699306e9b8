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
import { Retention } from './retention';
import { createShared, type TermOptions } from './shared';

/** Milliseconds. The first passes do not wait longer for the repairs; these continue beside them. */
const RECOVERY_MS = 5_000;

/** `objects`: report the watched objects. `rows`: read the queue. `areas`: start them. `repairs`: see {@link Audit}. */
type TermPhase = 'objects' | 'rows' | 'areas' | 'repairs' | 'resync';

export class Term {
  private readonly shared: Shared;
  private readonly audit: Audit;
  private readonly workloads: WorkloadController;
  private readonly scheduler: Scheduler;
  private readonly fluxJobs: FluxJobController;
  private readonly fluxSetups: FluxSetupController;
  private readonly miniClusters: MiniClusterController;
  private readonly retention: Retention;
  private isScheduling = false;
  private stopped = false;

  constructor(options: TermOptions) {
    const shared = createShared(options);
    this.shared = shared;
    this.workloads = new WorkloadController(shared);
    this.audit = new Audit(shared, this.workloads.submissionBuilder);
    this.scheduler = new Scheduler(shared, this.audit);
    this.fluxJobs = new FluxJobController(shared, this.scheduler);
    this.fluxSetups = new FluxSetupController(shared);
    this.miniClusters = new MiniClusterController(shared, this.fluxJobs);
    this.retention = new Retention(shared);
  }

  /** Resolves when every object is enqueued and the first scheduling pass is due. It rejects if the database fails. */
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
    if (this.stopped) return;
    phases.start('repairs');
    await this.recover();
    if (this.stopped) return;
    phases.start('resync');
    signals.resync.emit();
    this.isScheduling = true;
    await this.startInOrder([this.scheduler, this.retention, this.miniClusters]);
    logger.info({ milliseconds: phases.stop() }, 'term started');
  }

  /** Why no workload is scheduled at this moment; undefined while passes succeed. */
  get trouble(): string | undefined {
    return this.isScheduling ? this.scheduler.trouble : 'the term is starting';
  }

  /** Ends the term, also while it is starting. No area writes any more once this resolves. */
  async stop(): Promise<void> {
    this.stopped = true;
    const { informers, events } = this.shared;
    await stopAll([this.scheduler, this.retention, this.workloads, this.miniClusters, informers]);
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
    await Promise.race([this.workloads.queue.drained(), pause(this.shared.time.clock, RECOVERY_MS)]);
  }
}

async function stopAll(parts: readonly Controller[]): Promise<void> {
  await Promise.all(parts.map((part) => part.stop()));
}
