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
   * Maximum amounts that the workloads hold without borrowing, by resource; a resource that is absent is not limited, or is only borrowed from the cohort.
   */
  readonly quota?: Readonly<Record<string, string>>;

  /**
   * Ready (the queue schedules with this spec), Reconciling (a change does not apply yet) and Stalled (the spec cannot apply, for the reason in the message), for GitOps tools and `kubectl wait`.
   */
  readonly conditions?: readonly FluxSetupStatusConditions[];

  /**
   * metadata.generation to which the status refers; -1 before the first.
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
 * State of the MiniCluster. Only the controller writes it.
 */
export interface MiniClusterStatus {
  /**
   * Requested: no objects exist yet. Waiting: its Job waits in a queue, or its pods wait for nodes. Ready: nodes are allocated and its pods start. Running: its brokers are online. Finished: it has ended, with the outcome in result.
   */
  readonly phase?: MiniClusterStatusPhase;

  /**
   * Outcome of the MiniCluster.
   */
  readonly result?: MiniClusterStatusResult;

  /**
   * Number of existing pods, for the scale subresource.
   */
  readonly size?: number;

  /**
   * Number of pods with a running broker.
   */
  readonly readyBrokers?: number;

  /**
   * Maximum number of pods to which it can be scaled; it is fixed at the start.
   */
  readonly maximumSize?: number;

  /**
   * Label selector of its pods, for the scale subresource and autoscalers.
   */
  readonly selector?: string;

  /**
   * Name of the FluxJob of its Job.
   */
  readonly jobid?: string;

  /**
   * Time at which its brokers were first online. RFC 3339.
   */
  readonly startTime?: string;

  /**
   * Time at which it finished. RFC 3339.
   */
  readonly finishTime?: string;

  /**
   * metadata.generation to which the status refers; -1 before the first.
   */
  readonly observedGeneration?: number;

  /**
   * JobRequested (its objects exist), JobWaitingForResources, JobRunning (some of its pods run), JobMiniClusterReady (its brokers are online) and JobFinished (with the result as reason). Ready (its brokers are online, or it succeeded), Reconciling and Stalled (the error is permanent) are for GitOps tools and `kubectl wait`.
   */
  readonly conditions?: readonly MiniClusterStatusConditions[];
}

/**
 * Requested: no objects exist yet. Waiting: its Job waits in a queue, or its pods wait for nodes. Ready: nodes are allocated and its pods start. Running: its brokers are online. Finished: it has ended, with the outcome in result.
 */
export type MiniClusterStatusPhase = 'Requested' | 'Waiting' | 'Ready' | 'Running' | 'Finished';

/**
 * Outcome of the MiniCluster.
 */
export type MiniClusterStatusResult = 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';

export interface MiniClusterStatusConditions {
  /**
   * Name of the condition.
   */
  readonly type: string;

  /**
   * Status of the condition.
   */
  readonly status: MiniClusterStatusConditionsStatus;

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
export type MiniClusterStatusConditionsStatus = 'True' | 'False' | 'Unknown';
