import type { DEPENDENCY_TYPES } from '../../constructs/api/settings';
import type { Jobspec } from '../jobspec/types';
import type { Allocation } from '../resources/types';

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

/** Another workload of the same namespace that has to finish first: afterok with success, afternotok without, afterany either way. */
export interface Dependency {
  readonly type: (typeof DEPENDENCY_TYPES)[number];
  readonly name: string;
}

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
