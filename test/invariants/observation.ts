/** The observable state of a run: rows and event log, objects of the apiserver, and the state of Fluxion. */
import type { FluxionState } from '../../runtime/fluxion/types';
import type { Job, KubernetesObject, Node, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';

/** One row of the event log, which is in the order of commits. */
export interface LoggedEvent {
  /** Unix seconds of the database. */
  readonly at: number;
  /** Empty for an event that concerns no single workload. */
  readonly uid: string;
  readonly event: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The columns that the checks read. */
export type SeenRow = Pick<
  WorkloadRow,
  | 'uid'
  | 'name'
  | 'phase'
  | 'reason'
  | 'message'
  | 'jobid'
  | 'allocation'
  | 'estimatedStart'
  | 'queue'
  | 'priority'
  | 'submittedAt'
  | 'seq'
  | 'shape'
  | 'walltime'
  | 'requeues'
  | 'preemptions'
  | 'preemptible'
  | 'pods'
  | 'evictionReason'
>;

export interface Observation {
  /** All rows, including finished workloads. */
  readonly rows: readonly SeenRow[];
  readonly events: readonly LoggedEvent[];
  /** Jobs of the namespaces whose workloads are queued. */
  readonly jobs: readonly Job[];
  /** Pods of all namespaces. */
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  readonly fluxion: Pick<FluxionState, 'jobs' | 'nodes'>;
  /** FluxJobs. @default - not observed */
  readonly records?: readonly SeenRecord[];
  /**
   * uids of workloads whose pods somebody made larger, or more, by a way that the queue cannot close, or which Kubernetes made while
   * admission was not in force, so that they run anywhere. @default - none
   */
  readonly enlarged?: ReadonlySet<string>;
}

/** The part of a FluxJob that the checks read. */
export interface SeenRecord extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
}

/** A time in which a node took no new pods. Unix seconds. */
export interface Closure {
  readonly node: string;
  readonly from: number;
  /** Infinity: it is still closed. */
  until: number;
}

/** A node was removed, or had a fault for some time. Unix seconds. */
export interface NodeLoss {
  readonly node: string;
  readonly from: number;
  /** The end of the fault. That of a removal is its time: nothing of it lasts. */
  readonly until: number;
  /** When its capacity was there again, on it or on a node that was added. Infinity: not yet. */
  backAt: number;
}

/** A user changed what a workload asks for. Unix seconds. */
export interface UserChange {
  readonly uid: string;
  readonly at: number;
}

/** An administrator created, changed or deleted a queue. Unix seconds. */
export interface QueueChange {
  readonly queue: string;
  readonly at: number;
}

/** What the test did to the cluster. It explains events that are violations otherwise. */
export interface Interventions {
  /** Times at which nodes were added, removed or changed, or unmanaged pods were created. Unix seconds of the database. */
  readonly disturbances: readonly number[];
  /** Nodes that were removed or had a fault. */
  readonly losses: readonly NodeLoss[];
  /** Services ran: nobody knows when they end, and an array that never fits whole has what they leave. */
  readonly services: boolean;
  /** A bare pod that is not bound when its node closes cannot run on it, and loses its grant. */
  readonly closures: readonly Closure[];
  /** Estimates of different passes are comparable: no clock jumped, and no graph was initialised again. */
  readonly comparable: boolean;
  /** A grant that was made from what the user has changed since is given back. */
  readonly changes: readonly UserChange[];
  /** A grant that its queue's walltimes do not allow any more, or would allow for longer, is given back too. */
  readonly queueChanges: readonly QueueChange[];
  /** When a webhook first added to the pods of a template: all of it is charged that from its next pod on. @default - never */
  readonly injectedSince?: number | undefined;
  /** uids of Jobs of which a task is done: they ask for the rest. @default - none */
  readonly progressed?: ReadonlySet<string>;
  /** uids of workloads that the user suspended or deleted. */
  readonly stopped: ReadonlySet<string>;
}

/**
 * The invariants I1 to I6 of the design; `lost` means that a workload that could finish never does; the others are the
 * limits that administrators set (limits.ts), plans behind services (plans.ts), waits (waits.ts), ends (ends.ts), and
 * what a running Job holds at its tail (held-nodes.ts).
 */
export type Invariant =
  | 'I1'
  | 'I2'
  | 'I3'
  | 'I4'
  | 'I5'
  | 'I6'
  | 'lost'
  | 'quota'
  | 'nodes'
  | 'preemption'
  | 'plan'
  | 'reason'
  | 'pass'
  | 'idle'
  | 'held'
  | 'end';

export interface Violation {
  readonly invariant: Invariant;
  readonly text: string;
}
