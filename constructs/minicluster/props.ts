import type { Duration } from 'cdk8s';
import type { IFluxSetup } from '../fluxsetup/fluxsetup';
import type { Certificate } from './certificate';
import type { MiniClusterContainerProps } from './container-props';
import type { MiniClusterFluxProps } from './flux-props';
import type { MiniClusterJobProps } from './job-props';
import type { MiniClusterLoggingProps } from './logging-props';
import type { MiniClusterNetworkProps } from './network-props';
import type { MiniClusterPodProps } from './pod-props';
import type { MiniClusterSchedulingProps } from './scheduling-props';

/** What everybody sets is at the top; everything else is in the group of its subject. */
export interface MiniClusterProps {
  /** The container that runs the brokers and the command. */
  readonly container: MiniClusterContainerProps;
  /** Containers in every pod beside the one with the broker; see also `addSidecar`. @default - none */
  readonly sidecars?: readonly MiniClusterContainerProps[];
  /** Containers of one additional pod that the brokers can reach; see also `addService`. @default - none */
  readonly services?: readonly MiniClusterContainerProps[];

  /** Number of pods; each of them runs one broker. @default 1 */
  readonly size?: number;
  /** Number of brokers that must be up before the command starts. @default - `size` */
  readonly minSize?: number;
  /** Number of pods up to which the MiniCluster can be scaled while it runs. @default - `size` */
  readonly maxSize?: number;
  /** Number of tasks of the job; 0 starts one task per node. @default 1 */
  readonly tasks?: number;
  /** Keeps the brokers until someone ends them. A command runs beside them, each time the lead broker starts. @default false */
  readonly interactive?: boolean;

  /** Queue that the MiniCluster waits in, in its own namespace. @default - the default queue of the namespace */
  readonly queue?: IFluxSetup | string;
  /** Time that the MiniCluster may run; the queue plans with it and the Job ends by it. @default - the queue's */
  readonly walltime?: Duration;
  /** Creates the Job suspended, or suspends it while it runs, until this is false. @default false */
  readonly suspend?: boolean;

  /**
   * Source of the certificate by which the brokers trust each other.
   * @default Certificate.fromKeygen(), or Certificate.ofCluster() with `live`
   */
  readonly certificate?: Certificate;
  /** File that the state of the Flux instance is restored from and saved to. @default - the state is not kept */
  readonly archivePath?: string;

  /** Name of the Job and prefix of all other names, including the host names of the pods. @default - the construct's id */
  readonly name?: string;
  /** Namespace of all objects. @default - the chart's */
  readonly namespace?: string;
  /** Kind of object that runs the brokers; a StatefulSet requires `interactive` and runs until it is deleted. @default Job */
  readonly workload?: 'Job' | 'StatefulSet';
  /**
   * Writes the MiniCluster resource, from which the controller of the runtime creates the objects, in place of the
   * objects themselves.
   * @default false
   */
  readonly live?: boolean;
  /** Makes the controller delete the MiniCluster when it has finished; it has no effect without `live`. @default false */
  readonly cleanup?: boolean;

  /** The Flux instance: where Flux comes from, how jobs are submitted and scheduled inside. @default - see each prop */
  readonly flux?: MiniClusterFluxProps;
  /** The pods as a whole: labels, security, lifetime, namespaces. @default - see each prop */
  readonly pod?: MiniClusterPodProps;
  /** How the brokers find and reach each other. @default - see each prop */
  readonly network?: MiniClusterNetworkProps;
  /** Which nodes the pods get, and when. @default - see each prop */
  readonly scheduling?: MiniClusterSchedulingProps;
  /** What the brokers and the scripts around them write to the log. @default - see each prop */
  readonly logging?: MiniClusterLoggingProps;
  /** The Job: deadline, retries, cleaning up. @default - see each prop */
  readonly job?: MiniClusterJobProps;
}
