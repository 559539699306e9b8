/** The FluxJobs as an area of the term: their work queue, and the changes that enqueue them. */
import type { Change } from '../kubernetes/informer';
import type { KubernetesObject } from '../kubernetes/types';
import type { WorkQueue } from '../kubernetes/work-queue';
import { IN_LINE, type WorkloadRow, waitReasonOf } from '../queue/workload';
import type { Precedence } from '../scheduler/pass/order';
import type { WatchedFluxJob } from '../shared/fluxjob-projection';
import { reconcileQueue } from '../shared/reconcile-queue';
import type { Controller, Shared } from '../shared/shared';
import type { Surpluses } from '../shared/surplus';
import { objectAsGranted } from '../workloads/as-granted';
import { placementOf } from '../workloads/assignment';
import { ifReadable, podsOf } from '../workloads/demand';
import { ignoredChanges, mayChangeOtherwise } from '../workloads/ignored-changes';
import { adapters } from '../workloads/index';
import { deploymentsOf, olderPodsText } from '../workloads/rollout';
import { ownersOf } from './owners';
import { PendingRows } from './pending-rows';
import { QueuePositions } from './queue-positions';
import { FluxJobReconciler, type OrphanedFluxJob } from './reconciler';

/** FluxJobs that are reconciled at the same time. */
const CONCURRENCY = 8;
/** Milliseconds between two refreshes of positions and of planned starts. */
const REFRESH_MS = 10_000;
/** So many wrong positions behind the front are written per refresh: in a deep queue each start makes many of them wrong. */
const MOST_WRONG = { busy: 40, quiet: 400 };

/** What the FluxJobs show of the scheduler. */
interface SchedulerView {
  precedence(): Precedence;
  plannedStartOf(uid: string): number | undefined;
  likelyStartOf(uid: string): number | undefined;
  readonly surpluses: Surpluses;
}

export class FluxJobController implements Controller {
  /** Its keys are the uids of workloads. */
  private readonly queue: WorkQueue;
  private readonly rows: PendingRows;
  /** By uid of the workload. */
  private readonly orphans = new Map<string, OrphanedFluxJob>();
  private readonly positions: QueuePositions;
  private readonly reconciler: FluxJobReconciler;
  private cancelRefresh = () => {};
  private stopped = false;

  constructor(
    private readonly shared: Shared,
    private readonly scheduler: SchedulerView,
  ) {
    const { client, config, workloadCache, informers, workloads, logger, now } = shared;
    const { policy } = config.fluxJobs;
    this.rows = new PendingRows(workloadCache, shared.queue, policy);
    this.positions = new QueuePositions(workloadCache, () => scheduler.precedence(), now);
    this.reconciler = new FluxJobReconciler({
      client,
      adapters,
      rowOf: (uid) => this.rowOf(uid),
      loweredPodsOf: (row) => this.loweredPodsOf(row),
      positionOf: (uid) => this.positions.of(uid),
      plannedStartOf: (uid) => scheduler.plannedStartOf(uid),
      likelyStartOf: (uid) => scheduler.likelyStartOf(uid),
      waitOf: (uid) => shared.grantWaits.of(uid),
      lingeringOf: (uid) => shared.grantWaits.lingeringOf(uid),
      surplusOf: (uid) => scheduler.surpluses.of(uid),
      ignoredOf: (row) => this.ignoredOf(row),
      olderPodsOf: (row) => this.olderPodsOf(row),
      ownersOf: (row) => {
        const object = workloads.get(row);
        const own = object?.metadata.uid === row.uid ? object : undefined;
        return ownersOf(row, adapters.get(row.kind)!, own);
      },
      exists: (row) => workloads.isUnlisted(row) || workloads.get(row)?.metadata.uid === row.uid,
      fluxJobOf: (namespace, name) => informers.fluxJobs.get(`${namespace}/${name}`),
      orphanOf: (uid) => this.orphans.get(uid),
      busyness: shared.busyness,
      policy,
      onFinal: (uid) => this.rows.forget(uid),
      onUnrecorded: () => shared.metrics.unrecorded.inc(),
      onWritten: (seconds) => shared.metrics.fluxJobLag.observe(seconds),
      enqueue: (uid) => this.queue.add(uid),
      clock: shared.time.clock,
      pool: informers.pool,
      logger,
      now,
    });
    this.queue = reconcileQueue(shared, {
      name: 'fluxjobs',
      concurrency: CONCURRENCY,
      reconcile: (uid) => this.reconciler.reconcile(uid),
    });
  }

  async start(): Promise<void> {
    const { informers, signals, workloadCache, grantWaits } = this.shared;
    await this.recover();
    workloadCache.onChange((row) => this.rowChanged(row));
    informers.fluxJobs.changed.subscribe((change) => this.fluxJobChanged(change));
    grantWaits.changed.subscribe((uid) => this.queue.add(uid));
    this.scheduler.surpluses.changed.subscribe((uid) => this.queue.add(uid));
    for (const objects of [informers.jobs, informers.pods, ...informers.kinds.values()])
      objects.changed.subscribe((change: Change<Pick<KubernetesObject, 'metadata'>>) =>
        this.objectChanged(change),
      );
    signals.resync.subscribe(() => this.enqueueAll());
    informers.fluxJobs.rewritten.subscribe(() => void this.recoverAgain());
  }

  private recover(): Promise<void> {
    const { informers, workloads } = this.shared;
    return this.rows.recover(workloads.uids(), informers.fluxJobs.list());
  }

  /** FluxJobs are as they were before the end of their workloads. */
  private async recoverAgain(): Promise<void> {
    this.reconciler.distrust();
    try {
      await this.recover();
      this.enqueueAll();
    } catch (error) {
      this.shared.logger.warn({ err: error }, 'FluxJobs of ended workloads are not compared');
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelRefresh();
    this.reconciler.stop();
    await this.queue.stop();
  }

  /** The row of this workload, active or finished a moment ago, as its FluxJob shows it. */
  rowOf(uid: string): WorkloadRow | undefined {
    const current = this.shared.workloadCache.byUid(uid);
    return current !== undefined && this.loweredPodsOf(current) !== undefined
      ? current
      : this.rows.rowOf(uid);
  }

  private loweredPodsOf(row: WorkloadRow): number | undefined {
    const object = this.shared.workloads.get(row);
    if (row.allocation === null || row.phase === 'Finished' || object?.metadata.uid !== row.uid)
      return undefined;
    const adapter = adapters.get(row.kind)!;
    // A group asks for the pods that have not ended: no user has lowered it.
    const wanted = () => ifReadable(() => podsOf(adapter.demand(objectAsGranted(object, row)))) ?? row.pods;
    const isLowered = adapter.membersOf(object) === undefined && wanted() < row.pods;
    return isLowered ? placementOf(row).reduce((sum, { pods }) => sum + pods, 0) : undefined;
  }

  private rowChanged(row: WorkloadRow): void {
    this.positions.invalidate();
    this.rows.rowChanged(row);
    this.queue.add(row.uid);
  }

  /** A user changed what a started workload asks for: nothing else tells the FluxJob. */
  private objectChanged({ now, before }: Change<Pick<KubernetesObject, 'metadata'>>): void {
    if (now === undefined || before === undefined) return;
    const { uid } = now.metadata;
    const row = this.shared.workloadCache.byUid(uid);
    if (row !== undefined && row.phase !== 'Waiting' && mayChangeOtherwise(now.metadata, before.metadata))
      this.queue.add(uid);
  }

  private ignoredOf(row: WorkloadRow): readonly string[] {
    const object = this.shared.workloads.get(row);
    // What is suspended is leaving its nodes, and gets all that it asks for with its next grant.
    const isStarted = object?.metadata.uid === row.uid && !adapters.get(row.kind)!.isSuspended(object);
    return isStarted ? ignoredChanges(object.metadata, row) : [];
  }

  private olderPodsOf(row: WorkloadRow): string | undefined {
    const pod =
      row.phase === 'Waiting' ? this.shared.informers.pods.get(`${row.namespace}/${row.name}`) : undefined;
    if (row.kind !== 'Pod' || pod === undefined || !IN_LINE.has(waitReasonOf(row))) return undefined;
    const siblings = deploymentsOf(pod).flatMap((name) =>
      this.shared.informers.pods.byIndex('deployment', name),
    );
    return olderPodsText(pod, siblings);
  }

  private fluxJobChanged({ key, now, before }: Change<WatchedFluxJob>): void {
    const uid = (now ?? before)!.workload;
    if (now?.isOrphan === true) {
      this.orphans.set(uid, { key, uid: now.uid });
      this.queue.add(uid);
    } else this.orphans.delete(uid);
    if (before !== undefined && now?.uid !== before.uid) this.fluxJobDeleted(before);
  }

  /** It is created again while its workload is active. The garbage collector would delete that of a deleted workload again. */
  private fluxJobDeleted({ workload, uid }: WatchedFluxJob): void {
    const row = this.shared.workloadCache.byUid(workload);
    const object = row && this.shared.workloads.get(row);
    if (object?.metadata.uid !== workload || object.metadata.deletionTimestamp !== undefined) return;
    this.reconciler.lost(workload, uid);
    this.queue.add(workload);
  }

  private enqueueAll(): void {
    for (const { uid } of this.shared.workloadCache.active()) this.queue.add(uid);
    for (const uid of this.rows.finishedUids()) this.queue.add(uid);
    this.refresh();
  }

  private refresh(): void {
    this.cancelRefresh();
    if (this.stopped) return;
    for (const uid of this.outdated()) this.queue.add(uid);
    this.cancelRefresh = this.shared.time.clock.after(REFRESH_MS, () => this.refresh());
  }

  /** Positions change with other rows and with time alone, by aging and fair share, and starts with each plan; no row tells so. */
  private *outdated(): Iterable<string> {
    const { workloadCache, busyness } = this.shared;
    yield* this.positions.front();
    const wrong = this.positions.wrong((uid) => {
      const row = workloadCache.byUid(uid);
      return row && this.reconciler.shownOf(row)?.position;
    });
    yield* wrong.slice(0, busyness.isBusy() ? MOST_WRONG.busy : MOST_WRONG.quiet);
    for (const row of workloadCache.active())
      if (row.phase === 'Waiting' && this.hasStart(row)) yield row.uid;
  }

  /** Whether a start is planned, or its user is shown one, which may have passed. */
  private hasStart(row: WorkloadRow): boolean {
    const { uid } = row;
    const { plannedStart, likelyStart } = this.reconciler.shownOf(row) ?? {};
    const { scheduler } = this;
    const start =
      plannedStart ?? likelyStart ?? scheduler.plannedStartOf(uid) ?? scheduler.likelyStartOf(uid);
    return start !== undefined;
  }
}
