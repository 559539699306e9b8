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
   * What runs inside, as its lead broker reported it in the last minute; only with spec.flux.report.
   */
  readonly flux?: MiniClusterStatusFlux;

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

/**
 * What runs inside, as its lead broker reported it in the last minute; only with spec.flux.report.
 */
export interface MiniClusterStatusFlux {
  /**
   * Numbers of the jobs of the Flux instance.
   */
  readonly jobs: MiniClusterStatusFluxJobs;

  /**
   * Resources of the Flux instance by their state.
   */
  readonly resources: MiniClusterStatusFluxResources;
}

/**
 * Numbers of the jobs of the Flux instance.
 */
export interface MiniClusterStatusFluxJobs {
  /**
   * Number of jobs that wait for their dependencies or for resources.
   */
  readonly pending: number;

  /**
   * Number of jobs that run.
   */
  readonly running: number;

  /**
   * Number of jobs that ended, whatever their result.
   */
  readonly done: number;

  /**
   * Number of those that failed, timed out or were cancelled.
   */
  readonly failed: number;
}

/**
 * Resources of the Flux instance by their state.
 */
export interface MiniClusterStatusFluxResources {
  /**
   * Numbers by state. A node with some cores allocated counts as free and as allocated.
   */
  readonly nodes: MiniClusterStatusFluxResourcesNodes;

  /**
   * Numbers by state. A node with some cores allocated counts as free and as allocated.
   */
  readonly cores: MiniClusterStatusFluxResourcesCores;

  /**
   * Numbers by state. A node with some cores allocated counts as free and as allocated.
   */
  readonly gpus: MiniClusterStatusFluxResourcesGpus;
}

/**
 * Numbers by state. A node with some cores allocated counts as free and as allocated.
 */
export interface MiniClusterStatusFluxResourcesNodes {
  /**
   * Number that jobs can get.
   */
  readonly free: number;

  /**
   * Number that jobs have.
   */
  readonly allocated: number;

  /**
   * Number whose broker is not connected or drained.
   */
  readonly down: number;
}

/**
 * Numbers by state. A node with some cores allocated counts as free and as allocated.
 */
export interface MiniClusterStatusFluxResourcesCores {
  /**
   * Number that jobs can get.
   */
  readonly free: number;

  /**
   * Number that jobs have.
   */
  readonly allocated: number;

  /**
   * Number whose broker is not connected or drained.
   */
  readonly down: number;
}

/**
 * Numbers by state. A node with some cores allocated counts as free and as allocated.
 */
export interface MiniClusterStatusFluxResourcesGpus {
  /**
   * Number that jobs can get.
   */
  readonly free: number;

  /**
   * Number that jobs have.
   */
  readonly allocated: number;

  /**
   * Number whose broker is not connected or drained.
   */
  readonly down: number;
}

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
