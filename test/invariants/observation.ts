/** A run as it is seen from outside: rows and event log, objects of the apiserver, state of Fluxion. */
import type { FluxionState } from '../../runtime/fluxion/types';
import type { Job, Node, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';

/** One entry of the event log, in the order of commits. */
export interface LoggedEvent {
  /** Unix seconds of the database. */
  readonly at: number;
  /** Empty if it is not about one workload. */
  readonly uid: string;
  readonly event: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The fields of a row that are checked. */
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
>;

export interface Observation {
  /** Finished rows included. */
  readonly rows: readonly SeenRow[];
  readonly events: readonly LoggedEvent[];
  /** Jobs of the namespaces whose workloads are queued. */
  readonly jobs: readonly Job[];
  /** Pods of all namespaces. */
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  readonly fluxion: Pick<FluxionState, 'jobs' | 'nodes'>;
}

/** What the run did to its cluster: causes of changes that would be faults without them. */
export interface Interventions {
  /** When nodes were added, removed or changed, and when pods outside the queue were created. Unix seconds of the database. */
  readonly disturbances: readonly number[];
  /** Names of nodes that were ever removed. */
  readonly lostNodes: ReadonlySet<string>;
  /** Whether estimates of different passes can be compared: no clock jumped, and Fluxion was not rebuilt. */
  readonly comparable: boolean;
  /** uids of workloads that their user suspended or deleted. */
  readonly stopped: ReadonlySet<string>;
}

/** I1 to I6 of the design; `lost`: a workload that could end never does. */
export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'lost';

export interface Violation {
  readonly invariant: Invariant;
  readonly text: string;
}
