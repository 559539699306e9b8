/**
 * Releases granted workloads onto their nodes. A release that the apiserver
 * answers with an error is retried for a minute; then the workload is requeued,
 * because nothing else would free its units: as Invalid, unless a policy or a
 * webhook of the cluster is the cause, or the object changes all the time. One without an answer is retried for as
 * long as that lasts, because nothing else could be released either. Either is
 * said meanwhile.
 */
import type { Clock } from '../clock';
import { FluxqError, messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { ApiError } from '../kubernetes/errors';
import type { EventNote } from '../kubernetes/events';
import type { KubernetesObject } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch, type Patch, type WriteOutcome } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import type { GrantReason, GrantWait } from '../shared/grant-waits';
import { type ActiveWorkload, namesOf, type WorkloadAdapter } from './adapter';
import { isAnswer, writeOrLess } from './earlier-guard';
import type { Eviction, EvictionReason } from './eviction';
import { causeOfRefusal } from './requeue-cause';
import { resetStartTime } from './start-time';
import type { SubmissionBuilder } from './submission';

export interface ReleaseOptions {
  readonly client: KubernetesClient;
  readonly workloadCache: WorkloadCache;
  readonly eviction: Eviction;
  readonly submissionBuilder: Pick<SubmissionBuilder, 'asksForGrant'>;
  readonly recordEvent: (object: KubernetesObject, adapter: WorkloadAdapter, event: EventNote) => void;
  readonly onWait: (uid: string, wait: GrantWait | undefined) => void;
  /** Whether the nodes of the grant with this job id may be in use. */
  readonly isWithdrawn: (jobid: number) => boolean;
  readonly logger: DecisionLogger;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
}

/** The object was replaced while it was patched: the watch delivers the new one soon. */
const CONFLICT_RETRY_MS = 500;
/** A rejected release may be accepted later: the Job controller finishes the suspension, or a policy changes. */
const REJECTED_RETRY_MS = 2_000;
const REJECTED_TIMEOUT_MS = 60_000;

const FAILED: GrantReason = 'ReleaseFailed';

const CHANGED = 'what it asks for, or its queue, changed after the grant';
/** Why a grant is given back before its release. */
const WITHDRAWN = 'its nodes may be in use by a workload that the database did not know';

const CONFLICT = 'it has changed at each try to release it for a minute';

const IMMEDIATELY = { after: 1 };

export class Release {
  /** Job id -> when its release was rejected first, in milliseconds of the clock. */
  private readonly rejectedSince = new Map<number, number>();

  constructor(private readonly options: ReleaseOptions) {}

  /** Job ids of which an Event says that their release fails. */
  private readonly toldFailed = new Set<number>();

  forget({ jobid }: WorkloadRow): void {
    this.rejectedSince.delete(jobid);
    this.toldFailed.delete(jobid);
  }

  /** Releases the workload if Kubernetes allows it now. Returns `deleted` if its object is deleted. */
  async release(workload: ActiveWorkload): Promise<ReconcileResult | 'deleted'> {
    const { object, adapter, row } = workload;
    const isStaged = adapter.isStaged(object);
    if (!isStaged && !adapter.isSuspended(object)) return this.resolveReleased(workload);
    if (object.metadata.deletionTimestamp !== undefined) return 'deleted';
    if (this.options.isWithdrawn(row.jobid)) return this.giveBack(workload, WITHDRAWN);
    if (!this.options.submissionBuilder.asksForGrant(object, adapter, row))
      return this.giveBack(workload, CHANGED);
    return isStaged || adapter.canRelease(object) ? this.patch(workload) : this.resetStartTime(workload);
  }

  private async resetStartTime(workload: ActiveWorkload): Promise<ReconcileResult> {
    try {
      return await resetStartTime(this.options, workload);
    } catch (error) {
      return this.handleError(workload, error);
    }
  }

  /** The workload waits again in its place, for what it asks for now. */
  private async giveBack(workload: ActiveWorkload, message: string): Promise<ReconcileResult> {
    this.log(workload.row, `release: ${message}: giving the grant back`);
    await this.options.eviction.requeue(workload, { cause: 'suspended', message });
    return IMMEDIATELY;
  }

  /** The object is released although its row is not: after a crash between patch and commit, or by an earlier leader. */
  private async resolveReleased(workload: ActiveWorkload): Promise<undefined> {
    const { object, adapter, row } = workload;
    if (adapter.isReleasedOnto(object, row)) {
      this.log(row, 'released already, recording it');
      await this.options.workloadCache.released(row.uid);
    } else {
      this.log(row, 'released onto other nodes than granted, suspending it');
      await this.options.eviction.suspend(workload);
    }
  }

  private async patch(workload: ActiveWorkload): Promise<ReconcileResult | 'deleted'> {
    const { object, adapter, row } = workload;
    try {
      // The pods of a group are released one by one: whoever leads goes on with it.
      const isOne = adapter.membersOf(object) === undefined;
      const outcome = isOne ? await this.send(workload) : 'done';
      if (outcome === 'gone') return 'deleted';
      if (outcome === 'conflict') return this.handleConflict(workload);
    } catch (error) {
      return this.handleError(workload, error);
    }
    const releasedAt = this.options.now();
    this.forget(row);
    await this.options.workloadCache.released(row.uid, releasedAt);
    this.log(row, 'released', { nodes: namesOf(row.allocation?.nodes ?? []) });
    return undefined;
  }

  private send({ object, adapter, row }: ActiveWorkload): Promise<WriteOutcome> {
    const { client, eviction } = this.options;
    const write = (patch: Patch) =>
      applyPatch(client, adapter.path(row.namespace, row.name), patch, (patched) =>
        eviction.recordRelease(patched, row),
      );
    const lesser = () => adapter.earlierReleasePatch(object, row);
    return writeOrLess(write, adapter.releasePatch(object, row), lesser);
  }

  /** Nothing else would free its units if somebody changes it without end. */
  private async handleConflict(workload: ActiveWorkload): Promise<ReconcileResult> {
    if (!this.isRefused(workload.row, CONFLICT)) return { after: CONFLICT_RETRY_MS };
    this.forget(workload.row);
    await this.options.eviction.requeue(workload, { cause: 'cluster', message: CONFLICT });
    return undefined;
  }

  /** Whether the apiserver refuses the release for too long. */
  private isRefused(row: WorkloadRow, error: string): boolean {
    const { clock } = this.options;
    const since = this.rejectedSince.get(row.jobid) ?? clock.now();
    this.rejectedSince.set(row.jobid, since);
    if (clock.now() - since >= REJECTED_TIMEOUT_MS) return true;
    this.log(row, 'release rejected, retrying', { error });
    return false;
  }

  /**
   * What the error of ungating a pod means for its group, which is of use only as a whole.
   * @returns why the group leaves its nodes, or when to try again
   * @throws the error where it means nothing for the others, or where they cannot be moved
   */
  refusalOf(workload: ActiveWorkload, error: unknown): EvictionReason | { after: number } {
    const { object, adapter, row } = workload;
    const isMovable = adapter.isSuspendable(object) || adapter.isSuspended(object);
    const mayLeave = adapter.membersOf(object) !== undefined && isMovable && isAnswer(error);
    this.tell(workload, error, mayLeave);
    if (!mayLeave) throw error;
    const text = messageOf(error);
    if (!this.isRefused(row, text)) return { after: REJECTED_RETRY_MS };
    return { cause: causeOfRefusal(text), message: refusalText(error) };
  }

  /** @throws the error where nobody answered, which the work queue retries */
  private async handleError(workload: ActiveWorkload, error: unknown): Promise<ReconcileResult> {
    const { object, adapter, row } = workload;
    const { workloadCache, eviction, recordEvent } = this.options;
    this.tell(workload, error, isAnswer(error));
    if (!isAnswer(error)) throw error;
    const text = messageOf(error);
    if (!this.isRefused(row, text)) return { after: REJECTED_RETRY_MS };
    this.forget(row);
    const cause = causeOfRefusal(text);
    const message = refusalText(error);
    if ((await eviction.requeue(workload, { cause, message })) === undefined) return undefined;
    // A policy of the cluster may refuse everything for a while.
    if (cause === 'cluster') return undefined;
    await workloadCache.wait([{ uid: row.uid, reason: 'Invalid', message, estimatedStart: null }]);
    recordEvent(object, adapter, { type: 'Warning', reason: 'Invalid', message });
    return undefined;
  }

  /** Says that the apiserver does not take the release, once also as an Event. */
  private tell({ object, adapter, row, pods }: ActiveWorkload, error: unknown, isBounded: boolean): void {
    const isOfApiserver = error instanceof FluxqError && error.code.includes('_KUBERNETES_');
    if (!isOfApiserver) return;
    const isPartial = pods.some(({ status }) => status?.phase === 'Running');
    const message = `${refusalText(error)}; it is tried again ${isBounded ? 'for a minute' : 'until it does'}`;
    this.options.onWait(row.uid, { reason: FAILED, message, ...(isPartial && { isPartial }) });
    if (this.toldFailed.has(row.jobid)) return;
    this.toldFailed.add(row.jobid);
    this.options.recordEvent(object, adapter, { type: 'Warning', reason: FAILED, message });
  }

  private log(row: WorkloadRow, decision: string, detail: Readonly<Record<string, unknown>> = {}): void {
    logDecision(this.options.logger, row, decision, detail);
  }
}

function refusalText(error: unknown): string {
  const said = error instanceof ApiError ? error.said : messageOf(error);
  return `the apiserver does not take the release: ${said}`;
}
