// generated from constructs/crds by npm run generate:imports

/**
 * Workloads and usage of the queue. Only the controller writes it, a few seconds after a change.
 */
export interface FluxSetupStatus {
  /**
   * Name of the queue in FluxJobs, `<namespace>/<name>`.
   */
  readonly queue?: string;

  /**
   * Number of workloads that wait for nodes.
   */
  readonly waiting?: number;

  /**
   * Number of workloads that hold nodes and have no running pod yet.
   */
  readonly ready?: number;

  /**
   * Number of workloads that have had a running pod.
   */
  readonly running?: number;

  /**
   * Number of finished workloads, for as long as they stay in the queue's tables.
   */
  readonly finished?: number;

  /**
   * Amounts that the workloads hold, as Kubernetes quantities by resource: jobs, pods, cores, memory, gpus, nodes.
   */
  readonly usage?: Readonly<Record<string, string>>;

  /**
   * Maximum amounts that the workloads hold without borrowing, by resource; a resource that is absent is not limited.
   */
  readonly quota?: Readonly<Record<string, string>>;

  /**
   * Ready (the queue schedules with this spec), Reconciling (a change does not apply yet) and Stalled (the spec cannot apply, for the reason in the message), for GitOps tools and `kubectl wait`.
   */
  readonly conditions?: readonly FluxSetupStatusConditions[];

  /**
   * metadata.generation to which the status refers.
   */
  readonly observedGeneration?: number;
}

export interface FluxSetupStatusConditions {
  /**
   * Name of the condition.
   */
  readonly type: string;

  /**
   * Status of the condition.
   */
  readonly status: FluxSetupStatusConditionsStatus;

  /**
   * metadata.generation to which the condition refers.
   */
  readonly observedGeneration?: number;

  /**
   * Time at which status last changed. RFC 3339.
   */
  readonly lastTransitionTime: string;

  /**
   * Machine-readable reason in CamelCase.
   */
  readonly reason: string;

  /**
   * Human-readable message.
   */
  readonly message: string;
}

/**
 * Status of the condition.
 */
export type FluxSetupStatusConditionsStatus = 'True' | 'False' | 'Unknown';

/**
 * How the cluster is. Written by the controller only.
 */
export interface MiniClusterStatus {
  /**
   * Requested: seen, nothing is there yet. Waiting: its Job waits in a queue or its pods for nodes. Ready: nodes are granted and its pods start. Running: its brokers are up. Finished: it is over, see result.
   */
  readonly phase?: MiniClusterStatusPhase;

  /**
   * How it ended.
   */
  readonly result?: MiniClusterStatusResult;

  /**
   * Pods there are, for the scale subresource.
   */
  readonly size?: number;

  /**
   * Pods whose broker runs.
   */
  readonly readyBrokers?: number;

  /**
   * The most it can be scaled to; fixed at its start.
   */
  readonly maximumSize?: number;

  /**
   * Labels of its pods, for the scale subresource and for autoscalers.
   */
  readonly selector?: string;

  /**
   * Name of the queue's record (FluxJob) of its Job.
   */
  readonly jobid?: string;

  /**
   * When its brokers were up first. RFC 3339.
   */
  readonly startTime?: string;

  /**
   * When it was over. RFC 3339.
   */
  readonly finishTime?: string;

  /**
   * metadata.generation this status was made from.
   */
  readonly observedGeneration?: number;

  /**
   * JobRequested (its objects are there), JobWaitingForResources, JobRunning (some of its pods run), JobMiniClusterReady (its brokers are up) and JobFinished (with the result as reason), each True while it holds; Ready (its brokers are up), Reconciling and Stalled (what no waiting cures) as GitOps tools and `kubectl wait` read them.
   */
  readonly conditions?: readonly MiniClusterStatusConditions[];
}

/**
 * Requested: seen, nothing is there yet. Waiting: its Job waits in a queue or its pods for nodes. Ready: nodes are granted and its pods start. Running: its brokers are up. Finished: it is over, see result.
 */
export type MiniClusterStatusPhase = 'Requested' | 'Waiting' | 'Ready' | 'Running' | 'Finished';

/**
 * How it ended.
 */
export type MiniClusterStatusResult = 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';

export interface MiniClusterStatusConditions {
  /**
   * Name of the condition.
   */
  readonly type: string;

  /**
   * Whether it holds.
   */
  readonly status: MiniClusterStatusConditionsStatus;

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
export type MiniClusterStatusConditionsStatus = 'True' | 'False' | 'Unknown';
