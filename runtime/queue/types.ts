/**
 * Words of this folder: a *row* is one workload's record, the truth about it;
 * the *fence* is the number of the current leader: a write with an older one
 * changes nothing and throws FLUXQ_FENCED.
 */
import type { Allocation } from '../fluxion/types';
import type { Jobspec } from '../jobspec/types';

export type Phase = 'Requested' | 'Waiting' | 'Ready' | 'Running' | 'Finished';

/** Why a Waiting row waits. */
export type WaitReason =
  | 'Submitted'
  | 'Held'
  | 'Busy'
  | 'Reserved'
  | 'Unsatisfiable'
  | 'QuotaExceeded'
  | 'DependencyPending'
  | 'NoFluxSetup'
  | 'Invalid'
  | 'Requeued';

export type Result = 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';

/** What is known of a workload when it enters the queue. All times are Unix seconds, fractions allowed. */
export interface Submission {
  /** UID of the workload in Kubernetes: the key. */
  readonly uid: string;
  /** `Job` or `Pod`; the adapter that made this. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly queue: string;
  /** Higher first. */
  readonly priority: number;
  /** creationTimestamp of the workload. */
  readonly submittedAt: number;
  /** Seconds, finite, > 0. */
  readonly walltime: number;
  /** How many pods run at once. */
  readonly pods: number;
  readonly jobspec: Jobspec;
  /** Hash of the jobspec without its duration: equal shapes ask for the same units. */
  readonly shape: string;
  /** Waits until its user releases it. */
  readonly held: boolean;
}

export interface WorkloadRow extends Submission {
  /** Order of arrival in the queue; ties of submittedAt. */
  readonly seq: number;
  /** Fluxion's job id: from a sequence, new after every requeue, never used twice. */
  readonly jobid: number;
  readonly phase: Phase;
  readonly reason: WaitReason | null;
  readonly message: string | null;
  readonly allocation: Allocation | null;
  /** While Waiting: when it is expected to start. */
  readonly estimatedStart: number | null;
  readonly result: Result | null;
  readonly requeues: number;
  readonly allocatedAt: number | null;
  readonly releasedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/** A change of one Waiting row that keeps it waiting. */
export interface WaitUpdate {
  readonly uid: string;
  readonly reason: WaitReason;
  readonly message: string;
  readonly estimatedStart: number | null;
}

/** What the user may change while it waits. */
export interface SubmissionUpdate {
  readonly uid: string;
  readonly queue: string;
  readonly priority: number;
  readonly walltime: number;
  readonly pods: number;
  readonly jobspec: Jobspec;
  readonly shape: string;
  readonly held: boolean;
}

/**
 * The queue's tables. Every method is one statement (bulk) in one transaction;
 * every write checks the fence and appends to the event log in the same
 * statement. A method that names rows which are not in the phase it needs
 * leaves those rows alone and does not return them (level-triggered callers
 * read again). A database that is down throws FluxqError `FLUXQ_DATABASE_DOWN`,
 * retryable; nothing was changed then or everything was: callers read again.
 */
export interface Queue {
  /** Applies missing migrations under an advisory lock. */
  migrate(): Promise<void>;
  /** Becomes the writer: the new, highest fence. */
  acquireFence(holder: string): Promise<number>;
  /** New rows in Waiting (reason Submitted, or Held); a uid that is there already is left alone. Resolves to the rows inserted. */
  submit(fence: number, submissions: readonly Submission[]): Promise<WorkloadRow[]>;
  /**
   * Waiting rows whose user changed them; one that equals its row changes nothing. What is then asked for (shape,
   * walltime, queue, pods) gets a new job id: an allocation of the old one can't be committed any more.
   */
  update(fence: number, updates: readonly SubmissionUpdate[]): Promise<WorkloadRow[]>;
  /** All rows that are not Finished, in order (priority desc, submittedAt, seq). */
  active(): Promise<WorkloadRow[]>;
  /** Rows by uid, finished ones included; unknown uids are left out. */
  byUid(uids: readonly string[]): Promise<WorkloadRow[]>;
  /** Waiting -> Waiting with a reason; a row that is held stays Held. */
  wait(fence: number, updates: readonly WaitUpdate[]): Promise<WorkloadRow[]>;
  /**
   * Waiting -> Ready: the allocation is committed before anything acts on it. Not of a row that is held, or has
   * another job id than the allocation: what is not returned has to be cancelled in Fluxion.
   */
  allocate(
    fence: number,
    grants: readonly { readonly uid: string; readonly allocation: Allocation }[],
  ): Promise<WorkloadRow[]>;
  /** Ready: the release patch was accepted. */
  released(fence: number, uids: readonly string[]): Promise<WorkloadRow[]>;
  /** Ready -> Running: the first pod runs. */
  running(
    fence: number,
    starts: readonly { readonly uid: string; readonly startedAt: number }[],
  ): Promise<WorkloadRow[]>;
  /** Ready or Running: what the allocation is now, less nodes or another end; same job id. */
  shrink(
    fence: number,
    changes: readonly { readonly uid: string; readonly allocation: Allocation }[],
  ): Promise<WorkloadRow[]>;
  /** Any phase -> Finished. */
  finish(
    fence: number,
    ends: readonly { readonly uid: string; readonly result: Result; readonly finishedAt: number }[],
  ): Promise<WorkloadRow[]>;
  /** Ready or Running -> Waiting with its place kept and a new jobid. */
  requeue(fence: number, uids: readonly string[], message: string): Promise<WorkloadRow[]>;
  /** The event log of one workload, oldest first. */
  history(uid: string): Promise<{ readonly at: number; readonly event: string; readonly detail: unknown }[]>;
  close(): Promise<void>;
}
