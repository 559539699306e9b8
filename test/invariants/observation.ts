/** What an outsider sees of a run: rows and event log, the apiserver's objects, Fluxion's own state. */
import type { FluxionState } from '../../runtime/fluxion/types';
import type { Job, Node, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';

/** One line of the log, in the order of commits. */
export interface LoggedEvent {
  /** Unix seconds of the database. */
  readonly at: number;
  /** Empty: not about one workload. */
  readonly uid: string;
  readonly event: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** What is read of a row. */
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
  /** Finished ones included. */
  readonly rows: readonly SeenRow[];
  readonly events: readonly LoggedEvent[];
  /** Of the namespaces whose workloads are queued. */
  readonly jobs: readonly Job[];
  /** Of all namespaces. */
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  readonly fluxion: Pick<FluxionState, 'jobs' | 'nodes'>;
}

/** What the run did to its cluster: causes of what would be faults without them. */
export interface Deeds {
  /** When nodes came, went or changed, and when pods that are not ours came. Unix seconds of the database. */
  readonly disturbances: readonly number[];
  /** Names of nodes that were ever taken away. */
  readonly lostNodes: ReadonlySet<string>;
  /** Estimates of different passes can be compared: no clock jumped, nothing was made anew after a doubt. */
  readonly comparable: boolean;
  /** uids of workloads that their user suspended or deleted. */
  readonly stopped: ReadonlySet<string>;
}

/** I1 to I6 of the design; `lost`: something that could end never does. */
export type Invariant = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'lost';

export interface Violation {
  readonly invariant: Invariant;
  readonly text: string;
}
