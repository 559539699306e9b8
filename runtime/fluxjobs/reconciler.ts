/**
 * Keeps the FluxJob of every row equal to it. Users watch FluxJobs, but nothing is decided by them, so their writes
 * may be late and few: a phase that passes quickly (granted, released) is not written at all. An ordinary job costs
 * a create and two status writes.
 */
import { isDeepStrictEqual } from 'node:util';
import { FIELD_MANAGER, FLUXJOB_GROUP, FLUXJOB_VERSION } from '../../constructs/api/labels';
import type { FluxJobProps } from '../../imports/jobs.converged-computing.org';
import type { FluxJobStatus } from '../../imports/jobs.converged-computing.org-status';
import type { Clock } from '../clock';
import type { KubernetesClient } from '../kubernetes/client';
import { type FluxJobObject, fluxJobs } from '../kubernetes/custom-resources';
import { isStatus } from '../kubernetes/errors';
import { mergePatchOf } from '../kubernetes/merge-patch';
import type { RateLimiter } from '../kubernetes/rate-limiter';
import type { KubernetesObject } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import {
  type DecisionLogger,
  logDecision,
  resultOf,
  retryDetail,
  type StatusDecision,
} from '../shared/decision-log';
import type { GrantWait } from '../shared/grant-waits';
import { createStatusLimiter, type StatusPace } from '../shared/status-limiter';
import type { WorkloadAdapter } from '../workloads/adapter';
import { fluxJobName, fluxJobSpec, fluxJobStatus, shownPhase } from './status';

export interface FluxJobReconcilerOptions {
  readonly client: KubernetesClient;
  readonly adapters: ReadonlyMap<string, WorkloadAdapter>;
  /** The row with this uid, active or finished a moment ago. */
  readonly rowOf: (uid: string) => WorkloadRow | undefined;
  /** The position of a waiting row in its queue; 1 is next. */
  readonly positionOf: (uid: string) => number | undefined;
  /** What a granted workload waits for while none of its pods runs. */
  readonly waitOf: (uid: string) => GrantWait | undefined;
  /** The FluxJob as the watch last delivered it. */
  readonly fluxJobOf: (namespace: string, name: string) => FluxJobObject | undefined;
  /** Whether many workloads start and end at this moment. */
  readonly isBusy: () => boolean;
  /** The final status of a finished row is written, so its row is no longer needed. */
  readonly onFinal: (uid: string) => void;
  /** Reconciles this uid again: its write is admitted now. */
  readonly enqueue: (uid: string) => void;
  readonly clock: Clock;
  readonly logger: DecisionLogger;
  /** Unix seconds. */
  readonly now: () => number;
}

/**
 * While many workloads start and end, the apiserver's time belongs to them: the two status writes of a FluxJob cost it
 * a quarter of what the whole Job costs.
 */
const PACE: StatusPace = {
  perSecond: { busy: 4, quiet: 100 },
  burst: 10,
  // With the time that a phase must last, no FluxJob is more than 10 s behind its row.
  longestWait: 6.5,
  // 10,000 new FluxJobs in 26 s.
  mostPerSecond: 500,
};

/** Seconds that a phase must last before it is written. */
const SETTLE_SECONDS: Readonly<Record<WorkloadRow['phase'], number>> = {
  Waiting: 1.5,
  Ready: 3,
  Running: 1,
  Finished: 0,
};
/** Milliseconds until a FluxJob that was deleted during a write is created again. */
const RECREATE_MS = 1_000;

/** A FluxJob as this process wrote it last, because the watch may lag behind. */
interface Written {
  /** The uid of the FluxJob. */
  readonly uid: string;
  readonly generation: number;
  readonly spec: FluxJobProps['spec'];
  readonly status: FluxJobStatus;
  /** Unix seconds of the last status write by this process; 0 if there is none. */
  readonly at: number;
}

export class FluxJobReconciler {
  /** By uid of the workload. */
  private readonly written = new Map<string, Written>();
  private readonly limiter: RateLimiter;

  constructor(private readonly options: FluxJobReconcilerOptions) {
    this.limiter = createStatusLimiter(PACE, options);
  }

  /** No further write is admitted. */
  stop(): void {
    this.limiter.stop();
  }

  /** @param uid of the workload */
  async reconcile(uid: string): Promise<ReconcileResult> {
    const row = this.options.rowOf(uid);
    if (row === undefined) {
      this.written.delete(uid);
      this.limiter.drop(uid);
      return undefined;
    }
    const decision = await this.reconcileRow(row);
    const detail = { fluxjob: fluxJobName(row.kind, row.name), phase: row.phase, ...retryDetail(decision) };
    logDecision(this.options.logger, row, `FluxJob: ${decision.decision}`, detail);
    return resultOf(decision);
  }

  private async reconcileRow(row: WorkloadRow): Promise<StatusDecision> {
    const { uid } = row;
    const before = this.written.get(uid) ?? this.findExisting(row);
    const settling = before === undefined ? 0 : this.settlingSeconds(row, before);
    if (settling > 0) return { decision: 'waiting for the phase to last', after: milliseconds(settling) };
    if (!this.limiter.claim(uid)) return { decision: 'status write is rate-limited' };
    const known = before ?? (await this.create(row));
    if (known === undefined) return this.finalize(row, 'not created: the workload or its namespace is gone');
    // A FluxJob that is created late is created with its current status.
    const later = this.settlingSeconds(row, known);
    return later > 0
      ? { decision: 'created, waiting for the phase to last', after: milliseconds(later) }
      : this.write(row, known);
  }

  private async write(row: WorkloadRow, known: Written): Promise<StatusDecision> {
    const { now } = this.options;
    const status = this.statusOf(row, known);
    const spec = this.specOf(row);
    let { generation } = known;
    if (!isDeepStrictEqual(spec, known.spec)) {
      const left = await this.patchSpec(row, known, spec);
      if (left === undefined) return this.recreate(row);
      generation = left;
    }
    if (!isDeepStrictEqual(status, known.status) && !(await this.patchStatus(row, known, status)))
      return this.recreate(row);
    this.written.set(row.uid, { ...known, spec, status, generation, at: now() });
    return this.finalize(row, 'status written');
  }

  /** Returns the new generation; undefined if the FluxJob is gone or is another one. */
  private async patchSpec(
    row: WorkloadRow,
    { uid, generation }: Written,
    spec: FluxJobProps['spec'],
  ): Promise<number | undefined> {
    const patch = { type: 'merge', body: { metadata: { uid }, spec } } as const;
    let left = generation;
    const outcome = await applyPatch(this.options.client, pathOf(row), patch, ({ metadata }) => {
      left = metadata.generation ?? generation;
    });
    return outcome === 'done' ? left : undefined;
  }

  /** Returns false if the FluxJob is gone or is another one. */
  private async patchStatus(row: WorkloadRow, known: Written, status: FluxJobStatus): Promise<boolean> {
    const body = { metadata: { uid: known.uid }, status: mergePatchOf(known.status, status) };
    const patch = { type: 'merge', body } as const;
    return (await applyPatch(this.options.client, pathOf(row, 'status'), patch)) === 'done';
  }

  /** A finished row is not needed any more once its last status is written. */
  private finalize(row: WorkloadRow, decision: string): StatusDecision {
    if (row.phase !== 'Finished') return { decision };
    this.written.delete(row.uid);
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

  /** A change within a phase (position, estimate, reason) waits too, because every pass changes these. */
  private settlingSeconds(row: WorkloadRow, known: Written): number {
    const since = Math.max(known.at, phaseSince(row));
    const phase = shownPhase(row, this.options.waitOf(row.uid));
    return since + SETTLE_SECONDS[phase] - this.options.now();
  }

  /** After a restart the FluxJob exists already. */
  private findExisting(row: WorkloadRow): Written | undefined {
    const object = this.options.fluxJobOf(row.namespace, fluxJobName(row.kind, row.name));
    return object?.spec.workload.uid === row.uid ? this.remember(row, object) : undefined;
  }

  /** Returns undefined if the workload or its namespace is gone. */
  private async create(row: WorkloadRow): Promise<Written | undefined> {
    const body = this.newFluxJob(row);
    try {
      const options = { fieldManager: FIELD_MANAGER, metadataOnly: true };
      const path = fluxJobs(row.namespace);
      const { metadata } = await this.options.client.create<KubernetesObject>(path, body, options);
      return this.remember(row, { metadata, spec: body.spec });
    } catch (error) {
      // A namespace that is being deleted accepts no new objects.
      if (isStatus(error, 404) || isStatus(error, 403)) return undefined;
      if (!isStatus(error, 409)) throw error;
      return this.replaceOrAdopt(row);
    }
  }

  private newFluxJob(row: WorkloadRow) {
    const { uid, kind, name, namespace } = row;
    const { apiVersion } = this.options.adapters.get(kind)!;
    return {
      apiVersion: `${FLUXJOB_GROUP}/${FLUXJOB_VERSION}`,
      kind: 'FluxJob',
      metadata: {
        name: fluxJobName(kind, name),
        namespace,
        ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: false }],
      },
      spec: this.specOf(row),
    };
  }

  /** A FluxJob of this name exists: this workload's from before a restart, or one of a workload that was deleted. */
  private async replaceOrAdopt(row: WorkloadRow): Promise<Written | undefined> {
    const object = await this.options.client.get<FluxJobObject>(pathOf(row));
    if (object.spec.workload.uid === row.uid) return this.remember(row, object);
    await this.options.client.delete(pathOf(row), { uid: object.metadata.uid });
    return this.create(row);
  }

  private remember(row: WorkloadRow, object: FluxJobObject): Written {
    const { uid, generation = 1 } = object.metadata;
    const { spec, status = {} } = object;
    const written = { uid, generation, spec, status, at: 0 };
    this.written.set(row.uid, written);
    return written;
  }

  private specOf(row: WorkloadRow): FluxJobProps['spec'] {
    return fluxJobSpec(row, this.options.adapters.get(row.kind)!.apiVersion);
  }

  private statusOf(row: WorkloadRow, known: Written): FluxJobStatus {
    const { positionOf, waitOf, now } = this.options;
    return fluxJobStatus(row, {
      position: positionOf(row.uid),
      wait: waitOf(row.uid),
      previous: known.status,
      generation: known.generation,
      now: now(),
    });
  }
}

function pathOf(row: WorkloadRow, subresource?: string): string {
  return fluxJobs(row.namespace, fluxJobName(row.kind, row.name), subresource);
}

function milliseconds(seconds: number): number {
  return Math.ceil(seconds * 1000);
}

/** Unix seconds. */
function phaseSince(row: WorkloadRow): number {
  switch (row.phase) {
    case 'Waiting':
      return row.submittedAt;
    case 'Ready':
      return row.allocatedAt ?? 0;
    case 'Running':
      return row.startedAt ?? 0;
    case 'Finished':
      return 0;
  }
}
