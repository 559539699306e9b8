/**
 * Words of this folder: a *row* is one workload's record, the truth about it;
 * the *fence* is the number of the current leader: a write with an older one
 * changes nothing and throws FLUXQ_FENCED.
 */
import type { Allocation } from '../fluxion/types';
import type { Jobspec } from '../jobspec/types';
import type { AccountingLine, AccountingQuery } from './accounting';
import type { LogEntry, NamedLogEntry } from './history';

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
  | 'Requeued'
  | 'RequeueLimit';

/** When a dependency lets the workload go: the other one has succeeded, has ended, has ended otherwise. */
export const DEPENDENCY_TYPES = ['afterok', 'afterany', 'afternotok'] as const;

/** Another workload of the same namespace that has to be over first. */
export interface Dependency {
  readonly type: (typeof DEPENDENCY_TYPES)[number];
  readonly name: string;
}

/** What a priority can be. */
export const PRIORITY_RANGE = { min: -2_147_483_648, max: 2_147_483_647 };

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
  /** Who is accounted for it: the Kubernetes user that admission saw, or `namespace:<name>` where a controller made it. */
  readonly user: string;
  /** All of them have to be over as they say before it may start. */
  readonly after: readonly Dependency[];
  /** May be taken back for a more urgent workload of a queue that preempts. */
  readonly preemptible: boolean;
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
  /** While Waiting after a requeue: not asked for before this. */
  readonly notBefore: number | null;
  /** While Ready or Running: why it is to be taken back from its nodes; committed before anything acts on it. */
  readonly recall: string | null;
  /** How often it was taken back for another: such a one takes back nobody. */
  readonly preemptions: number;
  readonly allocatedAt: number | null;
  readonly releasedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/** A workload that runs on nodes by a grant that the tables have forgotten. */
export interface Adoption extends Submission {
  /** The job id it was released with; 0: it carries none. */
  readonly knownJobid: number;
  /** What it holds; its job id is given by the queue. */
  readonly allocation: Omit<Allocation, 'jobid'>;
}

/** A change of one Waiting row that keeps it waiting. */
export interface WaitUpdate {
  readonly uid: string;
  readonly reason: WaitReason;
  readonly message: string;
  readonly estimatedStart: number | null;
}

/** A row that has to give its units back although it has not ended. */
export interface Recall {
  readonly uid: string;
  /** For whom, or for what. */
  readonly message: string;
}

/**
 * Why a row goes back to Waiting: its nodes or its release failed (counts as requeue), it was taken back for
 * another (counts as preemption), or its user suspended it (counts as nothing).
 */
export type RequeueCause = 'failure' | 'preempted' | 'suspended';

export interface Requeue {
  readonly uid: string;
  readonly cause: RequeueCause;
  readonly message: string;
  /** Not asked for before this. @default - at once */
  readonly notBefore?: number;
  /** RequeueLimit: waits until its user changes something about it. @default Requeued */
  readonly reason?: 'Requeued' | 'RequeueLimit';
}

/** How the newest workload of a name ended. */
export interface Outcome extends WorkloadName {
  readonly submittedAt: number;
  readonly seq: number;
  readonly result: Result;
}

/** Decayed core-seconds of one user in one queue that were held and are free again. */
export interface Share {
  readonly queue: string;
  readonly user: string;
  readonly coreSeconds: number;
  /** Unix second for which that holds; it decays from then on. */
  readonly asOf: number;
}

/** A dependency names a workload so, whatever its kind. */
export interface WorkloadName {
  readonly namespace: string;
  readonly name: string;
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
  readonly after: readonly Dependency[];
  readonly preemptible: boolean;
}

export const QUEUE_POLICIES = ['fcfs', 'easy', 'conservative', 'hybrid'] as const;
/**
 * fcfs: what can't start blocks everything behind it. The others let what is behind start if it delays no
 * reservation: easy makes one, hybrid `reservations`, conservative one for everything that waits (up to the depth).
 */
export type QueuePolicy = (typeof QUEUE_POLICIES)[number];

/** Of a quota; cores, memory (GiB) and gpus in whole Kubernetes quantities, not units. Absent: not limited. */
export interface Quota {
  readonly jobs?: number;
  readonly pods?: number;
  readonly cores?: number;
  readonly memoryGiB?: number;
  readonly gpus?: number;
  /** Different nodes. */
  readonly nodes?: number;
}

/** Most that may run, and most that are looked at while they wait; absent: no limit. */
export interface Limits {
  readonly running?: number;
  readonly waiting?: number;
}

/** A queue: the stack's own from its configuration, the others from FluxSetups. */
export interface QueueSettings {
  /** The stack's own: as configured. A FluxSetup's: `<namespace>/<FluxSetup>`. */
  readonly name: string;
  /** Namespace of the FluxSetup; null: the stack's own queue, open to all. */
  readonly namespace: string | null;
  readonly policy: QueuePolicy;
  /** hybrid: how many reservations. */
  readonly reservations: number;
  /** How many workloads are asked about at most in one pass. */
  readonly depth: number;
  readonly defaultWalltimeSeconds: number;
  readonly maxWalltimeSeconds: number;
  /** Priorities outside are cut to these. */
  readonly priority: { readonly min: number; readonly max: number };
  /** Priority points that waiting earns per hour. 0: none. */
  readonly agingPerHour: number;
  readonly quota: Quota;
  /** Queues of one cohort lend each other idle quota. */
  readonly cohort: string | null;
  /** Most of the cohort's idle quota that this queue takes beyond its own; absent: no limit; all 0: it borrows nothing. */
  readonly borrowing: Quota;
  /** Takes its own quota back from borrowers by requeue. */
  readonly reclaim: boolean;
  readonly limits: { readonly queue: Limits; readonly user: Limits };
  /** Share of the machine relative to other queues, for fair share. */
  readonly weight: number;
  /** Whether its workloads may take back preemptible ones of lower priority. */
  readonly preempts: boolean;
  readonly requeue: { readonly limit: number; readonly backoffSeconds: number };
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
  /**
   * How many connections broke while nobody used them. After each the database may know less than it said: it was
   * restored from a backup, or its replica took over.
   */
  readonly disconnects: number;
  /** Applies missing migrations under an advisory lock. */
  migrate(): Promise<void>;
  /**
   * Becomes the writer: the new, highest fence.
   * @param atLeast highest fence known from elsewhere: a database restored from a backup has forgotten some
   */
  acquireFence(holder: string, atLeast?: number): Promise<number>;
  /** The queues in force are these; those not named are gone. */
  setQueues(fence: number, queues: readonly QueueSettings[]): Promise<void>;
  /** The queues as last set. */
  queues(): Promise<QueueSettings[]>;
  /** New rows in Waiting (reason Submitted, or Held); a uid that is there already is left alone. Resolves to the rows inserted. */
  submit(fence: number, submissions: readonly Submission[]): Promise<WorkloadRow[]>;
  /**
   * Waiting rows whose user changed them; one that equals its row changes nothing. What is then asked for (shape,
   * walltime, queue, pods) gets a new job id: an allocation of the old one can't be committed any more. Its requeues
   * are forgotten and RequeueLimit is lifted, unless only its jobspec is another: that follows the nodes as well.
   */
  update(fence: number, updates: readonly SubmissionUpdate[]): Promise<WorkloadRow[]>;
  /** All rows that are not Finished, in order (priority desc, submittedAt, seq). */
  active(): Promise<WorkloadRow[]>;
  /** Rows by uid, finished ones included; unknown uids are left out. */
  byUid(uids: readonly string[]): Promise<WorkloadRow[]>;
  /** Decayed usage of all queues and users; what is held at the moment is not in it. */
  shares(): Promise<Share[]>;
  /** How many rows of each queue are finished and not archived. */
  finished(): Promise<{ readonly queue: string; readonly count: number }[]>;
  /** Of each name the newest workload that has finished; names without one are left out. */
  outcomes(names: readonly WorkloadName[]): Promise<Outcome[]>;
  /** Waiting -> Waiting with a reason; a row that is held stays Held, one at its requeue limit stays so. */
  wait(fence: number, updates: readonly WaitUpdate[]): Promise<WorkloadRow[]>;
  /**
   * Waiting -> Ready: the allocation is committed before anything acts on it. Not of a row that is held, is at its
   * requeue limit, or has another job id than the allocation: what is not returned has to be cancelled in Fluxion.
   */
  allocate(
    fence: number,
    grants: readonly { readonly uid: string; readonly allocation: Allocation }[],
  ): Promise<WorkloadRow[]>;
  /**
   * No row, or Waiting -> Ready and released, with a new job id higher than any that is known: what runs and was
   * forgotten is in the books again, as it is now. Other rows are left alone, archived ones too.
   */
  adopt(fence: number, adoptions: readonly Adoption[]): Promise<WorkloadRow[]>;
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
  /** Ready or Running: to be taken back; one that is already keeps its first reason. */
  recall(fence: number, recalls: readonly Recall[]): Promise<WorkloadRow[]>;
  /** Ready or Running -> Waiting with its place kept and a new jobid. */
  requeue(fence: number, requeues: readonly Requeue[]): Promise<WorkloadRow[]>;
  /**
   * Moves at most `most` workloads that finished before this second into the archive, oldest first. Resolves to how
   * many; when that is `most`, there may be more. An archived uid is never queued again.
   */
  archive(fence: number, before: number, most?: number): Promise<number>;
  /** Hours of cores, GiB and gpus that were held in a period. */
  accounting(query: AccountingQuery): Promise<AccountingLine[]>;
  /** The event log of one workload, oldest first, also when it has been archived. */
  history(uid: string): Promise<LogEntry[]>;
  /** The event logs of all workloads that had this name, whatever their kind. */
  historyOf(namespace: string, name: string): Promise<NamedLogEntry[]>;
  close(): Promise<void>;
}
