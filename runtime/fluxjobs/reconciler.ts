/**
 * Keeps the FluxJob of every row equal to it. Users watch FluxJobs, but nothing is decided by them, so their writes
 * may be late and few: a phase that passes quickly (granted, released) is not written at all. A FluxJob is created
 * together with its status, once it has something to tell: a workload that starts and ends soon costs one write.
 */
import { isDeepStrictEqual } from 'node:util';
import { FIELD_MANAGER, FLUXJOB_GROUP, FLUXJOB_VERSION } from '../../constructs/api/labels';
import type { FluxJobPolicy } from '../../constructs/api/policies';
import type { FluxJobProps } from '../../imports/jobs.converged-computing.org';
import type { FluxJobStatus } from '../../imports/jobs.converged-computing.org-status';
import type { Clock } from '../clock';
import type { InternPool } from '../intern';
import type { KubernetesClient } from '../kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../kubernetes/custom-resources';
import { ifFound, isStatus } from '../kubernetes/errors';
import { mergePatchOf } from '../kubernetes/merge-patch';
import type { RateLimiter } from '../kubernetes/rate-limiter';
import type { KubernetesObject, OwnerReference } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch, deleteObject } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import type { Busyness } from '../shared/change-rate';
import {
  type DecisionLogger,
  logDecision,
  resultOf,
  retryDetail,
  type StatusDecision,
} from '../shared/decision-log';
import { keptSpec, projectFluxJob, type WatchedFluxJob, watchedFluxJob } from '../shared/fluxjob-projection';
import type { GrantWait } from '../shared/grant-waits';
import { createStatusLimiter, type StatusPace } from '../shared/status-limiter';
import type { Surpluses } from '../shared/surplus';
import type { WorkloadAdapter } from '../workloads/adapter';
import { isUnrecorded } from './fleeting';
import { fluxJobName, fluxJobSpec, fluxJobStatus } from './status';
import { WriteTimes } from './write-times';

export interface FluxJobReconcilerOptions {
  readonly client: KubernetesClient;
  readonly adapters: ReadonlyMap<string, WorkloadAdapter>;
  /** The row with this uid, active or finished a moment ago. */
  readonly rowOf: (uid: string) => WorkloadRow | undefined;
  /** The position of a waiting row in its queue; 1 is next. */
  readonly positionOf: (uid: string) => number | undefined;
  /** When a waiting workload without a promise would start by the latest plan. Unix seconds. */
  readonly plannedStartOf: (uid: string) => number | undefined;
  readonly likelyStartOf: (uid: string) => number | undefined;
  /** What a granted workload waits for while none of its pods runs. */
  readonly waitOf: (uid: string) => GrantWait | undefined;
  /** What is said of the pods of a granted workload that do not end. */
  readonly lingeringOf: (uid: string) => string | undefined;
  /** What the pods of a granted workload use beyond its grant. */
  readonly surplusOf: Surpluses['of'];
  /** What the user of a started Job changed without an effect, as clauses. */
  readonly ignoredOf: (row: WorkloadRow) => readonly string[];
  /** Which older pods of its Deployment a waiting pod waits behind. */
  readonly olderPodsOf: (row: WorkloadRow) => string | undefined;
  /** Whether the workload itself still exists, as the watch last delivered it, or may exist if its kind cannot be listed. */
  readonly exists: (row: WorkloadRow) => boolean;
  /** How many pods its grant has left, of an active workload whose user lowered its size; undefined of any other. */
  readonly loweredPodsOf: (row: WorkloadRow) => number | undefined;
  /** Who owns the FluxJob of this workload. */
  readonly ownersOf: (row: WorkloadRow) => readonly OwnerReference[];
  /** The FluxJob as the watch last delivered it. */
  readonly fluxJobOf: (namespace: string, name: string) => WatchedFluxJob | undefined;
  /** The FluxJob of this workload, if nothing owns it any more. */
  readonly orphanOf: (uid: string) => OrphanedFluxJob | undefined;
  readonly busyness: Pick<Busyness, 'isBusy' | 'burstSince' | 'isBursting'>;
  readonly policy: FluxJobPolicy;
  /** The final status of a finished row is written, so its row is no longer needed. */
  readonly onFinal: (uid: string) => void;
  /** A finished workload gets no FluxJob, because it would tell nothing. */
  readonly onUnrecorded: () => void;
  /** Seconds from the first change that a write shows to that write. */
  readonly onWritten: (seconds: number) => void;
  /** Reconciles this uid again: its write is admitted now. */
  readonly enqueue: (uid: string) => void;
  readonly clock: Clock;
  /** Keeps one copy of what the watch and the reconciler know. */
  readonly pool: InternPool;
  readonly logger: DecisionLogger;
  /** Unix seconds. */
  readonly now: () => number;
}

/** While many workloads start and end, the apiserver's time belongs to them. */
const PACE: StatusPace = {
  perSecond: { busy: 4, quiet: 100 },
  burst: 10,
  // With what WriteTimes adds, no FluxJob of a stream is more than 10 s behind its row.
  longestWait: 2.5,
  // 10,000 new FluxJobs in 26 s.
  mostPerSecond: 500,
};

/** Milliseconds until a FluxJob that was deleted during a write is created again. */
const RECREATE_MS = 1_000;

/** A finished row waits no longer for its FluxJob. */
const LONGEST_REFUSAL_SECONDS = 600;

/** A FluxJob whose workload was deleted without what it owns (`kubectl delete --cascade=orphan`). */
export interface OrphanedFluxJob {
  /** `namespace/name`. */
  readonly key: string;
  /** The uid of the FluxJob. */
  readonly uid: string;
}

/** A FluxJob as this process wrote it last, because the watch may lag behind. */
interface Written extends WatchedFluxJob {
  /** Unix seconds of the last status write by this process; 0 if there is none. */
  readonly at: number;
}

export class FluxJobReconciler {
  /** By uid of the workload. */
  private readonly written = new Map<string, Written>();
  private readonly times: WriteTimes;
  private readonly limiter: RateLimiter;

  constructor(private readonly options: FluxJobReconcilerOptions) {
    const { clock, enqueue, busyness } = options;
    this.times = new WriteTimes(options);
    this.limiter = createStatusLimiter(PACE, { clock, enqueue, isBusy: busyness.isBusy });
  }

  /** No further write is admitted. */
  stop(): void {
    this.limiter.stop();
  }

  /** What was written may be lost: the watch alone knows what there is. */
  distrust(): void {
    this.written.clear();
  }

  /** Somebody deleted the FluxJob with this uid: what was written is gone. Another one may have been created since. */
  lost(workload: string, uid: string): void {
    if (this.written.get(workload)?.uid === uid) this.written.delete(workload);
  }

  /** What users see of a workload; undefined: it has no FluxJob. */
  shownOf(row: WorkloadRow): FluxJobStatus | undefined {
    return (this.written.get(row.uid) ?? this.watched(row))?.status;
  }

  /** @param uid of the workload */
  async reconcile(uid: string): Promise<ReconcileResult> {
    const row = this.options.rowOf(uid);
    if (row === undefined) {
      this.forget(uid);
      this.limiter.drop(uid);
      return this.removeOrphan(uid);
    }
    const decision = await this.reconcileRow(row);
    const detail = { fluxjob: fluxJobName(row.kind, row.name), phase: row.phase, ...retryDetail(decision) };
    logDecision(this.options.logger, row, `FluxJob: ${decision.decision}`, detail);
    return resultOf(decision);
  }

  /** The garbage collector only deletes what had an owner. */
  private async removeOrphan(uid: string): Promise<undefined> {
    const orphan = this.options.orphanOf(uid);
    if (orphan === undefined) return;
    const [namespace, name] = orphan.key.split('/');
    await deleteObject(this.options.client, fluxJobs(namespace, name), { uid: orphan.uid });
  }

  private async reconcileRow(row: WorkloadRow): Promise<StatusDecision> {
    const before = this.written.get(row.uid) ?? this.findExisting(row);
    const reason = before === undefined && row.phase === 'Finished' ? this.whyNone(row) : undefined;
    if (reason !== undefined) {
      this.limiter.drop(row.uid);
      return this.finalize(row, `not created: ${reason}`);
    }
    const settling =
      before === undefined ? this.times.secondsToCreation(row) : this.times.secondsToUpdate(row, before.at);
    if (settling > 0)
      return {
        decision: before === undefined ? 'not created yet' : 'waiting for the phase to last',
        after: Math.ceil(settling * 1000),
      };
    if (!this.limiter.claim(row.uid)) return { decision: 'write is rate-limited' };
    return before === undefined ? this.create(row) : this.update(row, before);
  }

  /** Why a finished workload gets no FluxJob. @returns undefined: it gets one */
  private whyNone(row: WorkloadRow): string | undefined {
    const { exists, policy, busyness, onUnrecorded } = this.options;
    // The garbage collector would delete it at once.
    if (!exists(row)) return 'the workload is gone';
    if (!isUnrecorded(row, policy, busyness)) return undefined;
    onUnrecorded();
    return 'it succeeded soon in a burst';
  }

  private async update(row: WorkloadRow, before: Written): Promise<StatusDecision> {
    const { client, pool } = this.options;
    const { uid } = before;
    const spec = this.specOf(row);
    const status = this.statusOf(row, before.status);
    const changes = {
      ...(isDeepStrictEqual(keptSpec(spec, pool), before.spec)
        ? {}
        : { spec: mergePatchOf(before.spec, spec) }),
      ...(isDeepStrictEqual(status, before.status) ? {} : { status: mergePatchOf(before.status, status) }),
    };
    if (Object.keys(changes).length > 0) {
      const patch = { type: 'merge', body: { metadata: { uid }, ...changes } } as const;
      if ((await applyPatch(client, pathOf(row), patch)) !== 'done') return this.recreate(row);
    }
    this.wrote(row, uid, { spec, status });
    return this.finalize(row, 'written');
  }

  /** A finished row is not needed any more once its FluxJob says so. */
  private finalize(row: WorkloadRow, decision: string): StatusDecision {
    if (row.phase !== 'Finished') return { decision };
    this.forget(row.uid);
    this.options.onFinal(row.uid);
    return { decision };
  }

  /** Somebody deleted or replaced the FluxJob: it is created again while its workload is not finished. */
  private recreate(row: WorkloadRow): StatusDecision {
    this.written.delete(row.uid);
    return row.phase === 'Finished'
      ? this.finalize(row, 'the FluxJob is gone')
      : { decision: 'the FluxJob is gone, it will be created again', after: RECREATE_MS };
  }

  /** @param uid of the FluxJob */
  private wrote(row: WorkloadRow, uid: string, shown: Pick<FluxJobObject, 'spec' | 'status'>): void {
    const { pool, now, onWritten } = this.options;
    this.written.set(row.uid, { ...watchedFluxJob(uid, shown, pool), at: now() });
    const lag = this.times.written(row);
    if (lag !== undefined) onWritten(lag);
  }

  private forget(uid: string): void {
    this.written.delete(uid);
    this.times.forget(uid);
  }

  /** After a restart the FluxJob exists already. */
  private findExisting(row: WorkloadRow): Written | undefined {
    const object = this.watched(row);
    return object && this.remember(row, object);
  }

  private watched({ uid, kind, namespace, name }: WorkloadRow): WatchedFluxJob | undefined {
    const object = this.options.fluxJobOf(namespace, fluxJobName(kind, name));
    return object?.workload === uid ? object : undefined;
  }

  private async create(row: WorkloadRow): Promise<StatusDecision> {
    const body = this.newFluxJob(row);
    try {
      const options = { fieldManager: FIELD_MANAGER, metadataOnly: true };
      const path = fluxJobs(row.namespace);
      const { metadata } = await this.options.client.create<KubernetesObject>(path, body, options);
      this.wrote(row, metadata.uid, body);
      return this.finalize(row, 'created');
    } catch (error) {
      if (isStatus(error, 409)) return this.replaceOrAdopt(row);
      const refusal = this.finalRefusal(row, error);
      if (refusal === undefined) throw error;
      return this.finalize(row, `not created: ${refusal}`);
    }
  }

  /** An apiserver that has just started refuses what it allows later. A quota of the namespace may refuse it for ever. */
  private finalRefusal({ finishedAt }: WorkloadRow, error: unknown): string | undefined {
    if (isStatus(error, 404)) return 'the namespace is gone';
    if (!isStatus(error, 403)) return undefined;
    if (error.said.includes('being terminated')) return 'the namespace is being deleted';
    const isLate = finishedAt !== null && this.options.now() - finishedAt > LONGEST_REFUSAL_SECONDS;
    return isLate ? error.said : undefined;
  }

  private newFluxJob(row: WorkloadRow) {
    const { kind, name, namespace } = row;
    return {
      apiVersion: `${FLUXJOB_GROUP}/${FLUXJOB_VERSION}`,
      kind: 'FluxJob',
      metadata: {
        name: fluxJobName(kind, name),
        namespace,
        ownerReferences: this.options.ownersOf(row),
      },
      spec: this.specOf(row),
      status: this.statusOf(row),
    };
  }

  /** A FluxJob of this name exists: this workload's from before a restart, or one of a workload that was deleted. */
  private async replaceOrAdopt(row: WorkloadRow): Promise<StatusDecision> {
    const { client, pool } = this.options;
    const found = await ifFound(client.get<FluxJobObject>(pathOf(row)));
    const object = found && projectFluxJob(found, pool);
    if (object?.workload === row.uid) return this.update(row, this.remember(row, object));
    // The garbage collector deletes it, too.
    if (object !== undefined) await deleteObject(client, pathOf(row), { uid: object.uid });
    return this.create(row);
  }

  private remember(row: WorkloadRow, object: WatchedFluxJob): Written {
    const written = { ...object, at: 0 };
    this.written.set(row.uid, written);
    return written;
  }

  private specOf(row: WorkloadRow): FluxJobProps['spec'] {
    const { adapters, loweredPodsOf } = this.options;
    return fluxJobSpec({ ...row, pods: loweredPodsOf(row) ?? row.pods }, adapters.get(row.kind)!.apiVersion);
  }

  private statusOf(row: WorkloadRow, previous: FluxJobStatus = {}): FluxJobStatus {
    const { options } = this;
    const { positionOf, plannedStartOf, likelyStartOf, waitOf, surplusOf, ignoredOf, olderPodsOf } = options;
    const { now, loweredPodsOf, lingeringOf } = options;
    return fluxJobStatus(row, {
      position: positionOf(row.uid),
      plannedStart: plannedStartOf(row.uid),
      likelyStart: likelyStartOf(row.uid),
      wait: waitOf(row.uid),
      lingering: lingeringOf(row.uid),
      surplus: surplusOf(row.uid),
      ignored: ignoredOf(row),
      olderPods: olderPodsOf(row),
      isLowered: loweredPodsOf(row) !== undefined,
      previous,
      now: now(),
    });
  }
}

function pathOf(row: WorkloadRow): string {
  return fluxJobs(row.namespace, fluxJobName(row.kind, row.name));
}
