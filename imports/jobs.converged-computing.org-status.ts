// generated from constructs/crds by npm run generate:imports

/**
 * Where the workload is on its way. Written by the controller only.
 */
export interface FluxJobStatus {
  /**
   * Waiting: in its queue; the condition Scheduled says why it waits. Ready: nodes are granted and it is released. Running: its first pod runs. Finished: it has ended, see result.
   */
  readonly phase?: FluxJobStatusPhase;

  /**
   * Place in its queue while Waiting; 1 is next.
   */
  readonly position?: number;

  /**
   * Nodes of the allocation as an RFC 29 hostlist, for example `node[0-3,7]`.
   */
  readonly nodes?: string;

  /**
   * How many nodes the allocation has.
   */
  readonly nodeCount?: number;

  /**
   * For the column: when it started (RFC 3339), or with `~` in front when it is expected to start.
   */
  readonly start?: string;

  /**
   * When it is expected to start, while it waits with a reservation. RFC 3339.
   */
  readonly estimatedStart?: string;

  /**
   * When its first pod ran. RFC 3339.
   */
  readonly startTime?: string;

  /**
   * When it was over. RFC 3339.
   */
  readonly finishTime?: string;

  /**
   * Fluxion's number of the allocation; a requeued workload gets a new one.
   */
  readonly jobID?: number;

  /**
   * How it ended.
   */
  readonly result?: FluxJobStatusResult;

  /**
   * How often it lost its nodes after release and went back to its place in the queue.
   */
  readonly requeues?: number;

  /**
   * What Fluxion gave, in the order of its answer.
   */
  readonly allocation?: readonly FluxJobStatusAllocation[];

  /**
   * Scheduled (True once nodes are granted; before that its reason says why it waits: Submitted, Held, QuotaExceeded, DependencyPending, Reserved, Busy, Unsatisfiable, NoFluxSetup, Invalid, Requeued, RequeueLimit); Ready, Reconciling and Stalled as GitOps tools and `kubectl wait` read them.
   */
  readonly conditions?: readonly FluxJobStatusConditions[];

  /**
   * metadata.generation this status was made from.
   */
  readonly observedGeneration?: number;
}

/**
 * Waiting: in its queue; the condition Scheduled says why it waits. Ready: nodes are granted and it is released. Running: its first pod runs. Finished: it has ended, see result.
 */
export type FluxJobStatusPhase = 'Waiting' | 'Ready' | 'Running' | 'Finished';

/**
 * How it ended.
 */
export type FluxJobStatusResult = 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';

export interface FluxJobStatusAllocation {
  /**
   * Name of the node.
   */
  readonly node: string;

  /**
   * How many pods of the workload are assigned to it.
   */
  readonly pods?: number;

  /**
   * Unit type to the RFC 22 idset of unit numbers within the node, for example `{core: "0-3,7"}`.
   */
  readonly units?: Readonly<Record<string, string>>;

  /**
   * Whether the whole node was given.
   */
  readonly exclusive?: boolean;
}

export interface FluxJobStatusConditions {
  /**
   * Name of the condition.
   */
  readonly type: string;

  /**
   * Whether it holds.
   */
  readonly status: FluxJobStatusConditionsStatus;

  /**
   * metadata.generation this was said about.
   */
  readonly observedGeneration?: number;

  /**
   * When status last changed. RFC 3339.
   */
  readonly lastTransitionTime: string;

  /**
   * One CamelCase word for programs.
   */
  readonly reason: string;

  /**
   * A sentence for people.
   */
  readonly message: string;
}

/**
 * Whether it holds.
 */
export type FluxJobStatusConditionsStatus = 'True' | 'False' | 'Unknown';
