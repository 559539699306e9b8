import type { Duration, Size } from 'cdk8s';
import type { FluxJobPolicy, MatchPolicy, QueuePolicy } from '../api/policies';
import type { BillingWeights, Limits, PriorityWeights, Quota } from '../fluxsetup/props';
import type { AdmissionChoice, ExternalRuntime } from './admission/form';
import type { WebhookCertificate } from './certificates';
import type { Database } from './database';
import type { MonitoringProps } from './monitoring';
import type { ImageProps } from './pods/images';
import type { PodsProps } from './pods/props';

export interface FluxQueueProps {
  /** Namespace of the stack. @default fluxqueue-system */
  readonly namespace?: string;

  /**
   * Version of the cluster's apiserver, e.g. `1.37.1`.
   * @default - unknown: the stack uses only what every supported version has
   */
  readonly kubernetesVersion?: string;

  /**
   * Form of admission: CEL policies inside the apiserver, or a webhook. `both` is for the time in which a live stack changes
   * from one to the other (docs/gitops.md).
   * @default - `policies` if kubernetesVersion is 1.36 or newer, else `webhook`
   */
  readonly admission?: AdmissionChoice;

  /**
   * Whether the queue admits Jobs and Pods of all namespaces except kube-system and the stack's own, instead of only those
   * of namespaces with the label `fluxqueue/enabled: "true"`.
   * @default false
   */
  readonly clusterWide?: boolean;

  /**
   * Namespaces whose Jobs and Pods are never admitted to the queue, in addition to kube-system and the stack's own.
   * @default - none; with clusterWide: kube-public and kube-node-lease
   */
  readonly excludedNamespaces?: readonly string[];

  /**
   * User names of engines of GitOps at the apiserver. What they apply counts for its namespace, not for one user with the
   * work of many; a `fluxqueue/user` in Git has no effect.
   * @default - the usual accounts of Flux CD and Argo CD: GITOPS_USERS
   */
  readonly gitOpsUsers?: readonly string[];

  /**
   * User names of Kueue at the apiserver, by default `system:serviceaccount:kueue-system:kueue-controller-manager` of its own
   * manifests. With them a Job with the label `kueue.x-k8s.io/queue-name` and its pods are Kueue's alone: only these users start it.
   * @default - none: in the namespaces of the queue a Job with that label is refused
   */
  readonly kueueUsers?: readonly string[];

  /**
   * Kinds of workloads with a `suspend` field of their own that the queue holds and starts as one gang: `JobSet`, `MPIJob`, and `PyTorchJob`,
   * `TFJob`, `XGBoostJob`, `PaddleJob`, `JAXJob` of `kubeflow.org/v1`. Of a kind that the cluster does not serve the controller asks every 15
   * seconds, until it does.
   * @default - all of them, because a set of pods that is queued in parts can keep others from starting, and itself
   */
  readonly workloadKinds?: readonly string[];

  /** Postgres database of the queue. @default Database.statefulSet() */
  readonly database?: Database;

  /**
   * Place of the Fluxion matcher: a Fluxion service as sidecar of each controller, or embedded in the controller. Both give
   * the same answers.
   * @default sidecar
   */
  readonly fluxion?: 'sidecar' | 'embedded';

  /**
   * Engine of the sidecar: the matcher of this package, or flux-sched's C library. Both give the same answers. The library
   * keeps one vertex per unit, so its units are larger by default, and beyond about 30,000 units (400 nodes of 64 cores and 8 GPUs)
   * it takes too long to answer: synth says so, and the service logs it.
   * @default embedded
   */
  readonly fluxionEngine?: 'embedded' | 'library';

  /**
   * Whether the stack deploys a kube-scheduler for admitted pods. It requires kubernetesVersion, because a scheduler must
   * not be newer than its apiserver. It helps where the cluster's scheduler is at its limit, by default 50 pods a second;
   * otherwise that scheduler binds the pods, whose pinned node affinity leaves it one node to consider.
   * @default false
   */
  readonly scheduler?: boolean;

  /** Settings of the pods of each component: replicas, resources, placement and more. @default - those of the stack */
  readonly pods?: PodsProps;

  /** Registry, digests and pull secrets of the images of all pods. @default - the images of this package's release */
  readonly images?: ImageProps;

  /** Further labels of all objects of the stack and of its pods. @default - none */
  readonly labels?: Readonly<Record<string, string>>;

  /** Further annotations of all objects of the stack. @default - none */
  readonly annotations?: Readonly<Record<string, string>>;

  /** Name of the cluster, if the app writes the stacks of several clusters. @default - the app has one stack */
  readonly cluster?: string;

  /** Fluxion's match policy: the order in which nodes are filled. The library has no first and firstnodex. @default lonode */
  readonly matchPolicy?: MatchPolicy;

  /**
   * Whether the stack has a queue of its own. It takes workloads that name it, and workloads that name no queue in
   * namespaces without a FluxSetup; without it such workloads are pending until their namespace has a FluxSetup. The props
   * queueName, queuePolicy, queueReservations, queueDepth, queueWeight, queueQuota, queueLimits, queueLimitsPerUser,
   * queueMinPriority, queueMaxPriority, queueBillingWeights, queuePreemptionMinRuntime, queuePreemptionLimit, defaultWalltime
   * and maxWalltime configure it.
   * @default true
   */
  readonly defaultQueue?: boolean;

  /** Name of the stack's own queue: at most 63 lower-case letters, digits and "-". @default default */
  readonly queueName?: string;

  /** Policy that decides which pending workloads of the stack's own queue can start before earlier ones. @default easy */
  readonly queuePolicy?: QueuePolicy;

  /** Number of pending workloads for which nodes are reserved; queuePolicy `hybrid` only. @default 8 */
  readonly queueReservations?: number;

  /** Maximum number of pending workloads that one scheduling pass considers. @default 10000 */
  readonly queueDepth?: number;

  /** Share of the cluster relative to the queues of FluxSetups, with `fairShare: true`. @default 1 */
  readonly queueWeight?: number;

  /** Quota of all workloads of the stack's own queue together. @default - not limited */
  readonly queueQuota?: Quota;

  /** Limits of the whole queue of the stack. @default - not limited */
  readonly queueLimits?: Limits;

  /** Limits of each user of the stack's own queue. @default - not limited */
  readonly queueLimitsPerUser?: Limits;

  /** Lowest priority of a workload in the stack's own queue; a lower priority is raised to it. @default - not limited */
  readonly queueMinPriority?: number;

  /** Highest priority of a workload in the stack's own queue; a higher priority is reduced to it. @default - not limited */
  readonly queueMaxPriority?: number;

  /** What the resources of workloads in the stack's own queue count in fair share. @default - the default of each resource */
  readonly queueBillingWeights?: BillingWeights;

  /** Time for which a workload in the stack's own queue runs before others can preempt it. @default Duration.minutes(5) */
  readonly queuePreemptionMinRuntime?: Duration;

  /** How often others can preempt one workload in the stack's own queue; after that it keeps its nodes. @default 5 */
  readonly queuePreemptionLimit?: number;

  /** Lowest priority that every user may set, in every queue. @default -100 */
  readonly userMinPriority?: number;

  /**
   * Highest priority that every user may set, in every queue. A higher one needs the ClusterRole `fluxqueue-prioritize` in
   * the namespace, or the verb `use` on a PriorityClass of a higher value.
   * @default 0
   */
  readonly userMaxPriority?: number;

  /** Walltime of workloads that request none, in whole seconds. @default Duration.hours(1) */
  readonly defaultWalltime?: Duration;

  /** Maximum walltime of a workload, in whole seconds; a longer request is reduced to it. @default Duration.days(7) */
  readonly maxWalltime?: Duration;

  /**
   * Longest grace period that users may give a pod in the namespaces of the queue, in whole seconds: by so much a pod can run
   * beyond its walltime. A longer one is refused, in templates and in the deletion of a pod.
   * @default Duration.hours(1)
   */
  readonly maxGracePeriod?: Duration;

  /**
   * Time for which finished workloads stay in the queue's tables, in whole days; after that they are in its archive and in
   * its daily sums.
   * @default Duration.days(30)
   */
  readonly retention?: Duration;

  /**
   * Time for which finished workloads stay in the archive, in whole days; after that only their daily sums remain.
   * @default Duration.days(365)
   */
  readonly archiveRetention?: Duration;

  /**
   * Number of workloads of a namespace that keep their record of those that end in the same hour, failures first; of the others only
   * the daily sums remain.
   * @default 1000
   */
  readonly recordsPerHour?: number;

  /**
   * Which workloads have a FluxJob. `All`: every one. `Notable`: while a namespace starts and ends more than about ten workloads a second,
   * what waits in line has it after a minute, and what succeeds before has none; these are in `kubectl fluxqueue history` and in the sums
   * like all others, and cost the apiserver no record. Choose `All` if programs wait for the FluxJob of each Job of such a burst.
   * @default 'Notable'
   */
  readonly fluxJobs?: FluxJobPolicy;

  /**
   * What the factors of the order are worth in points, which are added to the priority of a workload; `queue` is of the stack's own queue. A
   * FluxSetup may have other weights.
   * @default - age 0.5, fair share 0.5, size 0, queue 0: together less than one point of priority
   */
  readonly priorityWeights?: PriorityWeights;

  /** Time in the queue after which a workload does not gain points for its age any more, in whole seconds. @default Duration.days(1) */
  readonly priorityMaxAge?: Duration;

  /**
   * Whether queues and users that have used less of their share start earlier: what that is worth beside priority and age is in
   * `priorityWeights`.
   * @default false
   */
  readonly fairShare?: boolean;

  /** Time after which past usage counts half, in whole seconds; with `fairShare: true`. @default Duration.days(7) */
  readonly fairShareHalfLife?: Duration;

  /**
   * Time after which a granted workload is requeued because kube-scheduler refuses one of its pods or the Job controller
   * cannot create one, in whole seconds.
   * @default Duration.seconds(30)
   */
  readonly unschedulableTimeout?: Duration;

  /** The same for a pod that waits for volumes that kube-scheduler binds with it. @default Duration.minutes(10) */
  readonly volumeTimeout?: Duration;

  /** The same for a pod on its node whose containers do not start, for example during an image pull. @default Duration.minutes(10) */
  readonly startTimeout?: Duration;

  /**
   * Time from the first pod of a group (`fluxqueue/group`) until all its pods should be there, in whole seconds: a group that is late
   * says so as Stalled. @default Duration.minutes(30)
   */
  readonly groupTimeout?: Duration;

  /** Time for which a workload avoids the nodes on which its pods did not run, in whole seconds. @default Duration.minutes(5) */
  readonly nodeAvoidance?: Duration;

  /**
   * Size of one core unit of the resource graph in thousandths of a core; the cpu request of each pod is rounded up to it.
   * flux-sched's library keeps one vertex per unit, so smaller units cost it memory and time.
   * @default - 1000 with `fluxionEngine: 'library'`, else 100
   */
  readonly coreUnitMillis?: number;

  /**
   * Size of one memory unit of the resource graph; the memory request of each pod is rounded up to it.
   * @default - Size.gibibytes(1) with `fluxionEngine: 'library'`, else Size.mebibytes(128)
   */
  readonly memoryUnit?: Size;

  /**
   * Whether NetworkPolicies deny every connection of the stack's namespace that docs/network.md does not list. A CNI plugin
   * without support for NetworkPolicies ignores them.
   * @default true
   */
  readonly networkPolicies?: boolean;

  /** Ports at which pods reach the apiserver behind its Service, at least one. @default [443, 6443] */
  readonly apiserverPorts?: readonly number[];

  /**
   * Addresses of the apiserver as pods see them, in CIDR notation such as `10.0.0.0/28`, at least one: only from there can the
   * webhook and the reader be reached. It requires networkPolicies, and a webhook or the read API.
   * @default - from anywhere: the address is not known, so any pod can keep the webhook busy
   */
  readonly apiserverCidrs?: readonly string[];

  /**
   * Namespace whose pods can read the metrics; it requires networkPolicies, because the metrics have no authentication.
   * @default - metrics are served on loopback only, for `kubectl port-forward`
   */
  readonly monitoringNamespace?: string;

  /**
   * Objects of the Prometheus Operator, which must be installed; it requires monitoringNamespace.
   * @default - none
   */
  readonly monitoring?: MonitoringProps;

  /**
   * Whether Vertical Pod Autoscalers, whose operator must be installed, recommend requests for the pods. They change nothing.
   * @default false
   */
  readonly verticalPodAutoscalers?: boolean;

  /**
   * Whether FlowSchemas give the stack's requests their place in the apiserver's priority and fairness: renewals of the Lease wait for
   * nobody, and the other requests share the level of Kubernetes' own controllers.
   * @default true
   */
  readonly flowSchemas?: boolean;

  /** Source of the webhook's certificate, with admission by webhook. @default WebhookCertificate.selfMade() */
  readonly webhookCertificate?: WebhookCertificate;

  /**
   * Whether the stack creates MiniClusters. If false, it has neither their CRD nor the rights and policies for their objects:
   * the controller then writes to no object of users but Jobs and Pods of the queue.
   * @default true
   */
  readonly miniClusters?: boolean;

  /**
   * Whether the stack serves the read API, with which `kubectl fluxqueue` answers questions: history, usage, plans, what-if. If
   * false, it has neither the pods of the reader nor an APIService.
   * @default true
   */
  readonly readApi?: boolean;

  /** Log level of the runtime. @default info */
  readonly logLevel?: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

  /** Image of the runtime. @default ghcr.io/converged-computing/cdk8s-fluxqueue of this package's version */
  readonly runtimeImage?: string;

  /**
   * Image of the Fluxion service.
   * @default - with `fluxionEngine: 'library'` ghcr.io/converged-computing/cdk8s-fluxqueue-fluxion of this package's version,
   * else that of the runtime
   */
  readonly fluxionImage?: string;

  /** Image of the stack's kube-scheduler. @default registry.k8s.io/kube-scheduler of kubernetesVersion */
  readonly schedulerImage?: string;

  /**
   * A runtime that is started outside the stack, for development: the stack then has no Deployments of the runtime and no
   * database.
   * @default - the runtime runs in the cluster
   */
  readonly externalRuntime?: ExternalRuntime;
}
