/**
 * Reconciles one workload, from its submission to its end. Each call takes a key (`Job/namespace/name`), reads the object, its pods
 * and its row, and does the next step. Every step is idempotent, so one that a crash interrupts is done again.
 */
import type { KubernetesObject, Pod } from '../kubernetes/types';
import { earliest, type ReconcileResult } from '../kubernetes/work-queue';
import { HANDED_BACK, type WorkloadRow } from '../queue/workload';
import { logDecision } from '../shared/decision-log';
import { LEAVING } from '../shared/grant-waits';
import { identityOf } from '../shared/pod-facts';
import type { WorkloadKey } from '../shared/workload-key';
import type { ActiveWorkload, Outcome, WorkloadAdapter } from './adapter';
import { requestAdoption } from './adoption';
import { asGranted } from './as-granted';
import { DeletedPods } from './deleted-pods';
import { Departure, NOT_TAKEN } from './departure';
import { Eviction, type EvictionReason, endOfEvicted, requestedEviction, retryOf } from './eviction';
import { GoneEnds } from './gone-ends';
import { GrantWatch } from './grant-watch';
import { followEnd } from './granted-end';
import { GroupNotices } from './group-notices';
import { LargeReleases } from './large-releases';
import { Lingering } from './lingering';
import { isLive } from './live-pods';
import { NameInUse } from './name-in-use';
import { Orphans } from './orphans';
import { POD_GROUP } from './pod-group';
import type { WorkloadReconcilerOptions } from './reconciler-options';
import { Release } from './release';
import { keepReplacementPolicy } from './replacement-policy';
import { Replacements } from './replacements';
import { Rescue } from './rescue';
import { ReturnedWorkloads } from './returned';
import { Shrinking, TERMINATING_POLL_MS } from './shrinking';
import { Staging } from './staging';
import { enforceWalltime, recordStart } from './starts';
import { Ungating } from './ungate';
import { Unlisted } from './unlisted';
import { UnseenStarts } from './unseen-start';

const IMMEDIATELY = { after: 1 };

export class WorkloadReconciler {
  private readonly deletedPods: DeletedPods;
  private readonly departure: Departure;
  private readonly eviction: Eviction;
  readonly goneEnds: GoneEnds;
  private readonly release: Release;
  private readonly ungating: Ungating;
  private readonly largeReleases: LargeReleases;
  private readonly watch: GrantWatch;
  private readonly lingering: Lingering;
  private readonly orphans: Orphans;
  private readonly rescue: Rescue;
  private readonly replacements: Replacements;
  private readonly returned: ReturnedWorkloads;
  private readonly notices: GroupNotices;
  private readonly nameInUse: NameInUse;
  private readonly shrinking: Shrinking;
  private readonly staging: Staging;
  private readonly unlisted: Unlisted;
  private readonly unseenStarts: UnseenStarts;

  constructor(private readonly options: WorkloadReconcilerOptions) {
    this.deletedPods = new DeletedPods(options);
    this.departure = new Departure(options);
    this.eviction = new Eviction({ ...options, avoidSeconds: options.limits.avoidSeconds });
    this.goneEnds = new GoneEnds(options);
    this.watch = new GrantWatch(options);
    this.lingering = new Lingering(options);
    this.orphans = new Orphans(options);
    this.release = new Release({ ...options, eviction: this.eviction });
    this.ungating = new Ungating(options);
    this.largeReleases = new LargeReleases(options);
    this.rescue = new Rescue({ ...options, eviction: this.eviction });
    this.replacements = new Replacements(options);
    this.returned = new ReturnedWorkloads(options);
    this.staging = new Staging(options);
    this.unlisted = new Unlisted({ ...options, eviction: this.eviction, onEnd: (row) => this.forget(row) });
    this.unseenStarts = new UnseenStarts(options);
    this.notices = new GroupNotices(options);
    this.nameInUse = new NameInUse(options);
    this.shrinking = new Shrinking({ ...options, deletedPods: this.deletedPods });
  }

  /** Loads what the leader before left. */
  load(): Promise<void> {
    return this.rescue.load();
  }

  stop(): void {
    this.largeReleases.stop();
  }

  async reconcile(key: WorkloadKey): Promise<ReconcileResult> {
    const { workloadCache, objectOf, podsOf, adapters } = this.options;
    if (this.options.isUnlisted(key)) return this.unlisted.keep(key);
    const seen = objectOf(key);
    const left = await this.leaveEarlier(key, seen);
    if (seen === undefined) return left;
    const isNew = workloadCache.byUid(seen.metadata.uid) === undefined;
    if (key.kind === 'Pod') await this.options.owners?.read(seen, { isNew });
    // As its pods are now: of a deleted pod that ends meanwhile both say so, or neither does.
    const object = objectOf(key);
    if (object?.metadata.uid !== seen.metadata.uid) return IMMEDIATELY;
    const [adapter, row] = [adapters.get(key.kind)!, workloadCache.byUid(object.metadata.uid)];
    if (row === undefined && left !== undefined) this.nameInUse.tell(key, object, adapter);
    if (row === undefined) return left ?? this.submit(key, object, adapter);
    const workload = this.ungating.seen(asGranted({ object, adapter, row, pods: podsOf(row) }));
    this.replacements.note(workload);
    if (row.phase === 'Waiting') return earliest(left, await this.reconcileWaiting(workload));
    const lingering = this.lingering.follow(row, workload.pods);
    return [left, lingering, await this.reconcileGranted(workload)].reduce(earliest);
  }

  /** Also where the object of the name has a row already: the end of the row before it may have failed. */
  private async leaveEarlier(key: WorkloadKey, object?: KubernetesObject): Promise<ReconcileResult> {
    let result: ReconcileResult;
    for (const row of this.options.workloadCache.byName(key.kind, key.namespace, key.name))
      if (row.uid !== object?.metadata.uid) result = earliest(result, await this.leave(key, row, object));
    return result;
  }

  /** The object of this row is gone, or another one of its name has come. */
  private async leave(
    key: WorkloadKey,
    row: WorkloadRow,
    other?: KubernetesObject,
  ): Promise<ReconcileResult> {
    const awaited = other === undefined ? await this.replacements.awaited(row) : undefined;
    if (awaited !== undefined) return awaited;
    const queued = other && this.options.workloadCache.byUid(other.metadata.uid);
    if (other !== undefined && queued === undefined && this.replacements.placeFor(other, row) !== undefined)
      await this.submit(key, other, this.options.adapters.get(key.kind)!, row);
    return this.cancelDeleted(row);
  }

  /** Queues an object without a row. A finished workload has no row either, but its object is not suspended. */
  private async submit(
    key: WorkloadKey,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    replaced?: WorkloadRow,
  ): Promise<ReconcileResult> {
    const { submissionBuilder, dryRuns, onQueueChanged } = this.options;
    const isAdopted = await requestAdoption(this.options, key, object);
    if (object.metadata.deletionTimestamp !== undefined) return undefined;
    if (!adapter.isSuspended(object)) return isAdopted ? undefined : this.staging.end(key, object, adapter);
    if (this.departure.hasLeft(key.namespace)) {
      const departed = await this.departure.handOver(key, object, adapter);
      if (departed !== undefined) return departed === 'over' ? undefined : departed;
    }
    // Its label may name the queue.
    if (this.options.namespaces.isAwaited(key.namespace)) return undefined;
    // A place is taken over at once.
    const dryRun = replaced === undefined ? dryRuns?.awaited(key, object, adapter) : undefined;
    if (dryRun !== undefined) return dryRun;
    const row = await this.rescue.succeed(object, (evicted) =>
      submissionBuilder.submit(object, adapter, evicted ?? this.replacements.placeFor(object, replaced)),
    );
    if (row === undefined)
      return this.returned.requeue(key, object, adapter, this.options.podsOf(identityOf(key.kind, object)));
    this.replacements.note({ object, adapter, row });
    this.log(row, 'submitted', { held: row.held });
    onQueueChanged();
    return undefined;
  }

  /** Finishes, cancels or updates a waiting workload. */
  private async reconcileWaiting(workload: ActiveWorkload): Promise<ReconcileResult> {
    const { workloadCache, now, submissionBuilder, dryRuns, onQueueChanged } = this.options;
    const { object, adapter, row, pods } = workload;
    const outcome = adapter.outcome(object, pods, now());
    if (outcome !== undefined) return this.finish(row, outcome);
    if (object.metadata.deletionTimestamp !== undefined) return this.end(row);
    if (await requestAdoption(this.options, row, object, row)) return undefined;
    const departed = await this.departure.depart(workload);
    if (departed !== undefined) return departed === 'over' ? this.left(row) : departed;
    if (!adapter.isSuspended(object) && !this.staging.isSound(workload)) {
      if (!adapter.isSuspendable(object)) return this.log(row, 'waiting, cannot be moved to another node');
      // A former leader released it too late: it has no grant.
      this.log(row, 'released without a grant, suspending it');
      await this.eviction.suspend(workload);
    }
    dryRuns?.follow(object, adapter);
    const update = submissionBuilder.changeOf(object, adapter, row);
    const next = this.notices.follow(workload);
    if (update === undefined) return earliest(await this.staging.stage(workload), next);
    await workloadCache.update(update);
    this.log(row, 'waiting, submission updated');
    onQueueChanged();
    return update.jobspec.attributes.user?.incomplete === undefined ? undefined : IMMEDIATELY;
  }

  private left(row: WorkloadRow): Promise<ReconcileResult> {
    return this.finish(row, { result: 'Cancelled', message: HANDED_BACK, finishedAt: this.options.now() });
  }

  /** Releases a granted workload, places its pods, evicts it if necessary, and records its start and end. */
  private async reconcileGranted(workload: ActiveWorkload): Promise<ReconcileResult> {
    const { object, pods } = workload;
    if (await requestAdoption(this.options, workload.row, object, workload.row)) return;
    const row = await recordStart(this.options, workload);
    const current = { ...workload, row };
    const outcome = this.goneEnds.outcomeOf(current);
    if (outcome !== undefined) return this.end(row, this.watch.told(row, outcome));
    const isDeleted = object.metadata.deletionTimestamp !== undefined && row.releasedAt !== null;
    if (isDeleted && !this.hasLivePods(pods)) return this.end(row);
    const departed = await this.departure.depart(current);
    if (departed === 'over') return this.left(row);
    if (departed !== undefined) return departed.isRefused ? this.evict(current, NOT_TAKEN) : departed;
    const reason = this.reasonToEvict(current);
    if (reason !== undefined) return this.evict(current, reason);
    if (row.releasedAt === null) {
      const result = await this.largeReleases.run(current, () => this.release.release(current));
      if (result === 'deleted') return this.end(row);
      if (result !== undefined) return result;
    }
    return this.followPods(current);
  }

  /** The nodes of a deleted workload are given back. */
  private async followPods(workload: ActiveWorkload): Promise<ReconcileResult> {
    const isDeleted = workload.object.metadata.deletionTimestamp !== undefined;
    const placed = isDeleted ? workload.pods : await this.place(workload);
    if ('cause' in placed) return this.evict(workload, placed);
    if ('after' in placed) return placed;
    const shrinking = await this.shrinking.shrink({ ...workload, pods: placed });
    if (!isDeleted) return earliest(this.notices.follow(workload), await this.watchGrant(workload));
    this.options.onWait(workload.row.uid, undefined);
    return earliest(shrinking, await this.orphans.limitDeleted(workload));
  }

  private async place(
    workload: ActiveWorkload,
  ): Promise<readonly Pod[] | EvictionReason | NonNullable<ReconcileResult>> {
    try {
      const placed = await this.ungating.ungate(workload);
      this.release.forget(workload.row);
      return placed;
    } catch (error) {
      return this.release.refusalOf(workload, error);
    }
  }

  /** What runs in a namespace that left the queue stays, whatever happens to its nodes, as without the queue. */
  private reasonToEvict(workload: ActiveWorkload): EvictionReason | undefined {
    const { row } = workload;
    return this.departure.hasLeft(row.namespace) ? requestedEviction(row) : this.eviction.reasonFor(workload);
  }

  private async evict(workload: ActiveWorkload, reason: EvictionReason): Promise<ReconcileResult> {
    await this.eviction.evict(workload, reason);
    const row = this.options.workloadCache.byUid(workload.row.uid);
    if (reason.cause === 'suspended' && row?.phase !== 'Waiting' && this.hasLivePods(workload.pods))
      this.options.onWait(workload.row.uid, { reason: LEAVING, message: reason.message, isPartial: true });
    if (row?.phase !== 'Waiting')
      return earliest(retryOf(workload), row && (await this.orphans.limitOverdue({ ...workload, row })));
    this.forget(workload.row);
    // Its user may have changed it again while that was committed.
    return IMMEDIATELY;
  }

  /** Evicts the workload if its pods do not run in time, and says until then what they wait for. */
  private async watchGrant(workload: ActiveWorkload): Promise<ReconcileResult> {
    const row = this.options.workloadCache.byUid(workload.row.uid);
    if (row === undefined || row.releasedAt === null) return undefined;
    const current = { ...workload, row };
    this.options.submissionBuilder.learn(current);
    const { wait, failure, isNarrowed, after } = await this.watch.observe(current);
    const hasLeft = this.departure.hasLeft(row.namespace);
    this.options.onWait(row.uid, wait ?? (hasLeft ? undefined : this.orphans.overrunOf(current)));
    if (isNarrowed) await this.shrinking.narrow(current);
    const kept = failure && this.rescue.kept(current, failure);
    if (failure !== undefined && !hasLeft && kept === undefined)
      return workload.adapter.isSuspendable(workload.object)
        ? this.evict(current, failure)
        : this.rescue.rescue(current, failure);
    await followEnd(this.options, current);
    const replacing = await keepReplacementPolicy({ ...this.options, hasLeft }, current);
    const overdue = hasLeft ? undefined : await this.orphans.limitOverdue(current);
    // Last, because a policy of the cluster may refuse it.
    const walltime = await enforceWalltime(this.options.client, current, this.options.now());
    return [after === undefined ? undefined : { after }, kept, replacing, overdue, walltime].reduce(earliest);
  }

  /** The grant has ended. */
  private forget(row: WorkloadRow): void {
    const { eviction, release, ungating, orphans, deletedPods, replacements, notices, unlisted } = this;
    const kept = [eviction, release, ungating, orphans, deletedPods, replacements, notices, unlisted];
    const others = [this.departure, this.goneEnds, this.lingering, this.watch];
    for (const each of [...kept, ...others, this.options.submissionBuilder.charges]) each.forget(row);
    this.options.onWait(row.uid, undefined);
  }

  private hasLivePods(pods: readonly Pod[]): boolean {
    return pods.some((pod) => isLive(pod, this.options.nodes));
  }

  /** Cancels a row whose object no longer exists, or is kept by a finalizer, once none of its pods can run any more. */
  private async cancelDeleted(row: WorkloadRow): Promise<ReconcileResult> {
    // It holds no units. Its former pods on a lost node may exist for minutes, and it must not be granted meanwhile.
    if (row.phase === 'Waiting') return this.cancel(row);
    const [areShown, pods] = [await this.deletedPods.areShown(row), this.options.podsOf(row)];
    if (areShown && !this.hasLivePods(pods)) return this.cancel(row);
    this.log(row, 'deleted, waiting for its pods to terminate', { areShown });
    this.lingering.follow(row, pods);
    await this.orphans.limitOrphans(row, pods);
    if (areShown) await this.shrinking.shrinkDeleted(row);
    return { after: TERMINATING_POLL_MS };
  }

  /** @param outcome undefined: it is deleted */
  private async end(row: WorkloadRow, outcome?: Outcome): Promise<ReconcileResult> {
    const awaited = await this.replacements.awaitedPod(row);
    return awaited ?? (outcome === undefined ? this.cancelDeleted(row) : this.finish(row, outcome));
  }

  private async cancel(row: WorkloadRow): Promise<ReconcileResult> {
    const isGone = this.options.objectOf(row)?.metadata.uid !== row.uid;
    const message = this.departure.endOf(row) ?? endOfEvicted(row, this.options.adapters);
    const deleted: Outcome = { result: 'Cancelled', message, finishedAt: this.options.now() };
    return this.finish(row, (isGone ? await this.goneEnds.endOf(row) : undefined) ?? deleted);
  }

  private async finish(row: WorkloadRow, { result, finishedAt, message }: Outcome): Promise<ReconcileResult> {
    const { workloadCache, onFreed, onQueueChanged } = this.options;
    const { startedAt } = await this.unseenStarts.record(row, { result, finishedAt });
    // Kubernetes truncates times to seconds: an end is never before its start.
    await workloadCache.finish(row.uid, result, Math.max(finishedAt, startedAt ?? 0), message);
    this.log(row, 'finished', { result, ...(message !== undefined && { message }) });
    this.forget(row);
    onFreed(row.jobid);
    onQueueChanged();
    // Pods that waited beside a group are the next one of its name, and nothing else tells that its row has ended.
    return row.kind === POD_GROUP ? IMMEDIATELY : undefined;
  }

  private log(row: WorkloadRow, decision: string, detail: Readonly<Record<string, unknown>> = {}): undefined {
    logDecision(this.options.logger, row, decision, detail);
  }
}
