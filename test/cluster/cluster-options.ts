import type { KubeObject } from './api';
import type { StaticUser } from './credentials';
import type { NodeShape } from './nodes';

interface ControllerTuning {
  /** Queries per second of the controller manager and of the scheduler. @default 1000 */
  readonly qps?: number;
  /** Burst of the same clients. @default twice qps */
  readonly burst?: number;
  /** Number of Jobs that the Job controller syncs concurrently. @default 20 */
  readonly concurrentJobSyncs?: number;
  /** Seconds without a heartbeat after which a node is NotReady. @default 300, longer than kwok's lease, so that nodes stay ready on a busy machine */
  readonly nodeGraceSeconds?: number;
  /** Seconds between two looks of the controller manager at all nodes, in which it taints those that are NotReady. @default 5 */
  readonly nodeMonitorSeconds?: number;
}

export interface ClusterOptions {
  /** Number of nodes that kwok simulates: node-0, node-1, … @default 0 */
  readonly nodes?: number;
  /** Resources of each node. @default - 16 cores, 64Gi, no GPU, 110 pods */
  readonly nodeShape?: NodeShape;
  /**
   * Objects that are applied as soon as the apiserver is ready: namespaces and definitions in this order, then the others
   * side by side.
   * @default - none
   */
  readonly objects?: readonly KubeObject[];
  /** Whether kube-scheduler runs. @default true */
  readonly scheduler?: boolean;
  /** Additional fields of KubeSchedulerConfiguration. @default - none */
  readonly schedulerConfiguration?: Readonly<Record<string, unknown>>;
  /** Rate limits of the controllers and the scheduler. @default - too high to be a bottleneck */
  readonly tuning?: ControllerTuning;
  /** Records every write with its user, for `Cluster.writesByUser`. @default false */
  readonly auditLog?: boolean;
  /** Feature gates of the apiserver, the controller manager and the scheduler. @default - their defaults */
  readonly featureGates?: Readonly<Record<string, boolean>>;
  /** Minor version of Kubernetes that these three emulate, as `1.34`. @default - their own */
  readonly emulatedVersion?: string;
  /** Log verbosity (-v) of the programs. @default 1 */
  readonly verbosity?: number;
  /** Additional arguments of kube-apiserver. @default - none */
  readonly apiserverArgs?: readonly string[];
  /** Network in which the programs run and listen. @default - the network of this process, on loopback */
  readonly network?: ClusterNetwork;
  /** Additional users with static tokens. @default - none */
  readonly users?: readonly StaticUser[];
  /** Gets progress messages while the programs are built. @default - no messages */
  readonly progress?: (line: string) => void;
  /** Ends the start, and every later wait of the cluster. @default - nothing ends them but `stop` */
  readonly signal?: AbortSignal;
}

/** A separate network, in which nodes and pods call the apiserver. */
export interface ClusterNetwork {
  /** Address of the apiserver, reachable from inside the network and from this process. */
  readonly address: string;
  /** Command prefix that runs a program inside the network, e.g. nsenter with its options. */
  readonly enter: readonly string[];
}
