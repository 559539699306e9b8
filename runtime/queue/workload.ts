/**
 * A workload in the queue: one row of the table `workloads`. A *submission* is what is known of it when it enters; the
 * *row* adds what the queue decides: phase, job id, allocation, result. A row goes from Waiting over Ready and Running
 * to Finished; a *requeue* sets it back to Waiting with a new job id. All times are Unix seconds, fractions allowed.
 */
import type { DEPENDENCY_TYPES } from '../../constructs/api/settings';
import type { Jobspec } from '../jobspec/types';
import type { Allocation } from '../resources/types';

export type Phase = 'Waiting' | 'Ready' | 'Running' | 'Finished';

/** Why a Waiting row waits. */
export const WAIT_REASONS = [
  'Submitted',
  'Held',
  'Busy',
  'Reserved',
  'Unsatisfiable',
  'QuotaExceeded',
  'DependencyPending',
  'NoFluxSetup',
  'NamespaceLeft',
  'KindNotListed',
  'SchedulingGated',
  'GroupIncomplete',
  'Invalid',
  'Requeued',
  'RequeueLimit',
] as const;

export type WaitReason = (typeof WAIT_REASONS)[number];

/** Another workload of the same namespace that has to end first: afterok with success, afternotok without, afterany either way. */
export interface Dependency {
  readonly type: (typeof DEPENDENCY_TYPES)[number];
  readonly name: string;
}

/** Reasons of workloads that wait in line: for those ahead to start, or for those that run to end. */
export const IN_LINE: ReadonlySet<string> = new Set([
  'Busy',
  'Reserved',
  'QuotaExceeded',
] satisfies WaitReason[]);

export const RESULTS = ['Succeeded', 'Failed', 'Cancelled', 'TimedOut'] as const;

export type Result = (typeof RESULTS)[number];

/** Message of the end of a workload that waited in a namespace that left the queue: it goes on in Kubernetes. */
export const HANDED_BACK = 'its namespace left the queue, so Kubernetes runs it without the queue';
/** The same of one that ran until its user suspended it. */
export const STOPPED_OUTSIDE =
  'its user suspended it after its namespace left the queue: Kubernetes runs it without the queue once spec.suspend is false';

/** What is known of a workload when it enters the queue. */
export interface Submission {
  /** UID of the workload in Kubernetes: the key of the row. */
  readonly uid: string;
  /** Kind of the workload: `Job`, `Pod`, or `PodGroup` for plain pods that start together. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly queue: string;
  /** Higher priorities come first. */
  readonly priority: number;
  /** creationTimestamp of the workload. */
  readonly submittedAt: number;
  /** Longest runtime in seconds: finite, above 0. */
  readonly walltime: number;
  /** Number of pods that run at once. */
  readonly pods: number;
  readonly jobspec: Jobspec;
  /** Hash of the jobspec without its duration: equal shapes request the same units. */
  readonly shape: string;
  /** Whether it waits until its user releases it. */
  readonly held: boolean;
  /** User to whom its usage is charged: the Kubernetes user of the admission request, or `namespace:<name>` if a controller created it. */
  readonly user: string;
  /** Dependencies: all of them have to be met before it may start. */
  readonly after: readonly Dependency[];
  /** Whether it may be evicted for a workload of higher priority in a queue that preempts. */
  readonly preemptible: boolean;
}

/** What a pod takes over from an evicted or lost pod of the same controller. */
type Place = Pick<
  WorkloadRow,
  'submittedAt' | 'requeues' | 'clusterRequeues' | 'message' | 'notBefore' | 'avoid'
> & {
  /** Why it waits, if it has a message. @default Requeued */
  readonly reason?: RequeueReason;
  /** The dependencies that it had met at its grant. @default - an earlier version noted the place: all are asked for */
  readonly metAfter?: readonly Dependency[];
  /** Times of submission are whole seconds. @default - an earlier version noted the place: behind all of its second */
  readonly seq?: number;
};

/** What a place in the queue was for. */
export type Asked = Pick<Submission, 'queue' | 'priority'> &
  Pick<Jobspec, 'resources'> & {
    /** @default - an earlier version noted the place: any user */
    readonly user?: Submission['user'];
  };

export interface Predecessor extends Place {
  readonly uid: string;
  /** Only a pod that asks for the same takes the place. @default - an earlier version noted the place: any pod takes it */
  readonly asked?: Asked;
}

/** A submission that may continue an earlier one: that of the pod with the uid `predecessor`. */
export type NewSubmission = Submission & Partial<Place> & { readonly predecessor?: string };

export interface WorkloadRow extends Submission {
  /** Order of arrival in the queue, from 1: breaks ties of submittedAt. What takes over a place has that of its predecessor. */
  readonly seq: number;
  /** Job id in Fluxion: new after each requeue, never used twice, also after the database was restored. Microseconds of its clock. */
  readonly jobid: number;
  readonly phase: Phase;
  readonly reason: WaitReason | null;
  readonly message: string | null;
  readonly allocation: Allocation | null;
  /** Expected start while Waiting. */
  readonly estimatedStart: number | null;
  readonly result: Result | null;
  /** Whether its dependencies were met at a grant, and its user has not changed them since: nobody asks for them again. */
  readonly isAfterMet: boolean;
  /** How often its grant failed, for whatever cause. */
  readonly requeues: number;
  /** How many of these requeues had a cause of the cluster: they do not count towards the requeue limit. */
  readonly clusterRequeues: number;
  /** End of its backoff while Waiting after a requeue: it does not start before. */
  readonly notBefore: number | null;
  /** Why it has to leave its nodes, while Ready or Running; committed before anything acts on it. */
  readonly evictionReason: string | null;
  /** Null while `evictionReason` is null; also null for a preemption that an earlier version requested. */
  readonly evictionCause: EvictionCause | null;
  /** Nodes on which its pods did not run. It is not granted them again before their time, if it fits without them. */
  readonly avoid: AvoidedNodes;
  /** How often it was evicted for another workload. A workload that was preempted preempts no other. */
  readonly preemptions: number;
  readonly allocatedAt: number | null;
  readonly releasedAt: number | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

export function askedBy({ queue, priority, user, jobspec: { resources } }: Submission): Asked {
  return { queue, priority, resources, user };
}

/** The reason as users see it: a row that no pass has judged has none. */
export function waitReasonOf({ reason }: Pick<WorkloadRow, 'reason'>): WaitReason {
  return reason ?? 'Submitted';
}

/** A workload that runs on an allocation that is missing in the database. */
export interface Adoption extends Submission {
  /** The job id that it was released with; 0: it carries none. */
  readonly knownJobid: number;
  /** When it was released; Unix seconds. */
  readonly releasedAt: number;
  /** What it holds; the queue assigns the job id. */
  readonly allocation: Omit<Allocation, 'jobid'>;
}

/** A new reason why a row waits. */
export interface WaitUpdate {
  readonly uid: string;
  readonly reason: WaitReason;
  readonly message: string;
  readonly estimatedStart: number | null;
}

/** Node name -> Unix seconds until when it is avoided. */
type AvoidedNodes = Readonly<Record<string, number>>;

export type EvictionCause = Exclude<RequeueCause, 'suspended'>;

/** A row that has to leave its nodes although it has not ended. */
export interface EvictionRequest {
  readonly uid: string;
  /** Why, for its user. */
  readonly message: string;
  /** When its pods should be gone, their grace period included: the end of its allocation from now on. Unix seconds. */
  readonly end: number;
  /** @default 'preempted' */
  readonly cause?: EvictionCause;
  /** Nodes to avoid from now on, beside those that it avoids already. @default - none */
  readonly avoid?: AvoidedNodes;
}

/**
 * Why a row is requeued: it could not run for a cause of its own (failure: counts towards the requeue limit) or of the
 * cluster (counts as requeue only), it was evicted for another workload (counts as preemption), or its user suspended it
 * (counts as neither).
 */
export type RequeueCause = 'failure' | 'cluster' | 'preempted' | 'suspended';

export interface Requeue {
  readonly uid: string;
  readonly cause: RequeueCause;
  readonly message: string;
  /** End of its backoff. @default - it may start at once */
  readonly notBefore?: number;
  /** @default Requeued */
  readonly reason?: RequeueReason;
}

type RequeueReason = 'Requeued' | 'RequeueLimit';

/** Whether it failed so often for causes of its own that it is only tried once an hour. */
export function isPastRequeueLimit(
  row: Pick<WorkloadRow, 'requeues' | 'clusterRequeues'>,
  { limit }: { readonly limit: number },
): boolean {
  return ownRequeues(row) > limit;
}

/** How often it could not run for a cause of its own. A version that does not know those of the cluster may have set all to 0. */
export function ownRequeues({
  requeues,
  clusterRequeues,
}: Pick<WorkloadRow, 'requeues' | 'clusterRequeues'>): number {
  return Math.max(0, requeues - clusterRequeues);
}

/** How a workload ended. */
export interface WorkloadEnd {
  readonly result: Result;
  readonly finishedAt: number;
  /** What ended it. @default - nothing is known */
  readonly message?: string | undefined;
}

/** How a workload ended for those that depend on it; `HandedBack`: it goes on without the queue, which does not see its end. */
export type Ended = Result | 'HandedBack';

export function endedAs({ result, message }: Pick<WorkloadRow, 'result' | 'message'>): Ended {
  return message === HANDED_BACK ? 'HandedBack' : result!;
}

/** Result of the newest workload of a name. */
export interface Outcome extends WorkloadName {
  readonly submittedAt: number;
  readonly seq: number;
  readonly jobid: number;
  readonly result: Ended;
}

type Age = Pick<WorkloadRow, 'submittedAt' | 'seq' | 'jobid'>;

/** Whether `a` is the newer one of its name: who took over the place of another one of its name differs from it by its job id alone. */
export function isNewer(a: Age, b: Age | undefined): boolean {
  return b === undefined || (a.submittedAt - b.submittedAt || a.seq - b.seq || a.jobid - b.jobid) > 0;
}

/** Decayed usage of what a user held in a queue and holds no longer. */
export interface Share {
  readonly queue: string;
  readonly user: string;
  readonly coreSeconds: number;
  readonly memoryGiBSeconds: number;
  readonly gpuSeconds: number;
  /** The time at which the value was true; it decays from then on. */
  readonly asOf: number;
}

/** Name of a workload as dependencies use it: without kind. */
export interface WorkloadName {
  readonly namespace: string;
  readonly name: string;
}

/** What its user may change while it waits. */
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
  /** Whether it has fewer pods because tasks of it are done: how often it failed still counts. @default false */
  readonly progressed?: boolean;
}

/** Whether it keeps its nodes until it ends: Kubernetes neither gates a pod again nor moves it. */
export function isImmovable({ kind, jobspec }: Pick<WorkloadRow, 'kind' | 'jobspec'>): boolean {
  return kind === 'Pod' || jobspec.attributes.user?.immovable === true;
}
