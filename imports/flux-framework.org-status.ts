// generated from constructs/crds by npm run generate:imports

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
