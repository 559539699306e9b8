/**
 * A term: what a leader does from the moment it holds the lease and the fence
 * until it loses them. Everything in it starts from Postgres and the apiserver,
 * so a term after a crash is a term like any other.
 */
import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { pause, steadySeconds, systemTime, type Time } from '../clock';
import type { Config } from '../config';
import type { Fluxion } from '../fluxion/types';
import { Records } from '../fluxjobs/pending-rows';
import { Positions } from '../fluxjobs/queue-positions';
import { FluxJobReconciler } from '../fluxjobs/reconciler';
import { FluxSetupController } from '../fluxsetups/controller';
import type { ClusterFacts } from '../jobspec/constraints';
import type { KubernetesClient } from '../kubernetes/client';
import { EventRecorder } from '../kubernetes/events';
import type { ReconcileResult, WorkQueue } from '../kubernetes/work-queue';
import { MiniClusters } from '../miniclusters/controller';
import type { Logger } from '../observability/log';
import type { ControllerMetrics } from '../observability/metrics';
import type { Queue } from '../queue/store';
import type { WorkloadRow } from '../queue/workload';
import { WorkloadCache } from '../queue/workload-cache';
import type { GraphNode } from '../resources/types';
import { FluxionSync } from '../scheduler/fluxion-sync';
import { SchedulingLoop } from '../scheduler/loop';
import { WorkloadEvents } from '../workloads/events';
import { adapters } from '../workloads/index';
import { formatKey, parseKey, type WorkloadKey } from '../workloads/key';
import { WorkloadReconciler } from '../workloads/reconciler';
import { SubmissionBuilder } from '../workloads/submission';
import { Audit } from './audit';
import { Caches } from './caches';
import { ChangeRate } from './change-rate';
import { Retention } from './retention';
import { reconcileQueue } from './work-queue';

export interface TermOptions {
  readonly config: Config;
  readonly client: KubernetesClient;
  readonly queue: Queue;
  readonly fluxion: Fluxion;
  readonly fence: number;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  /** The database has seen a newer leader: the term is over. */
  readonly onFenced: (error: Error) => void;
  /** @default - the machine's */
  readonly time?: Time;
}

/** Changes of rows per second from which on the apiserver has better to do than records. */
const BUSY = 5;
/** How often the places of the first in line are shown anew. */
const POSITIONS_MS = 10_000;
/** Repairs that take longer go on beside the first passes. */
const RECOVERY_MS = 5_000;

export class Term {
  private readonly workloadCache: WorkloadCache;
  private readonly graph: FluxionSync;
  private readonly loop: SchedulingLoop;
  private readonly retention: Retention;
  private readonly caches: Caches;
  private readonly setups: FluxSetupController;
  private readonly positions: Positions;
  private readonly changeRate = new ChangeRate();
  private readonly records: Records;
  private readonly events: EventRecorder;
  private readonly news: WorkloadEvents;
  private readonly workloads: WorkQueue;
  private readonly fluxJobs: WorkQueue;
  private readonly fluxSetups: WorkQueue;
  private readonly submissionBuilder: SubmissionBuilder;
  private readonly audit: Audit;
  private readonly workloadReconciler: WorkloadReconciler;
  private readonly fluxJobReconciler: FluxJobReconciler;
  private readonly miniClusters: MiniClusters;
  private stopped = false;
  /** Until everything has been listed once, what is not in the caches may exist all the same. */
  private synced = false;
  private begun = false;
  private cancelRefresh = () => {};
  private facts: ClusterFacts | undefined;
  private readonly time: Time;
  /** Unix seconds. */
  private readonly now: () => number;

  constructor(private readonly options: TermOptions) {
    const { config, client, queue, fluxion, fence, logger, metrics } = options;
    this.time = options.time ?? systemTime;
    this.now = steadySeconds(this.time);
    const { now } = this;
    this.workloadCache = new WorkloadCache(queue, fence, {
      onStale: () => this.loop.trigger(),
      cpuMillis: config.units.cpuMillis,
      halfLifeSeconds: config.fairShare.halfLifeSeconds,
      now,
    });
    const { retentionDays: days } = config.queue;
    const { onFenced } = options;
    this.retention = new Retention({ queue, fence, days, onFenced, logger, clock: this.time.clock, now });
    this.positions = new Positions(this.workloadCache, () => this.loop.precedence());
    this.records = new Records(this.workloadCache, queue);
    this.events = new EventRecorder({
      client,
      logger,
      component: 'fluxqueue-controller',
      instance: hostname(),
      clock: this.time.clock,
    });
    this.news = new WorkloadEvents({ events: this.events, objectOf: (key) => this.caches.objectOf(key) });
    this.graph = new FluxionSync({
      fluxion,
      fence,
      logger,
      policy: config.fluxion.policy,
      onRebuild: (cause) => this.rebuilt(cause),
    });
    this.caches = new Caches({
      client,
      logger,
      time: this.time,
      units: config.units,
      isOurs: (uid) => this.workloadCache.byUid(uid)?.allocation != null,
      onWorkload: (key) => this.enqueue(key),
      onCapacity: () => this.loop.trigger(),
      onNodeGone: (name) => this.nodeGone(name),
      onFluxJob: (uid, object) => this.fluxJobChanged(uid, object === undefined),
      onFluxSetup: (before, object) => this.setups.changed(before, object),
      onPriorities: () => this.enqueueWaiting(),
    });
    this.setups = this.createSetups();
    this.loop = new SchedulingLoop({
      workloadCache: this.workloadCache,
      graph: this.graph,
      nodes: () => this.graphNodes(),
      units: config.units,
      unmanaged: () => this.caches.unmanaged(),
      queueSettings: (name) => this.setups.queues.byName(name),
      queues: () => this.setups.queues.all(),
      fairUsage: (now) => (config.fairShare.enabled ? this.workloadCache.fairUsage(now) : undefined),
      onGranted: (row) => this.granted(row),
      onEvictionRequested: (row) => this.enqueue(row),
      audit: () => this.audit.compare(false),
      auditMs: config.audit.intervalSeconds * 1000,
      onFluxionDiffers: (difference) => {
        logger.warn({ repair: 'fluxion-differs', difference }, 'Fluxion differs from the tables');
        metrics.repairs.inc({ kind: 'fluxion-differs' });
      },
      onReloaded: () => this.enqueueAll(),
      onFenced: options.onFenced,
      logger,
      metrics,
      clock: this.time.clock,
      now,
    });
    this.workloads = this.workQueue('workloads', 32, (key) =>
      this.workloadReconciler.reconcile(parseKey(key)),
    );
    this.fluxJobs = this.workQueue('fluxjobs', 8, (uid) => this.fluxJobReconciler.reconcile(uid));
    this.fluxSetups = this.workQueue('fluxsetups', 2, (key) => this.setups.reconcile(key));
    this.submissionBuilder = this.createIntake();
    this.audit = this.createAudit();
    this.workloadReconciler = this.createWorkloadReconciler();
    this.fluxJobReconciler = new FluxJobReconciler({
      client,
      adapters,
      rowOf: (uid) => this.records.rowOf(uid),
      positionOf: (uid) => this.positions.of(uid),
      seen: (namespace, name) => this.caches.fluxJob(namespace, name),
      busy: () => this.isBusy(),
      onSettled: (uid) => this.records.settled(uid),
      now,
    });
    this.miniClusters = new MiniClusters({
      client,
      logger,
      events: this.events,
      podsOf: (uid) => this.caches.podsOf(uid),
      rowOf: (uid) => this.records.rowOf(uid),
      workQueue: (reconcile) => this.workQueue('miniclusters', 8, reconcile),
      time: this.time,
      now,
    });
    this.workloadCache.onChange((row) => this.rowChanged(row));
  }

  /** Resolves when the first look at everything is queued; the rest goes on by itself. */
  async start(): Promise<void> {
    await this.workloadCache.reload();
    await Promise.all([this.caches.start(), this.setups.start()]);
    if (this.stopped) return;
    await this.setups.store();
    await this.records.recover(this.caches.allFluxJobs());
    if (this.stopped) return;
    this.synced = true;
    await this.recover();
    if (this.stopped) return;
    this.enqueueAll();
    this.showPositions();
    this.begun = true;
    this.loop.start();
    this.retention.start();
    this.miniClusters.start();
  }

  /** What nobody followed is followed up before anything is decided on it; one that can't be just now holds up nobody. */
  private async recover(): Promise<void> {
    await this.audit.compare(true);
    await Promise.race([this.workloads.drained(), pause(this.time.clock, RECOVERY_MS)]);
  }

  /** Why nothing is scheduled at the moment; undefined when it is. */
  get trouble(): string | undefined {
    return this.begun ? this.loop.trouble : 'the term is starting';
  }

  /** Ends the term, also one that is still starting: nothing of it writes any more once this resolves. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelRefresh();
    this.setups.stop();
    await Promise.all([
      this.loop.stop(),
      this.retention.stop(),
      this.workloads.stop(),
      this.miniClusters.stop(),
      this.caches.stop(),
    ]);
    await Promise.all([this.fluxJobs.stop(), this.fluxSetups.stop()]);
    await this.events.stop();
  }

  private enqueueAll(): void {
    for (const key of this.caches.workloads()) this.enqueue(key);
    for (const row of this.workloadCache.active()) {
      this.enqueue(row);
      this.fluxJobs.add(row.uid);
    }
    for (const uid of this.records.unsettled()) this.fluxJobs.add(uid);
    this.setups.enqueueAll();
  }

  private enqueue(key: WorkloadKey): void {
    if (this.synced) this.workloads.add(formatKey(key));
  }

  /** @param namespace @default - all */
  private enqueueWaiting(namespace?: string): void {
    if (!this.synced) return;
    for (const row of this.workloadCache.active())
      if (row.phase === 'Waiting' && (namespace ?? row.namespace) === row.namespace) this.enqueue(row);
    this.loop.trigger();
  }

  private addFluxSetup(key: string): void {
    if (this.synced) this.fluxSetups.add(key);
  }

  private isBusy(): boolean {
    return this.changeRate.perSecond(this.now()) > BUSY;
  }

  private nodeGone(name: string): void {
    for (const row of this.workloadCache.active())
      if (row.allocation?.nodes.some((node) => node.name === name)) this.enqueue(row);
  }

  private createSetups(): FluxSetupController {
    const { config, client, queue, fence } = this.options;
    return new FluxSetupController({
      config,
      client,
      queue,
      fence,
      rows: () => this.workloadCache.active(),
      all: () => this.caches.allFluxSetups(),
      seen: (namespace, name) => this.caches.fluxSetup(namespace, name),
      busy: () => this.isBusy(),
      add: (key) => this.addFluxSetup(key),
      onChanged: (namespace, rejudge) => {
        if (rejudge) this.enqueueWaiting(namespace);
        else this.loop.trigger();
      },
      clock: this.time.clock,
      now: this.now,
    });
  }

  private createIntake(): SubmissionBuilder {
    const { config, logger } = this.options;
    return new SubmissionBuilder({
      workloadCache: this.workloadCache,
      queues: this.setups.queues,
      priorityOf: (className) => this.caches.priorityOf(className),
      stackNamespace: config.leaderElection.namespace,
      units: config.units,
      clusterFacts: () => this.caches.clusterFacts(),
      onInvalid: (object, adapter, message) =>
        this.news.recordEvent(object, adapter, { type: 'Warning', reason: 'Invalid', message }),
      logger,
    });
  }

  private createAudit(): Audit {
    const { logger, metrics } = this.options;
    return new Audit({
      workloadCache: this.workloadCache,
      submissionBuilder: this.submissionBuilder,
      adapters,
      workloads: () => this.caches.workloads(),
      objectOf: (key) => this.caches.objectOf(key),
      podsOf: (uid) => this.caches.podsOf(uid),
      nodeExists: (name) => this.caches.nodeExists(name),
      nodes: () => this.caches.graphNodes(),
      enqueue: (key) => this.enqueue(key),
      onRepair: (kind) => metrics.repairs.inc({ kind }),
      logger,
      now: this.now,
    });
  }

  /** What the start was, and what was in doubt since. */
  private rebuilt(cause: string): void {
    const { metrics, logger } = this.options;
    const atStart = cause === 'start';
    metrics.rebuilds.inc({ cause: atStart ? 'start' : 'doubt' });
    if (atStart) return;
    logger.warn({ repair: 'fluxion-rebuilt', cause }, 'Fluxion is made anew from the tables');
    metrics.repairs.inc({ kind: 'fluxion-rebuilt' });
  }

  private createWorkloadReconciler(): WorkloadReconciler {
    const { client } = this.options;
    return new WorkloadReconciler({
      client,
      workloadCache: this.workloadCache,
      adapters,
      submissionBuilder: this.submissionBuilder,
      objectOf: (key) => this.caches.objectOf(key),
      podsOf: (uid) => this.caches.podsOf(uid),
      nodeExists: (name) => this.caches.nodeExists(name),
      requeueOf: (queue) => this.setups.queues.planOf(queue).requeue,
      onFreed: (jobid) => this.graph.cancelLater(jobid),
      onShrunk: (jobid, nodes) => {
        this.graph.shrinkLater(jobid, nodes);
        this.loop.trigger();
      },
      onQueueChanged: () => this.loop.trigger(),
      onUnrecordedGrant: () => this.loop.auditSoon(),
      recordEvent: (object, adapter, news) => this.news.recordEvent(object, adapter, news),
      logger: this.options.logger,
      clock: this.time.clock,
      now: this.now,
    });
  }

  private workQueue(
    name: string,
    concurrency: number,
    reconcile: (key: string) => Promise<ReconcileResult>,
  ): WorkQueue {
    const { logger, onFenced } = this.options;
    return reconcileQueue({ name, concurrency, reconcile, onFenced, logger, time: this.time });
  }

  /** Jobspecs name labels and taints as the nodes have them: when those change, what waits is written anew. */
  private graphNodes(): ReadonlyMap<string, GraphNode> {
    const facts = this.caches.clusterFacts();
    if (facts !== this.facts && !isDeepStrictEqual(facts, this.facts)) this.enqueueWaiting();
    this.facts = facts;
    return this.caches.graphNodes();
  }

  private granted(row: WorkloadRow): void {
    this.options.metrics.waitSeconds.observe(Math.max(0, this.now() - row.submittedAt));
    this.enqueue(row);
  }

  private rowChanged(row: WorkloadRow): void {
    this.changeRate.change(this.now());
    this.positions.changed();
    this.records.changed(row);
    this.setups.rowChanged(row);
    this.miniClusters.rowChanged(row);
    this.fluxJobs.add(row.uid);
    this.news.rowChanged(row);
  }

  /** Deleted by hand, or known from before a restart. */
  private fluxJobChanged(uid: string, deleted: boolean): void {
    if (deleted && this.workloadCache.byUid(uid) !== undefined) this.fluxJobs.add(uid);
  }

  private showPositions(): void {
    for (const uid of this.positions.first()) this.fluxJobs.add(uid);
    for (const phase of ['Waiting', 'Ready', 'Running'] as const)
      this.options.metrics.workloads.set({ phase }, this.workloadCache.count(phase));
    this.cancelRefresh = this.time.clock.after(POSITIONS_MS, () => this.showPositions());
  }
}
