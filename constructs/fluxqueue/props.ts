import type { Duration, Size } from 'cdk8s';
import type { MatchPolicy, QueuePolicy } from '../api/policies';
import type { AdmissionForm, ExternalRuntime } from './admission/form';
import type { Database } from './database';

export interface FluxQueueProps {
  /** Namespace of the stack. @default fluxqueue-system */
  readonly namespace?: string;

  /** Version of the cluster's apiserver, e.g. `1.37.1`. @default - unknown: only what every supported version has is used */
  readonly kubernetesVersion?: string;

  /** @default - `policies` if kubernetesVersion is 1.36 or newer, else `webhook` */
  readonly admission?: AdmissionForm;

  /** Take in the Jobs and Pods of all namespaces but kube-system and the stack's own, not only of those labelled `fluxqueue/enabled: "true"`. @default false */
  readonly clusterWide?: boolean;

  /** Namespaces whose Jobs and Pods are never taken in, besides kube-system and the stack's own. @default - none; clusterWide: kube-public and kube-node-lease */
  readonly excludedNamespaces?: readonly string[];

  /** Where the queue's tables are. @default Database.statefulSet() */
  readonly database?: Database;

  /** Where matching happens: the Fluxion service beside each controller, or the matcher inside it. Same answers. @default sidecar */
  readonly fluxion?: 'sidecar' | 'embedded';

  /**
   * Bring a kube-scheduler of our own for admitted pods. Needs kubernetesVersion, because a scheduler must not be newer than
   * its apiserver. Worth it where the cluster's own scheduler is at its limit (by default 50 pods a second); without it
   * that one starts the pods, and the pinned affinity leaves it one node to look at.
   * @default false
   */
  readonly scheduler?: boolean;

  /** Replicas of controller and scheduler; one leads, the others wait. @default 2 */
  readonly controllerReplicas?: number;

  /** Replicas of the webhook; all answer. @default 2 */
  readonly webhookReplicas?: number;

  /** Order in which nodes are filled. @default lonode */
  readonly matchPolicy?: MatchPolicy;

  /**
   * A queue of the stack's own: for workloads that name none in namespaces without a FluxSetup, and for those that name it.
   * Without it such workloads wait for a FluxSetup. The props that begin with `queue` and the walltimes are about it.
   * @default true
   */
  readonly defaultQueue?: boolean;

  /** Name of the stack's own queue. @default default */
  readonly queueName?: string;

  /** @default easy */
  readonly queuePolicy?: QueuePolicy;

  /** For how many that wait nodes are reserved; queuePolicy `hybrid` only. @default 8 */
  readonly queueReservations?: number;

  /** Share of the machine relative to FluxSetups, with fairShare. @default 1 */
  readonly queueWeight?: number;

  /** How long finished workloads stay in the queue's tables, whole days; then in its archive and its sums by the day. @default Duration.days(30) */
  readonly retention?: Duration;

  /** Among equal priorities, queues and users that have had less of their share come first. @default false */
  readonly fairShare?: boolean;

  /** After so long, what was used counts half; with fairShare. @default Duration.days(7) */
  readonly fairShareHalfLife?: Duration;

  /** How many waiting workloads one pass looks at. @default 10000 */
  readonly queueDepth?: number;

  /** Walltime of workloads that give none. @default Duration.hours(1) */
  readonly defaultWalltime?: Duration;

  /** The most a workload may ask for; more is cut to this. @default Duration.days(7) */
  readonly maxWalltime?: Duration;

  /** Size of one core vertex of the graph in thousandths of a core; requests round up to it. @default 1000 */
  readonly coreUnitMillis?: number;

  /** Size of one memory vertex of the graph; requests round up to it. @default Size.gibibytes(1) */
  readonly memoryUnit?: Size;

  /** @default info */
  readonly logLevel?: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

  /** Image of the runtime. @default ghcr.io/converged-computing/cdk8s-fluxqueue of this package's version */
  readonly runtimeImage?: string;

  /** Image of the Fluxion service. @default ghcr.io/converged-computing/cdk8s-fluxqueue-fluxion of this package's version */
  readonly fluxionImage?: string;

  /** Image of the stack's own scheduler. @default registry.k8s.io/kube-scheduler of kubernetesVersion */
  readonly schedulerImage?: string;

  /** Leave out the runtime's Deployments and the database, because the runtime is started by hand. @default - the runtime runs in the cluster */
  readonly externalRuntime?: ExternalRuntime;
}
