import type { Duration } from 'cdk8s';
import type { MiniClusterSpec } from './resource';

/** The Kubernetes Job whose pods are the brokers. A StatefulSet (`workload`) supports `labels` and nothing else of it. */
export interface MiniClusterJobProps {
  /** Labels of the Job or StatefulSet, in addition to those that the MiniCluster sets. @default - none */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Time after which the Job fails, counted from its start, even if the brokers never reached their quorum.
   * @default - the walltime, which is that of its queue unless the MiniCluster has one
   */
  readonly deadline?: Duration;
  /**
   * Number of failed pods that the Job replaces before it fails.
   * @default - 0 with a command, 100 for an interactive cluster
   */
  readonly backoffLimit?: number;
  /** Time after which Kubernetes deletes the finished Job and its pods. @default - never */
  readonly ttlAfterFinished?: Duration;
  /**
   * Rules that decide what the failure of a pod means for the Job, as in `Job.spec.podFailurePolicy`.
   * @default - an eviction or another disruption does not count as a failure
   */
  readonly podFailurePolicy?: NonNullable<MiniClusterSpec['podFailurePolicy']>;
}
