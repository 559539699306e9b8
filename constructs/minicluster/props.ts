import type { Duration } from 'cdk8s';
import type { ISecret, IServiceAccount } from 'cdk8s-plus-28';
import type { Certificate } from './certificate';
import type { ComputeProps, ContainerProps } from './container-props';
import type { Reference } from './reference';
import type { MiniClusterSpec } from './resource';

type Pod = NonNullable<MiniClusterSpec['pod']>;
type Flux = NonNullable<MiniClusterSpec['flux']>;

/** The init container that brings Flux to images without it. */
export interface ViewProps extends ComputeProps {
  /** For the same operating system as the container's image. @default ghcr.io/converged-computing/flux-view-ubuntu:tag-noble */
  readonly image?: string;
  /** @default - none */
  readonly imagePullSecret?: Reference<ISecret>;
  /** @default false */
  readonly pullAlways?: boolean;
  /** @default flux-view */
  readonly name?: string;
  /** @default - the image's */
  readonly workingDir?: string;
  /** PYTHONPATH for Flux. @default - the view's own */
  readonly pythonPath?: string;
}

export interface MiniClusterProps {
  /** The container with the brokers. */
  readonly container: ContainerProps;
  /** Name of everything it is made of, and of the pods' hosts. @default - the construct's id: a path in host names would change with every move */
  readonly name?: string;
  /** @default - the chart's */
  readonly namespace?: string;
  /**
   * Write the MiniCluster resource for the runtime's controller, in place of what it is made of.
   * @default false
   */
  readonly live?: boolean;

  /** Containers beside the brokers, in every pod. @default - none */
  readonly sidecars?: readonly ContainerProps[];
  /** Containers of one more pod beside the cluster. @default - none */
  readonly services?: readonly ContainerProps[];

  /** Pods, so brokers. @default 1 */
  readonly size?: number;
  /** Brokers that must be up before the command starts. @default - size */
  readonly minSize?: number;
  /** The most pods it can be scaled to. @default - size */
  readonly maxSize?: number;
  /** Tasks of the job; 0: one per node. @default 1 */
  readonly tasks?: number;
  /** Brokers start and stay, the command is not run. @default false */
  readonly interactive?: boolean;
  /** StatefulSet for an interactive cluster that is there until it is deleted. @default Job */
  readonly workload?: 'Job' | 'StatefulSet';

  /** Queue of fluxqueue. @default - the namespace's */
  readonly queue?: string;
  /** Higher starts first. @default 0 */
  readonly priority?: number;
  /** How long it may run: the queue plans with it, the Job ends by it. @default - the queue's */
  readonly walltime?: Duration;
  /** The queue gives it whole nodes. @default false */
  readonly exclusive?: boolean;
  /** Start nothing until this is false. @default false */
  readonly suspend?: boolean;

  /** The Job ends after this long, also without quorum. @default Duration.seconds(31500000) */
  readonly deadline?: Duration;
  /** Failed pods that are replaced. @default - 0 with a command, 100 for an interactive cluster */
  readonly backoffLimit?: number;
  /** The Job is deleted this long after its end. @default - never */
  readonly ttlAfterFinished?: Duration;
  /** What the failure of a pod means. @default - an eviction does not count */
  readonly podFailurePolicy?: NonNullable<MiniClusterSpec['podFailurePolicy']>;
  /** With `live`: delete the MiniCluster when it is finished. @default false */
  readonly cleanup?: boolean;
  /** File that keeps the instance's state from run to run. @default - none */
  readonly archivePath?: string;

  /** Name of the Service that gives pods their names. @default - name */
  readonly headlessName?: string;
  /** Prefer one zone and different nodes. @default true */
  readonly affinity?: boolean;
  /** DNS domain of the cluster. @default cluster.local */
  readonly clusterDomain?: string;
  /** Port of the brokers. @default 8050 */
  readonly port?: number;
  /** A Service with an address of its own for the lead only. @default false */
  readonly minimalService?: boolean;

  /** Only what the command prints. @default false */
  readonly quiet?: boolean;
  /** A failing line of init, pre, ... ends the pod. @default false */
  readonly strict?: boolean;
  /** Submit with -vvv. @default false */
  readonly debug?: boolean;
  /** Log what the brokers' connections do. @default false */
  readonly zeromq?: boolean;
  /** Print how long instance and command took. @default false */
  readonly timed?: boolean;
  /** What brokers log, 0 to 7. @default 6 */
  readonly logLevel?: number;

  /** The image has Flux itself. @default false */
  readonly fluxInImage?: boolean;
  /** The init container that brings Flux. @default - see ViewProps */
  readonly view?: ViewProps;
  /** Where Flux and its run-time files are. @default /mnt/flux */
  readonly mountPath?: string;
  /** Where the brokers' certificate comes from. @default Certificate.ofCluster() */
  readonly certificate?: Certificate;
  /** With a munge key under `munge.key`. @default - none */
  readonly mungeSecret?: Reference<ISecret>;
  /** The whole broker.toml. @default - generated */
  readonly brokerConfig?: string;
  /** Variables in flux-view.sh. @default - none */
  readonly fluxEnvironment?: Readonly<Record<string, string>>;
  /** What submits the command. @default flux submit */
  readonly submitCommand?: string;
  /** More options for submitting. @default - none */
  readonly optionFlags?: string;
  /** A command around the brokers, words separated by commas. @default - none */
  readonly wrap?: string;
  /** How long a broker tries one connection; 0 leaves it to Flux. @default Duration.seconds(5) */
  readonly connectTimeout?: Duration;
  /** Shape of the brokers' tree. @default - all connect to the lead */
  readonly topology?: string;
  /** The brokers' socket is where sidecars look for it. @default true */
  readonly socket?: boolean;
  /** Sidecars wait for that socket. @default true */
  readonly waitSocket?: boolean;
  /** A worker whose broker ends is done. @default false */
  readonly completeWorkers?: boolean;
  /** Flux's simple scheduler in place of Fluxion. @default false */
  readonly simpleScheduler?: boolean;
  /** Policy of Fluxion's queue. @default fcfs */
  readonly queuePolicy?: string;
  /** Order in which Fluxion takes nodes. @default - its own */
  readonly matchPolicy?: string;
  /** Cores that each broker offers. @default - whole CPUs of the container, else the node's */
  readonly cores?: number;
  /** Pin tasks to cores, where the kubelet gives pods CPUs of their own. @default false */
  readonly cpuAffinity?: boolean;
  /** Brokers in other clusters. @default - none */
  readonly bursting?: NonNullable<Flux['bursting']>;
  /** Architecture of the nodes. @default - any */
  readonly arch?: string;

  /** The one switch for Pod Security `restricted`: any user but root, no rights, a read-only root. @default false */
  readonly restricted?: boolean;
  /** @default - none */
  readonly podAnnotations?: Readonly<Record<string, string>>;
  /** @default - none but ours */
  readonly podLabels?: Readonly<Record<string, string>>;
  /** @default - none but ours */
  readonly jobLabels?: Readonly<Record<string, string>>;
  /** @default - Never with a command, OnFailure for an interactive cluster */
  readonly restartPolicy?: 'Never' | 'OnFailure';
  /** @default - the namespace's default */
  readonly serviceAccount?: Reference<IServiceAccount>;
  /** @default false */
  readonly automountServiceAccountToken?: boolean;
  /** @default - none */
  readonly runtimeClassName?: string;
  /** @default - the cluster's */
  readonly schedulerName?: string;
  /** @default - none */
  readonly priorityClassName?: string;
  /** @default - any node */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Labels of which a node must have one of the values. @default - any node */
  readonly nodeAffinity?: Readonly<Record<string, readonly string[]>>;
  /** @default - none */
  readonly tolerations?: NonNullable<Pod['tolerations']>;
  /** How evenly pods spread. @default - no constraint */
  readonly topologySpread?: NonNullable<Pod['topologySpread']>;
  /** @default - ClusterFirst, with hostNetwork ClusterFirstWithHostNet */
  readonly dnsPolicy?: NonNullable<Pod['dnsPolicy']>;
  /** Use the node's network, one pod per node. @default false */
  readonly hostNetwork?: boolean;
  /** @default false */
  readonly hostIpc?: boolean;
  /** @default false */
  readonly hostPid?: boolean;
  /** Containers see each other's processes. @default false */
  readonly shareProcessNamespace?: boolean;
  /** @default - 30 s, with an archive 120 s */
  readonly terminationGracePeriod?: Duration;
  /** Requests and limits of the pod as a whole. @default - none */
  readonly podResources?: ComputeProps;
  /** Devices of the pod (DRA); containers name them in `claims`. @default - none */
  readonly resourceClaims?: NonNullable<Pod['resourceClaims']>;
  /** @default - the image decides */
  readonly podSecurityContext?: NonNullable<Pod['securityContext']>;
}
