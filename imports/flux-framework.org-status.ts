// generated from constructs/crds by npm run generate:imports

/**
 * What is in the queue. Written by the controller only, within seconds.
 */
export interface FluxSetupStatus {
  /**
   * Name of the queue as FluxJobs show it, `<namespace>/<name>`.
   */
  readonly queue?: string;

  /**
   * Workloads that wait for nodes.
   */
  readonly waiting?: number;

  /**
   * Workloads that have their nodes and no pod that runs yet.
   */
  readonly ready?: number;

  /**
   * Workloads of which a pod has run.
   */
  readonly running?: number;

  /**
   * Workloads that are over, as long as the queue keeps their rows.
   */
  readonly finished?: number;

  /**
   * What its workloads hold, by resource: jobs, pods, cores, memory, gpus, nodes; Kubernetes quantities.
   */
  readonly usage?: Readonly<Record<string, string>>;

  /**
   * What they may hold without borrowing, by resource; what is missing here is not limited.
   */
  readonly quota?: Readonly<Record<string, string>>;

  /**
   * Ready (the queue is at work with this spec), Reconciling (a change is not at work yet) and Stalled (it can't be, the message says why) as GitOps tools and `kubectl wait` read them.
   */
  readonly conditions?: readonly FluxSetupStatusConditions[];

  /**
   * metadata.generation this status was made from.
   */
  readonly observedGeneration?: number;
}

export interface FluxSetupStatusConditions {
  /**
   * Name of the condition.
   */
  readonly type: string;

  /**
   * Whether it holds.
   */
  readonly status: FluxSetupStatusConditionsStatus;

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
