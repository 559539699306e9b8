// generated from constructs/crds by npm run generate:imports

/**
 * Settings of the queue; every setting has a default.
 */
export interface FluxSetupSpec {
  /**
   * Which waiting workloads can start before earlier ones. fcfs: none. The other policies backfill: a later workload starts if it delays no reservation. easy reserves nodes for the first waiting workload, hybrid for the first `reservations` workloads, conservative for all of them.
   */
  readonly policy?: FluxSetupSpecPolicy;

  /**
   * Number of waiting workloads for which nodes are reserved; policy hybrid only, 8 by default.
   */
  readonly reservations?: number;

  /**
   * Maximum number of waiting workloads that one scheduling pass considers.
   */
  readonly depth?: number;

  /**
   * Walltimes of the workloads of the queue.
   */
  readonly walltime?: FluxSetupSpecWalltime;

  /**
   * Range of priorities; a priority outside the range is set to the nearest limit.
   */
  readonly priority?: FluxSetupSpecPriority;

  /**
   * Priority points that a workload gains for each hour in the queue.
   */
  readonly agingPerHour?: number;

  /**
   * Maximum amounts that all workloads of the queue hold together. Resources without a value are not limited.
   */
  readonly quota?: FluxSetupSpecQuota;

  /**
   * Name of the cohort. FluxSetups of one cohort, in any namespace, lend each other unused quota.
   */
  readonly cohort?: string;

  /**
   * Maximum amounts that the queue borrows from its cohort beyond its own quota. Resources without a value are not limited.
   */
  readonly borrowing?: FluxSetupSpecBorrowing;

  /**
   * Whether the queue reclaims its own quota from borrowers: their youngest workloads are evicted and requeued.
   */
  readonly reclaim?: boolean;

  /**
   * Maximum numbers of workloads of the whole queue and of each of its users.
   */
  readonly limits?: FluxSetupSpecLimits;

  /**
   * Share of the cluster relative to other queues, where fair share is enabled for the stack.
   */
  readonly weight?: number;

  /**
   * LowerPriority: workloads of the queue can preempt workloads of any queue that have `fluxqueue/preemptible: "true"` and a lower priority; the preempted workloads are requeued.
   */
  readonly preemption?: FluxSetupSpecPreemption;

  /**
   * Automatic requeue of workloads that lost their nodes.
   */
  readonly requeue?: FluxSetupSpecRequeue;
}

/**
 * Which waiting workloads can start before earlier ones. fcfs: none. The other policies backfill: a later workload starts if it delays no reservation. easy reserves nodes for the first waiting workload, hybrid for the first `reservations` workloads, conservative for all of them.
 */
export type FluxSetupSpecPolicy = 'fcfs' | 'easy' | 'conservative' | 'hybrid';

/**
 * Walltimes of the workloads of the queue.
 */
export interface FluxSetupSpecWalltime {
  /**
   * Walltime of workloads that request none, for example `1h30m`.
   */
  readonly default?: string;

  /**
   * Maximum walltime; a longer request is reduced to it.
   */
  readonly max?: string;
}

/**
 * Range of priorities; a priority outside the range is set to the nearest limit.
 */
export interface FluxSetupSpecPriority {
  /**
   * Lowest priority; not limited by default.
   */
  readonly min?: number;

  /**
   * Highest priority; not limited by default.
   */
  readonly max?: number;
}

/**
 * Maximum amounts that all workloads of the queue hold together. Resources without a value are not limited.
 */
export interface FluxSetupSpecQuota {
  /**
   * Maximum number of workloads.
   */
  readonly jobs?: number;

  /**
   * Maximum number of running pods.
   */
  readonly pods?: number;

  /**
   * Maximum number of cores as a Kubernetes quantity, for example `64` or `500m`.
   */
  readonly cores?: number | string;

  /**
   * Maximum amount of memory as a Kubernetes quantity, for example `256Gi`.
   */
  readonly memory?: number | string;

  /**
   * Maximum number of GPUs of any vendor.
   */
  readonly gpus?: number;

  /**
   * Maximum number of different nodes.
   */
  readonly nodes?: number;
}

/**
 * Maximum amounts that the queue borrows from its cohort beyond its own quota. Resources without a value are not limited.
 */
export interface FluxSetupSpecBorrowing {
  /**
   * Maximum number of workloads.
   */
  readonly jobs?: number;

  /**
   * Maximum number of running pods.
   */
  readonly pods?: number;

  /**
   * Maximum number of cores as a Kubernetes quantity, for example `64` or `500m`.
   */
  readonly cores?: number | string;

  /**
   * Maximum amount of memory as a Kubernetes quantity, for example `256Gi`.
   */
  readonly memory?: number | string;

  /**
   * Maximum number of GPUs of any vendor.
   */
  readonly gpus?: number;

  /**
   * Maximum number of different nodes.
   */
  readonly nodes?: number;
}

/**
 * Maximum numbers of workloads of the whole queue and of each of its users.
 */
export interface FluxSetupSpecLimits {
  /**
   * Maximum number of workloads that hold nodes at the same time.
   */
  readonly running?: number;

  /**
   * Maximum number of waiting workloads that a scheduling pass considers; the others wait behind them.
   */
  readonly waiting?: number;

  /**
   * Limits of each user, by the annotation `fluxqueue/user` that admission writes.
   */
  readonly perUser?: FluxSetupSpecLimitsPerUser;
}

/**
 * Limits of each user, by the annotation `fluxqueue/user` that admission writes.
 */
export interface FluxSetupSpecLimitsPerUser {
  /**
   * Maximum number of workloads that hold nodes at the same time.
   */
  readonly running?: number;

  /**
   * Maximum number of waiting workloads that a scheduling pass considers.
   */
  readonly waiting?: number;
}

/**
 * LowerPriority: workloads of the queue can preempt workloads of any queue that have `fluxqueue/preemptible: "true"` and a lower priority; the preempted workloads are requeued.
 */
export type FluxSetupSpecPreemption = 'Never' | 'LowerPriority';

/**
 * Automatic requeue of workloads that lost their nodes.
 */
export interface FluxSetupSpecRequeue {
  /**
   * Maximum number of automatic requeues of a workload.
   */
  readonly limit?: number;

  /**
   * Delay before the first requeue starts again; it doubles with each further one, up to an hour.
   */
  readonly backoff?: string;
}

/**
 * What is asked for.
 */
export interface MiniClusterSpec {
  /**
   * The containers of each pod. The one with runFlux (or the only one) runs the brokers, the others are its sidecars: they start before it and end with it.
   */
  readonly containers: readonly MiniClusterSpecContainers[];

  /**
   * Containers of one more pod beside the cluster (a database, a registry), reached as NAME-services or NAME-CONTAINER.
   */
  readonly services?: readonly MiniClusterSpecServices[];

  /**
   * How many pods, so how many brokers. Can be changed while it runs, up to maxSize.
   */
  readonly size?: number;

  /**
   * How many brokers must be up before the command starts; else size.
   */
  readonly minSize?: number;

  /**
   * The most pods it can be scaled to; else size.
   */
  readonly maxSize?: number;

  /**
   * Tasks of the submitted job; 0 leaves it to Flux, one per node.
   */
  readonly tasks?: number;

  /**
   * Job, or StatefulSet for an interactive cluster that is there until it is deleted.
   */
  readonly workload?: MiniClusterSpecWorkload;

  /**
   * Brokers start and stay; the command is not run.
   */
  readonly interactive?: boolean;

  /**
   * Make the Job but start nothing until this is false. A queue takes it as held.
   */
  readonly suspend?: boolean;

  /**
   * Queue of fluxqueue; else the namespace's.
   */
  readonly queue?: string;

  /**
   * Priority in the queue; higher starts first.
   */
  readonly priority?: number;

  /**
   * How long it may run, for example 1h30m; the queue plans with it and the Job ends by it.
   */
  readonly walltime?: string;

  /**
   * The queue gives it whole nodes.
   */
  readonly exclusive?: boolean;

  /**
   * The Job is ended after so many seconds, also when its brokers never find together.
   */
  readonly deadlineSeconds?: number;

  /**
   * How many failed pods are replaced; else 0 with a command and 100 for an interactive cluster.
   */
  readonly backoffLimit?: number;

  /**
   * The Job and its pods are deleted so many seconds after the end.
   */
  readonly ttlSecondsAfterFinished?: number;

  /**
   * What the failure of a pod means; else an eviction does not count. Needs restartPolicy Never.
   */
  readonly podFailurePolicy?: MiniClusterSpecPodFailurePolicy;

  /**
   * Delete the MiniCluster when it is finished.
   */
  readonly cleanup?: boolean;

  /**
   * Labels of the Job.
   */
  readonly jobLabels?: Readonly<Record<string, string>>;

  /**
   * Containers of a pod see each other's processes.
   */
  readonly shareProcessNamespace?: boolean;

  /**
   * Keeps the state of the Flux instance from one run to the next.
   */
  readonly archive?: MiniClusterSpecArchive;

  /**
   * How brokers find each other.
   */
  readonly network?: MiniClusterSpecNetwork;

  /**
   * How much is said.
   */
  readonly logging?: MiniClusterSpecLogging;

  /**
   * The Flux instance.
   */
  readonly flux?: MiniClusterSpecFlux;

  /**
   * The pods.
   */
  readonly pod?: MiniClusterSpecPod;
}

export interface MiniClusterSpecContainers {
  /**
   * Image of the container.
   */
  readonly image?: string;

  /**
   * Name of a Secret to pull the image with.
   */
  readonly imagePullSecret?: string;

  /**
   * Name of the container; needed beside the one that runs Flux, whose default is the name of the MiniCluster.
   */
  readonly name?: string;

  /**
   * Working directory; jobs start there too.
   */
  readonly workingDir?: string;

  /**
   * What runs. In the container with Flux it is submitted as one job (see tasks), unless launcher or batch is set; none makes an interactive cluster. Plain words become arguments; what has shell syntax ($, |, &&, quotes) is given to a shell where it runs.
   */
  readonly command?: string;

  /**
   * Pull the image at every start.
   */
  readonly pullAlways?: boolean;

  /**
   * When the image is pulled, if not pullAlways; else IfNotPresent.
   */
  readonly imagePullPolicy?: MiniClusterSpecContainersImagePullPolicy;

  /**
   * Ports the container listens on. A sidecar's or service's become a Service NAME-CONTAINER.
   */
  readonly ports?: readonly number[];

  /**
   * Environment variables.
   */
  readonly environment?: Readonly<Record<string, string>>;

  /**
   * Environment variables from keys of Secrets.
   */
  readonly secrets?: Readonly<Record<string, MiniClusterSpecContainersSecrets>>;

  /**
   * Environment variables as in a pod, for those that come from a field, a ConfigMap or a Secret; wins over environment and secrets.
   */
  readonly env?: readonly MiniClusterSpecContainersEnv[];

  /**
   * ConfigMaps and Secrets all of whose keys become environment variables.
   */
  readonly envFrom?: readonly MiniClusterSpecContainersEnvFrom[];

  /**
   * The command submits its own jobs (workflow tools do); it runs once, beside the lead broker.
   */
  readonly launcher?: boolean;

  /**
   * Each line of the command becomes a job of one batch job.
   */
  readonly batch?: boolean;

  /**
   * With batch, the command is the batch script as it stands.
   */
  readonly batchRaw?: boolean;

  /**
   * Directory for the output of batch jobs; else /tmp/fluxout.
   */
  readonly logs?: string;

  /**
   * This container runs the brokers; exactly one does.
   */
  readonly runFlux?: boolean;

  /**
   * A sidecar that starts as its image says; command and commands are not used.
   */
  readonly noWrapEntrypoint?: boolean;

  /**
   * Name of the Service of its ports; else NAME-CONTAINER.
   */
  readonly serviceName?: string;

  /**
   * Volumes by name. A name means the same volume in all containers of the pod; each mounts those it lists. Without a source it is an empty directory.
   */
  readonly volumes?: Readonly<Record<string, MiniClusterSpecContainersVolumes>>;

  /**
   * Commands at the start and before the end of the container, each given to a shell.
   */
  readonly lifeCycle?: MiniClusterSpecContainersLifeCycle;

  /**
   * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
   */
  readonly livenessProbe?: MiniClusterSpecContainersLivenessProbe;

  /**
   * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
   */
  readonly readinessProbe?: MiniClusterSpecContainersReadinessProbe;

  /**
   * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
   */
  readonly startupProbe?: MiniClusterSpecContainersStartupProbe;

  /**
   * Requests, limits and claims of devices.
   */
  readonly resources?: MiniClusterSpecContainersResources;

  /**
   * Security settings of the container, as in a pod.
   */
  readonly securityContext?: MiniClusterSpecContainersSecurityContext;

  /**
   * Blocks of shell around the command. They run in one shell with the entrypoint, so what they export the command sees.
   */
  readonly commands?: MiniClusterSpecContainersCommands;
}

/**
 * When the image is pulled, if not pullAlways; else IfNotPresent.
 */
export type MiniClusterSpecContainersImagePullPolicy = 'Always' | 'IfNotPresent' | 'Never';

export interface MiniClusterSpecContainersSecrets {
  /**
   * Name of the Secret.
   */
  readonly name: string;

  /**
   * Key in the Secret.
   */
  readonly key: string;
}

export interface MiniClusterSpecContainersEnv {
  /**
   * Name of the variable.
   */
  readonly name: string;

  /**
   * Its value.
   */
  readonly value?: string;

  /**
   * Where its value comes from.
   */
  readonly valueFrom?: MiniClusterSpecContainersEnvValueFrom;
}

/**
 * Where its value comes from.
 */
export interface MiniClusterSpecContainersEnvValueFrom {
  /**
   * A field of the pod.
   */
  readonly fieldRef?: MiniClusterSpecContainersEnvValueFromFieldRef;

  /**
   * A resource of the container.
   */
  readonly resourceFieldRef?: MiniClusterSpecContainersEnvValueFromResourceFieldRef;

  /**
   * A key of a ConfigMap or Secret.
   */
  readonly configMapKeyRef?: MiniClusterSpecContainersEnvValueFromConfigMapKeyRef;

  /**
   * A key of a ConfigMap or Secret.
   */
  readonly secretKeyRef?: MiniClusterSpecContainersEnvValueFromSecretKeyRef;
}

/**
 * A field of the pod.
 */
export interface MiniClusterSpecContainersEnvValueFromFieldRef {
  /**
   * Version the path is of; else v1.
   */
  readonly apiVersion?: string;

  /**
   * For example status.hostIP.
   */
  readonly fieldPath: string;
}

/**
 * A resource of the container.
 */
export interface MiniClusterSpecContainersEnvValueFromResourceFieldRef {
  /**
   * The container; else this one.
   */
  readonly containerName?: string;

  /**
   * For example limits.memory.
   */
  readonly resource: string;

  /**
   * A quantity of Kubernetes, for example 4, 500m, 16Gi.
   */
  readonly divisor?: number | string;
}

/**
 * A key of a ConfigMap or Secret.
 */
export interface MiniClusterSpecContainersEnvValueFromConfigMapKeyRef {
  /**
   * Name of the object.
   */
  readonly name: string;

  /**
   * Key in it.
   */
  readonly key: string;

  /**
   * Go on without it.
   */
  readonly optional?: boolean;
}

/**
 * A key of a ConfigMap or Secret.
 */
export interface MiniClusterSpecContainersEnvValueFromSecretKeyRef {
  /**
   * Name of the object.
   */
  readonly name: string;

  /**
   * Key in it.
   */
  readonly key: string;

  /**
   * Go on without it.
   */
  readonly optional?: boolean;
}

export interface MiniClusterSpecContainersEnvFrom {
  /**
   * Put before each name.
   */
  readonly prefix?: string;

  /**
   * The ConfigMap or Secret.
   */
  readonly configMapRef?: MiniClusterSpecContainersEnvFromConfigMapRef;

  /**
   * The ConfigMap or Secret.
   */
  readonly secretRef?: MiniClusterSpecContainersEnvFromSecretRef;
}

/**
 * The ConfigMap or Secret.
 */
export interface MiniClusterSpecContainersEnvFromConfigMapRef {
  /**
   * Its name.
   */
  readonly name: string;

  /**
   * Go on without it.
   */
  readonly optional?: boolean;
}

/**
 * The ConfigMap or Secret.
 */
export interface MiniClusterSpecContainersEnvFromSecretRef {
  /**
   * Its name.
   */
  readonly name: string;

  /**
   * Go on without it.
   */
  readonly optional?: boolean;
}

export interface MiniClusterSpecContainersVolumes {
  /**
   * Where it is mounted; an emptyDir's default is /dev/shm.
   */
  readonly path?: string;

  /**
   * Mount it read-only.
   */
  readonly readOnly?: boolean;

  /**
   * Mount only this path within it.
   */
  readonly subPath?: string;

  /**
   * Name of a PersistentVolumeClaim.
   */
  readonly claimName?: string;

  /**
   * Name of a ConfigMap.
   */
  readonly configMapName?: string;

  /**
   * Name of a Secret.
   */
  readonly secretName?: string;

  /**
   * Keys of the ConfigMap or Secret and the paths they get; else all keys under their names.
   */
  readonly items?: Readonly<Record<string, string>>;

  /**
   * Mode of the files of a ConfigMap or Secret, as a decimal number (256 is 0400).
   */
  readonly defaultMode?: number;

  /**
   * Directory of the node.
   */
  readonly hostPath?: string;

  /**
   * What hostPath must be; else Directory.
   */
  readonly hostPathType?: MiniClusterSpecContainersVolumesHostPathType;

  /**
   * An empty directory.
   */
  readonly emptyDir?: boolean;

  /**
   * memory for a directory in memory.
   */
  readonly emptyDirMedium?: MiniClusterSpecContainersVolumesEmptyDirMedium;

  /**
   * A quantity of Kubernetes, for example 4, 500m, 16Gi.
   */
  readonly emptyDirSizeLimit?: number | string;

  /**
   * Name of a CSI driver that makes the volume inline.
   */
  readonly csiDriver?: string;

  /**
   * Attributes for the CSI driver.
   */
  readonly csiDriverAttributes?: Readonly<Record<string, string>>;

  /**
   * File system for the CSI driver.
   */
  readonly csiDriverFsType?: string;

  /**
   * Name of the Secret that the CSI driver mounts with.
   */
  readonly csiDriverSecretName?: string;

  /**
   * Host of an NFS export.
   */
  readonly nfsServer?: string;

  /**
   * Path of the NFS export.
   */
  readonly nfsPath?: string;
}

/**
 * What hostPath must be; else Directory.
 */
export type MiniClusterSpecContainersVolumesHostPathType = '' | 'DirectoryOrCreate' | 'Directory' | 'FileOrCreate' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice';

/**
 * memory for a directory in memory.
 */
export type MiniClusterSpecContainersVolumesEmptyDirMedium = '' | 'memory' | 'Memory';

/**
 * Commands at the start and before the end of the container, each given to a shell.
 */
export interface MiniClusterSpecContainersLifeCycle {
  /**
   * Right after its start.
   */
  readonly postStartExec?: string;

  /**
   * Before it is told to end.
   */
  readonly preStopExec?: string;
}

/**
 * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
 */
export interface MiniClusterSpecContainersLivenessProbe {
  /**
   * A command that ends with 0.
   */
  readonly exec?: MiniClusterSpecContainersLivenessProbeExec;

  /**
   * A request that is answered with 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecContainersLivenessProbeHttpGet;

  /**
   * A port that accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecContainersLivenessProbeTcpSocket;

  /**
   * A gRPC health service that says SERVING.
   */
  readonly grpc?: MiniClusterSpecContainersLivenessProbeGrpc;

  /**
   * Seconds before the first.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two.
   */
  readonly periodSeconds?: number;

  /**
   * Seconds it may take.
   */
  readonly timeoutSeconds?: number;

  /**
   * How many in a row make it well.
   */
  readonly successThreshold?: number;

  /**
   * How many in a row make it ill.
   */
  readonly failureThreshold?: number;

  /**
   * Seconds to end in when it is ill.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * A command that ends with 0.
 */
export interface MiniClusterSpecContainersLivenessProbeExec {
  /**
   * The command and its arguments.
   */
  readonly command?: readonly string[];
}

/**
 * A request that is answered with 200 to 399.
 */
export interface MiniClusterSpecContainersLivenessProbeHttpGet {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecContainersLivenessProbeHttpGetHttpHeaders[];

  /**
   * Path; else /.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * HTTP or HTTPS.
   */
  readonly scheme?: MiniClusterSpecContainersLivenessProbeHttpGetScheme;
}

export interface MiniClusterSpecContainersLivenessProbeHttpGetHttpHeaders {
  /**
   * Name of the header.
   */
  readonly name: string;

  /**
   * Value of the header.
   */
  readonly value: string;
}

/**
 * HTTP or HTTPS.
 */
export type MiniClusterSpecContainersLivenessProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * A port that accepts a connection.
 */
export interface MiniClusterSpecContainersLivenessProbeTcpSocket {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * A gRPC health service that says SERVING.
 */
export interface MiniClusterSpecContainersLivenessProbeGrpc {
  /**
   * Its port.
   */
  readonly port: number;

  /**
   * Service asked for.
   */
  readonly service?: string;
}

/**
 * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
 */
export interface MiniClusterSpecContainersReadinessProbe {
  /**
   * A command that ends with 0.
   */
  readonly exec?: MiniClusterSpecContainersReadinessProbeExec;

  /**
   * A request that is answered with 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecContainersReadinessProbeHttpGet;

  /**
   * A port that accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecContainersReadinessProbeTcpSocket;

  /**
   * A gRPC health service that says SERVING.
   */
  readonly grpc?: MiniClusterSpecContainersReadinessProbeGrpc;

  /**
   * Seconds before the first.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two.
   */
  readonly periodSeconds?: number;

  /**
   * Seconds it may take.
   */
  readonly timeoutSeconds?: number;

  /**
   * How many in a row make it well.
   */
  readonly successThreshold?: number;

  /**
   * How many in a row make it ill.
   */
  readonly failureThreshold?: number;

  /**
   * Seconds to end in when it is ill.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * A command that ends with 0.
 */
export interface MiniClusterSpecContainersReadinessProbeExec {
  /**
   * The command and its arguments.
   */
  readonly command?: readonly string[];
}

/**
 * A request that is answered with 200 to 399.
 */
export interface MiniClusterSpecContainersReadinessProbeHttpGet {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecContainersReadinessProbeHttpGetHttpHeaders[];

  /**
   * Path; else /.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * HTTP or HTTPS.
   */
  readonly scheme?: MiniClusterSpecContainersReadinessProbeHttpGetScheme;
}

export interface MiniClusterSpecContainersReadinessProbeHttpGetHttpHeaders {
  /**
   * Name of the header.
   */
  readonly name: string;

  /**
   * Value of the header.
   */
  readonly value: string;
}

/**
 * HTTP or HTTPS.
 */
export type MiniClusterSpecContainersReadinessProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * A port that accepts a connection.
 */
export interface MiniClusterSpecContainersReadinessProbeTcpSocket {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * A gRPC health service that says SERVING.
 */
export interface MiniClusterSpecContainersReadinessProbeGrpc {
  /**
   * Its port.
   */
  readonly port: number;

  /**
   * Service asked for.
   */
  readonly service?: string;
}

/**
 * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
 */
export interface MiniClusterSpecContainersStartupProbe {
  /**
   * A command that ends with 0.
   */
  readonly exec?: MiniClusterSpecContainersStartupProbeExec;

  /**
   * A request that is answered with 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecContainersStartupProbeHttpGet;

  /**
   * A port that accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecContainersStartupProbeTcpSocket;

  /**
   * A gRPC health service that says SERVING.
   */
  readonly grpc?: MiniClusterSpecContainersStartupProbeGrpc;

  /**
   * Seconds before the first.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two.
   */
  readonly periodSeconds?: number;

  /**
   * Seconds it may take.
   */
  readonly timeoutSeconds?: number;

  /**
   * How many in a row make it well.
   */
  readonly successThreshold?: number;

  /**
   * How many in a row make it ill.
   */
  readonly failureThreshold?: number;

  /**
   * Seconds to end in when it is ill.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * A command that ends with 0.
 */
export interface MiniClusterSpecContainersStartupProbeExec {
  /**
   * The command and its arguments.
   */
  readonly command?: readonly string[];
}

/**
 * A request that is answered with 200 to 399.
 */
export interface MiniClusterSpecContainersStartupProbeHttpGet {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecContainersStartupProbeHttpGetHttpHeaders[];

  /**
   * Path; else /.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * HTTP or HTTPS.
   */
  readonly scheme?: MiniClusterSpecContainersStartupProbeHttpGetScheme;
}

export interface MiniClusterSpecContainersStartupProbeHttpGetHttpHeaders {
  /**
   * Name of the header.
   */
  readonly name: string;

  /**
   * Value of the header.
   */
  readonly value: string;
}

/**
 * HTTP or HTTPS.
 */
export type MiniClusterSpecContainersStartupProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * A port that accepts a connection.
 */
export interface MiniClusterSpecContainersStartupProbeTcpSocket {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * A gRPC health service that says SERVING.
 */
export interface MiniClusterSpecContainersStartupProbeGrpc {
  /**
   * Its port.
   */
  readonly port: number;

  /**
   * Service asked for.
   */
  readonly service?: string;
}

/**
 * Requests, limits and claims of devices.
 */
export interface MiniClusterSpecContainersResources {
  /**
   * Quantities by resource.
   */
  readonly limits?: Readonly<Record<string, number | string>>;

  /**
   * Quantities by resource.
   */
  readonly requests?: Readonly<Record<string, number | string>>;

  /**
   * Names of pod.resourceClaims it uses.
   */
  readonly claims?: readonly MiniClusterSpecContainersResourcesClaims[];
}

export interface MiniClusterSpecContainersResourcesClaims {
  /**
   * Name in pod.resourceClaims.
   */
  readonly name: string;

  /**
   * One request of the claim; else all.
   */
  readonly request?: string;
}

/**
 * Security settings of the container, as in a pod.
 */
export interface MiniClusterSpecContainersSecurityContext {
  /**
   * Whether a process may gain more rights than its parent.
   */
  readonly allowPrivilegeEscalation?: boolean;

  /**
   * A security profile.
   */
  readonly appArmorProfile?: MiniClusterSpecContainersSecurityContextAppArmorProfile;

  /**
   * Capabilities of Linux.
   */
  readonly capabilities?: MiniClusterSpecContainersSecurityContextCapabilities;

  /**
   * Run as root on the node.
   */
  readonly privileged?: boolean;

  /**
   * Default or Unmasked.
   */
  readonly procMount?: string;

  /**
   * Nothing outside of volumes can be written.
   */
  readonly readOnlyRootFilesystem?: boolean;

  /**
   * Group id.
   */
  readonly runAsGroup?: number;

  /**
   * Refuse to start as root.
   */
  readonly runAsNonRoot?: boolean;

  /**
   * User id; else the image's.
   */
  readonly runAsUser?: number;

  /**
   * SELinux context.
   */
  readonly seLinuxOptions?: MiniClusterSpecContainersSecurityContextSeLinuxOptions;

  /**
   * A security profile.
   */
  readonly seccompProfile?: MiniClusterSpecContainersSecurityContextSeccompProfile;

  /**
   * For Windows; Flux does not run there.
   */
  readonly windowsOptions?: MiniClusterSpecContainersSecurityContextWindowsOptions;
}

/**
 * A security profile.
 */
export interface MiniClusterSpecContainersSecurityContextAppArmorProfile {
  /**
   * RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecContainersSecurityContextAppArmorProfileType;

  /**
   * The node's profile for Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecContainersSecurityContextAppArmorProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * Capabilities of Linux.
 */
export interface MiniClusterSpecContainersSecurityContextCapabilities {
  /**
   * Names of capabilities.
   */
  readonly add?: readonly string[];

  /**
   * Names of capabilities.
   */
  readonly drop?: readonly string[];
}

/**
 * SELinux context.
 */
export interface MiniClusterSpecContainersSecurityContextSeLinuxOptions {
  /**
   * Level.
   */
  readonly level?: string;

  /**
   * Role.
   */
  readonly role?: string;

  /**
   * Type.
   */
  readonly type?: string;

  /**
   * User.
   */
  readonly user?: string;
}

/**
 * A security profile.
 */
export interface MiniClusterSpecContainersSecurityContextSeccompProfile {
  /**
   * RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecContainersSecurityContextSeccompProfileType;

  /**
   * The node's profile for Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecContainersSecurityContextSeccompProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * For Windows; Flux does not run there.
 */
export interface MiniClusterSpecContainersSecurityContextWindowsOptions {
  /**
   * Credential spec.
   */
  readonly gmsaCredentialSpec?: string;

  /**
   * Name of the credential spec.
   */
  readonly gmsaCredentialSpecName?: string;

  /**
   * Run as a host process.
   */
  readonly hostProcess?: boolean;

  /**
   * User name.
   */
  readonly runAsUserName?: string;
}

/**
 * Blocks of shell around the command. They run in one shell with the entrypoint, so what they export the command sees.
 */
export interface MiniClusterSpecContainersCommands {
  /**
   * First of all, in every pod.
   */
  readonly init?: string;

  /**
   * Before the broker, in every pod.
   */
  readonly pre?: string;

  /**
   * Before the broker, in the lead pod.
   */
  readonly brokerPre?: string;

  /**
   * Before the broker, in the other pods.
   */
  readonly workerPre?: string;

  /**
   * After the broker, in every pod; the exit code stays the command's.
   */
  readonly post?: string;

  /**
   * In a sidecar, before it waits for Flux.
   */
  readonly servicePre?: string;

  /**
   * Words before what the lead starts, for example a tracer.
   */
  readonly prefix?: string;

  /**
   * A script that runs in place of a command; each task runs it, with FLUX_TASK_RANK to tell them apart.
   */
  readonly script?: string;
}

export interface MiniClusterSpecServices {
  /**
   * Image of the container.
   */
  readonly image?: string;

  /**
   * Name of a Secret to pull the image with.
   */
  readonly imagePullSecret?: string;

  /**
   * Name of the container; needed beside the one that runs Flux, whose default is the name of the MiniCluster.
   */
  readonly name?: string;

  /**
   * Working directory; jobs start there too.
   */
  readonly workingDir?: string;

  /**
   * What runs. In the container with Flux it is submitted as one job (see tasks), unless launcher or batch is set; none makes an interactive cluster. Plain words become arguments; what has shell syntax ($, |, &&, quotes) is given to a shell where it runs.
   */
  readonly command?: string;

  /**
   * Pull the image at every start.
   */
  readonly pullAlways?: boolean;

  /**
   * When the image is pulled, if not pullAlways; else IfNotPresent.
   */
  readonly imagePullPolicy?: MiniClusterSpecServicesImagePullPolicy;

  /**
   * Ports the container listens on. A sidecar's or service's become a Service NAME-CONTAINER.
   */
  readonly ports?: readonly number[];

  /**
   * Environment variables.
   */
  readonly environment?: Readonly<Record<string, string>>;

  /**
   * Environment variables from keys of Secrets.
   */
  readonly secrets?: Readonly<Record<string, MiniClusterSpecServicesSecrets>>;

  /**
   * Environment variables as in a pod, for those that come from a field, a ConfigMap or a Secret; wins over environment and secrets.
   */
  readonly env?: readonly MiniClusterSpecServicesEnv[];

  /**
   * ConfigMaps and Secrets all of whose keys become environment variables.
   */
  readonly envFrom?: readonly MiniClusterSpecServicesEnvFrom[];

  /**
   * The command submits its own jobs (workflow tools do); it runs once, beside the lead broker.
   */
  readonly launcher?: boolean;

  /**
   * Each line of the command becomes a job of one batch job.
   */
  readonly batch?: boolean;

  /**
   * With batch, the command is the batch script as it stands.
   */
  readonly batchRaw?: boolean;

  /**
   * Directory for the output of batch jobs; else /tmp/fluxout.
   */
  readonly logs?: string;

  /**
   * This container runs the brokers; exactly one does.
   */
  readonly runFlux?: boolean;

  /**
   * A sidecar that starts as its image says; command and commands are not used.
   */
  readonly noWrapEntrypoint?: boolean;

  /**
   * Name of the Service of its ports; else NAME-CONTAINER.
   */
  readonly serviceName?: string;

  /**
   * Volumes by name. A name means the same volume in all containers of the pod; each mounts those it lists. Without a source it is an empty directory.
   */
  readonly volumes?: Readonly<Record<string, MiniClusterSpecServicesVolumes>>;

  /**
   * Commands at the start and before the end of the container, each given to a shell.
   */
  readonly lifeCycle?: MiniClusterSpecServicesLifeCycle;

  /**
   * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
   */
  readonly livenessProbe?: MiniClusterSpecServicesLivenessProbe;

  /**
   * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
   */
  readonly readinessProbe?: MiniClusterSpecServicesReadinessProbe;

  /**
   * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
   */
  readonly startupProbe?: MiniClusterSpecServicesStartupProbe;

  /**
   * Requests, limits and claims of devices.
   */
  readonly resources?: MiniClusterSpecServicesResources;

  /**
   * Security settings of the container, as in a pod.
   */
  readonly securityContext?: MiniClusterSpecServicesSecurityContext;

  /**
   * Blocks of shell around the command. They run in one shell with the entrypoint, so what they export the command sees.
   */
  readonly commands?: MiniClusterSpecServicesCommands;
}

/**
 * When the image is pulled, if not pullAlways; else IfNotPresent.
 */
export type MiniClusterSpecServicesImagePullPolicy = 'Always' | 'IfNotPresent' | 'Never';

export interface MiniClusterSpecServicesSecrets {
  /**
   * Name of the Secret.
   */
  readonly name: string;

  /**
   * Key in the Secret.
   */
  readonly key: string;
}

export interface MiniClusterSpecServicesEnv {
  /**
   * Name of the variable.
   */
  readonly name: string;

  /**
   * Its value.
   */
  readonly value?: string;

  /**
   * Where its value comes from.
   */
  readonly valueFrom?: MiniClusterSpecServicesEnvValueFrom;
}

/**
 * Where its value comes from.
 */
export interface MiniClusterSpecServicesEnvValueFrom {
  /**
   * A field of the pod.
   */
  readonly fieldRef?: MiniClusterSpecServicesEnvValueFromFieldRef;

  /**
   * A resource of the container.
   */
  readonly resourceFieldRef?: MiniClusterSpecServicesEnvValueFromResourceFieldRef;

  /**
   * A key of a ConfigMap or Secret.
   */
  readonly configMapKeyRef?: MiniClusterSpecServicesEnvValueFromConfigMapKeyRef;

  /**
   * A key of a ConfigMap or Secret.
   */
  readonly secretKeyRef?: MiniClusterSpecServicesEnvValueFromSecretKeyRef;
}

/**
 * A field of the pod.
 */
export interface MiniClusterSpecServicesEnvValueFromFieldRef {
  /**
   * Version the path is of; else v1.
   */
  readonly apiVersion?: string;

  /**
   * For example status.hostIP.
   */
  readonly fieldPath: string;
}

/**
 * A resource of the container.
 */
export interface MiniClusterSpecServicesEnvValueFromResourceFieldRef {
  /**
   * The container; else this one.
   */
  readonly containerName?: string;

  /**
   * For example limits.memory.
   */
  readonly resource: string;

  /**
   * A quantity of Kubernetes, for example 4, 500m, 16Gi.
   */
  readonly divisor?: number | string;
}

/**
 * A key of a ConfigMap or Secret.
 */
export interface MiniClusterSpecServicesEnvValueFromConfigMapKeyRef {
  /**
   * Name of the object.
   */
  readonly name: string;

  /**
   * Key in it.
   */
  readonly key: string;

  /**
   * Go on without it.
   */
  readonly optional?: boolean;
}

/**
 * A key of a ConfigMap or Secret.
 */
export interface MiniClusterSpecServicesEnvValueFromSecretKeyRef {
  /**
   * Name of the object.
   */
  readonly name: string;

  /**
   * Key in it.
   */
  readonly key: string;

  /**
   * Go on without it.
   */
  readonly optional?: boolean;
}

export interface MiniClusterSpecServicesEnvFrom {
  /**
   * Put before each name.
   */
  readonly prefix?: string;

  /**
   * The ConfigMap or Secret.
   */
  readonly configMapRef?: MiniClusterSpecServicesEnvFromConfigMapRef;

  /**
   * The ConfigMap or Secret.
   */
  readonly secretRef?: MiniClusterSpecServicesEnvFromSecretRef;
}

/**
 * The ConfigMap or Secret.
 */
export interface MiniClusterSpecServicesEnvFromConfigMapRef {
  /**
   * Its name.
   */
  readonly name: string;

  /**
   * Go on without it.
   */
  readonly optional?: boolean;
}

/**
 * The ConfigMap or Secret.
 */
export interface MiniClusterSpecServicesEnvFromSecretRef {
  /**
   * Its name.
   */
  readonly name: string;

  /**
   * Go on without it.
   */
  readonly optional?: boolean;
}

export interface MiniClusterSpecServicesVolumes {
  /**
   * Where it is mounted; an emptyDir's default is /dev/shm.
   */
  readonly path?: string;

  /**
   * Mount it read-only.
   */
  readonly readOnly?: boolean;

  /**
   * Mount only this path within it.
   */
  readonly subPath?: string;

  /**
   * Name of a PersistentVolumeClaim.
   */
  readonly claimName?: string;

  /**
   * Name of a ConfigMap.
   */
  readonly configMapName?: string;

  /**
   * Name of a Secret.
   */
  readonly secretName?: string;

  /**
   * Keys of the ConfigMap or Secret and the paths they get; else all keys under their names.
   */
  readonly items?: Readonly<Record<string, string>>;

  /**
   * Mode of the files of a ConfigMap or Secret, as a decimal number (256 is 0400).
   */
  readonly defaultMode?: number;

  /**
   * Directory of the node.
   */
  readonly hostPath?: string;

  /**
   * What hostPath must be; else Directory.
   */
  readonly hostPathType?: MiniClusterSpecServicesVolumesHostPathType;

  /**
   * An empty directory.
   */
  readonly emptyDir?: boolean;

  /**
   * memory for a directory in memory.
   */
  readonly emptyDirMedium?: MiniClusterSpecServicesVolumesEmptyDirMedium;

  /**
   * A quantity of Kubernetes, for example 4, 500m, 16Gi.
   */
  readonly emptyDirSizeLimit?: number | string;

  /**
   * Name of a CSI driver that makes the volume inline.
   */
  readonly csiDriver?: string;

  /**
   * Attributes for the CSI driver.
   */
  readonly csiDriverAttributes?: Readonly<Record<string, string>>;

  /**
   * File system for the CSI driver.
   */
  readonly csiDriverFsType?: string;

  /**
   * Name of the Secret that the CSI driver mounts with.
   */
  readonly csiDriverSecretName?: string;

  /**
   * Host of an NFS export.
   */
  readonly nfsServer?: string;

  /**
   * Path of the NFS export.
   */
  readonly nfsPath?: string;
}

/**
 * What hostPath must be; else Directory.
 */
export type MiniClusterSpecServicesVolumesHostPathType = '' | 'DirectoryOrCreate' | 'Directory' | 'FileOrCreate' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice';

/**
 * memory for a directory in memory.
 */
export type MiniClusterSpecServicesVolumesEmptyDirMedium = '' | 'memory' | 'Memory';

/**
 * Commands at the start and before the end of the container, each given to a shell.
 */
export interface MiniClusterSpecServicesLifeCycle {
  /**
   * Right after its start.
   */
  readonly postStartExec?: string;

  /**
   * Before it is told to end.
   */
  readonly preStopExec?: string;
}

/**
 * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
 */
export interface MiniClusterSpecServicesLivenessProbe {
  /**
   * A command that ends with 0.
   */
  readonly exec?: MiniClusterSpecServicesLivenessProbeExec;

  /**
   * A request that is answered with 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecServicesLivenessProbeHttpGet;

  /**
   * A port that accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecServicesLivenessProbeTcpSocket;

  /**
   * A gRPC health service that says SERVING.
   */
  readonly grpc?: MiniClusterSpecServicesLivenessProbeGrpc;

  /**
   * Seconds before the first.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two.
   */
  readonly periodSeconds?: number;

  /**
   * Seconds it may take.
   */
  readonly timeoutSeconds?: number;

  /**
   * How many in a row make it well.
   */
  readonly successThreshold?: number;

  /**
   * How many in a row make it ill.
   */
  readonly failureThreshold?: number;

  /**
   * Seconds to end in when it is ill.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * A command that ends with 0.
 */
export interface MiniClusterSpecServicesLivenessProbeExec {
  /**
   * The command and its arguments.
   */
  readonly command?: readonly string[];
}

/**
 * A request that is answered with 200 to 399.
 */
export interface MiniClusterSpecServicesLivenessProbeHttpGet {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecServicesLivenessProbeHttpGetHttpHeaders[];

  /**
   * Path; else /.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * HTTP or HTTPS.
   */
  readonly scheme?: MiniClusterSpecServicesLivenessProbeHttpGetScheme;
}

export interface MiniClusterSpecServicesLivenessProbeHttpGetHttpHeaders {
  /**
   * Name of the header.
   */
  readonly name: string;

  /**
   * Value of the header.
   */
  readonly value: string;
}

/**
 * HTTP or HTTPS.
 */
export type MiniClusterSpecServicesLivenessProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * A port that accepts a connection.
 */
export interface MiniClusterSpecServicesLivenessProbeTcpSocket {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * A gRPC health service that says SERVING.
 */
export interface MiniClusterSpecServicesLivenessProbeGrpc {
  /**
   * Its port.
   */
  readonly port: number;

  /**
   * Service asked for.
   */
  readonly service?: string;
}

/**
 * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
 */
export interface MiniClusterSpecServicesReadinessProbe {
  /**
   * A command that ends with 0.
   */
  readonly exec?: MiniClusterSpecServicesReadinessProbeExec;

  /**
   * A request that is answered with 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecServicesReadinessProbeHttpGet;

  /**
   * A port that accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecServicesReadinessProbeTcpSocket;

  /**
   * A gRPC health service that says SERVING.
   */
  readonly grpc?: MiniClusterSpecServicesReadinessProbeGrpc;

  /**
   * Seconds before the first.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two.
   */
  readonly periodSeconds?: number;

  /**
   * Seconds it may take.
   */
  readonly timeoutSeconds?: number;

  /**
   * How many in a row make it well.
   */
  readonly successThreshold?: number;

  /**
   * How many in a row make it ill.
   */
  readonly failureThreshold?: number;

  /**
   * Seconds to end in when it is ill.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * A command that ends with 0.
 */
export interface MiniClusterSpecServicesReadinessProbeExec {
  /**
   * The command and its arguments.
   */
  readonly command?: readonly string[];
}

/**
 * A request that is answered with 200 to 399.
 */
export interface MiniClusterSpecServicesReadinessProbeHttpGet {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecServicesReadinessProbeHttpGetHttpHeaders[];

  /**
   * Path; else /.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * HTTP or HTTPS.
   */
  readonly scheme?: MiniClusterSpecServicesReadinessProbeHttpGetScheme;
}

export interface MiniClusterSpecServicesReadinessProbeHttpGetHttpHeaders {
  /**
   * Name of the header.
   */
  readonly name: string;

  /**
   * Value of the header.
   */
  readonly value: string;
}

/**
 * HTTP or HTTPS.
 */
export type MiniClusterSpecServicesReadinessProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * A port that accepts a connection.
 */
export interface MiniClusterSpecServicesReadinessProbeTcpSocket {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * A gRPC health service that says SERVING.
 */
export interface MiniClusterSpecServicesReadinessProbeGrpc {
  /**
   * Its port.
   */
  readonly port: number;

  /**
   * Service asked for.
   */
  readonly service?: string;
}

/**
 * How the kubelet asks whether the container is well; one of exec, httpGet, tcpSocket, grpc.
 */
export interface MiniClusterSpecServicesStartupProbe {
  /**
   * A command that ends with 0.
   */
  readonly exec?: MiniClusterSpecServicesStartupProbeExec;

  /**
   * A request that is answered with 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecServicesStartupProbeHttpGet;

  /**
   * A port that accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecServicesStartupProbeTcpSocket;

  /**
   * A gRPC health service that says SERVING.
   */
  readonly grpc?: MiniClusterSpecServicesStartupProbeGrpc;

  /**
   * Seconds before the first.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two.
   */
  readonly periodSeconds?: number;

  /**
   * Seconds it may take.
   */
  readonly timeoutSeconds?: number;

  /**
   * How many in a row make it well.
   */
  readonly successThreshold?: number;

  /**
   * How many in a row make it ill.
   */
  readonly failureThreshold?: number;

  /**
   * Seconds to end in when it is ill.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * A command that ends with 0.
 */
export interface MiniClusterSpecServicesStartupProbeExec {
  /**
   * The command and its arguments.
   */
  readonly command?: readonly string[];
}

/**
 * A request that is answered with 200 to 399.
 */
export interface MiniClusterSpecServicesStartupProbeHttpGet {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecServicesStartupProbeHttpGetHttpHeaders[];

  /**
   * Path; else /.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * HTTP or HTTPS.
   */
  readonly scheme?: MiniClusterSpecServicesStartupProbeHttpGetScheme;
}

export interface MiniClusterSpecServicesStartupProbeHttpGetHttpHeaders {
  /**
   * Name of the header.
   */
  readonly name: string;

  /**
   * Value of the header.
   */
  readonly value: string;
}

/**
 * HTTP or HTTPS.
 */
export type MiniClusterSpecServicesStartupProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * A port that accepts a connection.
 */
export interface MiniClusterSpecServicesStartupProbeTcpSocket {
  /**
   * Host; else the pod.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * A gRPC health service that says SERVING.
 */
export interface MiniClusterSpecServicesStartupProbeGrpc {
  /**
   * Its port.
   */
  readonly port: number;

  /**
   * Service asked for.
   */
  readonly service?: string;
}

/**
 * Requests, limits and claims of devices.
 */
export interface MiniClusterSpecServicesResources {
  /**
   * Quantities by resource.
   */
  readonly limits?: Readonly<Record<string, number | string>>;

  /**
   * Quantities by resource.
   */
  readonly requests?: Readonly<Record<string, number | string>>;

  /**
   * Names of pod.resourceClaims it uses.
   */
  readonly claims?: readonly MiniClusterSpecServicesResourcesClaims[];
}

export interface MiniClusterSpecServicesResourcesClaims {
  /**
   * Name in pod.resourceClaims.
   */
  readonly name: string;

  /**
   * One request of the claim; else all.
   */
  readonly request?: string;
}

/**
 * Security settings of the container, as in a pod.
 */
export interface MiniClusterSpecServicesSecurityContext {
  /**
   * Whether a process may gain more rights than its parent.
   */
  readonly allowPrivilegeEscalation?: boolean;

  /**
   * A security profile.
   */
  readonly appArmorProfile?: MiniClusterSpecServicesSecurityContextAppArmorProfile;

  /**
   * Capabilities of Linux.
   */
  readonly capabilities?: MiniClusterSpecServicesSecurityContextCapabilities;

  /**
   * Run as root on the node.
   */
  readonly privileged?: boolean;

  /**
   * Default or Unmasked.
   */
  readonly procMount?: string;

  /**
   * Nothing outside of volumes can be written.
   */
  readonly readOnlyRootFilesystem?: boolean;

  /**
   * Group id.
   */
  readonly runAsGroup?: number;

  /**
   * Refuse to start as root.
   */
  readonly runAsNonRoot?: boolean;

  /**
   * User id; else the image's.
   */
  readonly runAsUser?: number;

  /**
   * SELinux context.
   */
  readonly seLinuxOptions?: MiniClusterSpecServicesSecurityContextSeLinuxOptions;

  /**
   * A security profile.
   */
  readonly seccompProfile?: MiniClusterSpecServicesSecurityContextSeccompProfile;

  /**
   * For Windows; Flux does not run there.
   */
  readonly windowsOptions?: MiniClusterSpecServicesSecurityContextWindowsOptions;
}

/**
 * A security profile.
 */
export interface MiniClusterSpecServicesSecurityContextAppArmorProfile {
  /**
   * RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecServicesSecurityContextAppArmorProfileType;

  /**
   * The node's profile for Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecServicesSecurityContextAppArmorProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * Capabilities of Linux.
 */
export interface MiniClusterSpecServicesSecurityContextCapabilities {
  /**
   * Names of capabilities.
   */
  readonly add?: readonly string[];

  /**
   * Names of capabilities.
   */
  readonly drop?: readonly string[];
}

/**
 * SELinux context.
 */
export interface MiniClusterSpecServicesSecurityContextSeLinuxOptions {
  /**
   * Level.
   */
  readonly level?: string;

  /**
   * Role.
   */
  readonly role?: string;

  /**
   * Type.
   */
  readonly type?: string;

  /**
   * User.
   */
  readonly user?: string;
}

/**
 * A security profile.
 */
export interface MiniClusterSpecServicesSecurityContextSeccompProfile {
  /**
   * RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecServicesSecurityContextSeccompProfileType;

  /**
   * The node's profile for Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecServicesSecurityContextSeccompProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * For Windows; Flux does not run there.
 */
export interface MiniClusterSpecServicesSecurityContextWindowsOptions {
  /**
   * Credential spec.
   */
  readonly gmsaCredentialSpec?: string;

  /**
   * Name of the credential spec.
   */
  readonly gmsaCredentialSpecName?: string;

  /**
   * Run as a host process.
   */
  readonly hostProcess?: boolean;

  /**
   * User name.
   */
  readonly runAsUserName?: string;
}

/**
 * Blocks of shell around the command. They run in one shell with the entrypoint, so what they export the command sees.
 */
export interface MiniClusterSpecServicesCommands {
  /**
   * First of all, in every pod.
   */
  readonly init?: string;

  /**
   * Before the broker, in every pod.
   */
  readonly pre?: string;

  /**
   * Before the broker, in the lead pod.
   */
  readonly brokerPre?: string;

  /**
   * Before the broker, in the other pods.
   */
  readonly workerPre?: string;

  /**
   * After the broker, in every pod; the exit code stays the command's.
   */
  readonly post?: string;

  /**
   * In a sidecar, before it waits for Flux.
   */
  readonly servicePre?: string;

  /**
   * Words before what the lead starts, for example a tracer.
   */
  readonly prefix?: string;

  /**
   * A script that runs in place of a command; each task runs it, with FLUX_TASK_RANK to tell them apart.
   */
  readonly script?: string;
}

/**
 * Job, or StatefulSet for an interactive cluster that is there until it is deleted.
 */
export type MiniClusterSpecWorkload = 'Job' | 'StatefulSet';

/**
 * What the failure of a pod means; else an eviction does not count. Needs restartPolicy Never.
 */
export interface MiniClusterSpecPodFailurePolicy {
  /**
   * The first that fits decides.
   */
  readonly rules: readonly MiniClusterSpecPodFailurePolicyRules[];
}

export interface MiniClusterSpecPodFailurePolicyRules {
  /**
   * What follows.
   */
  readonly action: MiniClusterSpecPodFailurePolicyRulesAction;

  /**
   * Fits by exit code.
   */
  readonly onExitCodes?: MiniClusterSpecPodFailurePolicyRulesOnExitCodes;

  /**
   * Fits by a condition of the pod.
   */
  readonly onPodConditions?: readonly MiniClusterSpecPodFailurePolicyRulesOnPodConditions[];
}

/**
 * What follows.
 */
export type MiniClusterSpecPodFailurePolicyRulesAction = 'Count' | 'FailIndex' | 'FailJob' | 'Ignore';

/**
 * Fits by exit code.
 */
export interface MiniClusterSpecPodFailurePolicyRulesOnExitCodes {
  /**
   * The container; else any.
   */
  readonly containerName?: string;

  /**
   * In or NotIn.
   */
  readonly operator: MiniClusterSpecPodFailurePolicyRulesOnExitCodesOperator;

  /**
   * Exit codes.
   */
  readonly values: readonly number[];
}

/**
 * In or NotIn.
 */
export type MiniClusterSpecPodFailurePolicyRulesOnExitCodesOperator = 'In' | 'NotIn';

export interface MiniClusterSpecPodFailurePolicyRulesOnPodConditions {
  /**
   * For example DisruptionTarget.
   */
  readonly type: string;

  /**
   * Its status; else True.
   */
  readonly status?: string;
}

/**
 * Keeps the state of the Flux instance from one run to the next.
 */
export interface MiniClusterSpecArchive {
  /**
   * File on a volume of yours; loaded at the start if it is there, written at the end.
   */
  readonly path?: string;
}

/**
 * How brokers find each other.
 */
export interface MiniClusterSpecNetwork {
  /**
   * Name of the Service that gives pods their DNS names; else the name of the MiniCluster.
   */
  readonly headlessName?: string;

  /**
   * Leave out the preference for one zone and for different nodes.
   */
  readonly disableAffinity?: boolean;

  /**
   * DNS domain of the cluster.
   */
  readonly clusterDomain?: string;

  /**
   * Port of the brokers.
   */
  readonly port?: number;
}

/**
 * How much is said.
 */
export interface MiniClusterSpecLogging {
  /**
   * Only what the command prints.
   */
  readonly quiet?: boolean;

  /**
   * A failing line of commands.* ends the pod.
   */
  readonly strict?: boolean;

  /**
   * Submit with -vvv.
   */
  readonly debug?: boolean;

  /**
   * Log what the brokers' connections do.
   */
  readonly zeromq?: boolean;

  /**
   * Print how long the instance and the command took, as FLUXTIME lines.
   */
  readonly timed?: boolean;
}

/**
 * The Flux instance.
 */
export interface MiniClusterSpecFlux {
  /**
   * The init container that brings Flux to images without it.
   */
  readonly container?: MiniClusterSpecFluxContainer;

  /**
   * Architecture of the nodes it runs on, for example arm64.
   */
  readonly arch?: string;

  /**
   * What submits the command; else flux submit.
   */
  readonly submitCommand?: string;

  /**
   * More options for submitting, for example -ompi=openmpi@5.
   */
  readonly optionFlags?: string;

  /**
   * A command around the brokers, words separated by commas, for example strace,-f.
   */
  readonly wrap?: string;

  /**
   * How long a broker tries one connection before the next; an empty string leaves it to Flux.
   */
  readonly connectTimeout?: string;

  /**
   * Shape of the brokers' tree, for example binomial; else all connect to the lead.
   */
  readonly topology?: string;

  /**
   * What the brokers log, 0 to 7.
   */
  readonly logLevel?: number;

  /**
   * A Service with an address of its own for the lead only; the other pods have no DNS names.
   */
  readonly minimalService?: boolean;

  /**
   * Flux chooses the place of its socket.
   */
  readonly disableSocket?: boolean;

  /**
   * Sidecars don't wait for the brokers' socket.
   */
  readonly noWaitSocket?: boolean;

  /**
   * A worker whose broker ends is done.
   */
  readonly completeWorkers?: boolean;

  /**
   * The brokers' certificate as text. The runtime moves it into the Secret; better is curveCertSecret.
   */
  readonly curveCert?: string;

  /**
   * Name of a Secret of yours with the brokers' certificate under the key curve.cert; else NAME-curve, which the runtime makes.
   */
  readonly curveCertSecret?: string;

  /**
   * Name of a Secret with a munge key under the key munge.key.
   */
  readonly mungeSecret?: string;

  /**
   * The scheduler inside the instance.
   */
  readonly scheduler?: MiniClusterSpecFluxScheduler;

  /**
   * Cores that each broker offers; else the whole CPUs of the container's limit or request; else those of the node.
   */
  readonly cores?: number;

  /**
   * Flux pins tasks to cores; for nodes whose kubelet gives pods CPUs of their own (static CPU manager).
   */
  readonly cpuAffinity?: boolean;

  /**
   * Brokers in other clusters. All sides need the same certificate and the same order of hosts.
   */
  readonly bursting?: MiniClusterSpecFluxBursting;

  /**
   * The whole configuration of the brokers (TOML) in place of the generated one.
   */
  readonly brokerConfig?: string;

  /**
   * Variables in flux-view.sh, for shells that use Flux from outside.
   */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * The init container that brings Flux to images without it.
 */
export interface MiniClusterSpecFluxContainer {
  /**
   * The image of the container has Flux itself.
   */
  readonly disable?: boolean;

  /**
   * Image with a view of Flux, for the same operating system as the container's.
   */
  readonly image?: string;

  /**
   * Name of a Secret to pull the image with.
   */
  readonly imagePullSecret?: string;

  /**
   * Pull the image at every start.
   */
  readonly pullAlways?: boolean;

  /**
   * Name of the init container.
   */
  readonly name?: string;

  /**
   * Working directory of the init container.
   */
  readonly workingDir?: string;

  /**
   * Where Flux and its run-time files are, in every container.
   */
  readonly mountPath?: string;

  /**
   * PYTHONPATH for Flux; else the view's own.
   */
  readonly pythonPath?: string;

  /**
   * Requests, limits and claims of devices.
   */
  readonly resources?: MiniClusterSpecFluxContainerResources;

  /**
   * Security settings of the container, as in a pod.
   */
  readonly securityContext?: MiniClusterSpecFluxContainerSecurityContext;
}

/**
 * Requests, limits and claims of devices.
 */
export interface MiniClusterSpecFluxContainerResources {
  /**
   * Quantities by resource.
   */
  readonly limits?: Readonly<Record<string, number | string>>;

  /**
   * Quantities by resource.
   */
  readonly requests?: Readonly<Record<string, number | string>>;

  /**
   * Names of pod.resourceClaims it uses.
   */
  readonly claims?: readonly MiniClusterSpecFluxContainerResourcesClaims[];
}

export interface MiniClusterSpecFluxContainerResourcesClaims {
  /**
   * Name in pod.resourceClaims.
   */
  readonly name: string;

  /**
   * One request of the claim; else all.
   */
  readonly request?: string;
}

/**
 * Security settings of the container, as in a pod.
 */
export interface MiniClusterSpecFluxContainerSecurityContext {
  /**
   * Whether a process may gain more rights than its parent.
   */
  readonly allowPrivilegeEscalation?: boolean;

  /**
   * A security profile.
   */
  readonly appArmorProfile?: MiniClusterSpecFluxContainerSecurityContextAppArmorProfile;

  /**
   * Capabilities of Linux.
   */
  readonly capabilities?: MiniClusterSpecFluxContainerSecurityContextCapabilities;

  /**
   * Run as root on the node.
   */
  readonly privileged?: boolean;

  /**
   * Default or Unmasked.
   */
  readonly procMount?: string;

  /**
   * Nothing outside of volumes can be written.
   */
  readonly readOnlyRootFilesystem?: boolean;

  /**
   * Group id.
   */
  readonly runAsGroup?: number;

  /**
   * Refuse to start as root.
   */
  readonly runAsNonRoot?: boolean;

  /**
   * User id; else the image's.
   */
  readonly runAsUser?: number;

  /**
   * SELinux context.
   */
  readonly seLinuxOptions?: MiniClusterSpecFluxContainerSecurityContextSeLinuxOptions;

  /**
   * A security profile.
   */
  readonly seccompProfile?: MiniClusterSpecFluxContainerSecurityContextSeccompProfile;

  /**
   * For Windows; Flux does not run there.
   */
  readonly windowsOptions?: MiniClusterSpecFluxContainerSecurityContextWindowsOptions;
}

/**
 * A security profile.
 */
export interface MiniClusterSpecFluxContainerSecurityContextAppArmorProfile {
  /**
   * RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecFluxContainerSecurityContextAppArmorProfileType;

  /**
   * The node's profile for Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecFluxContainerSecurityContextAppArmorProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * Capabilities of Linux.
 */
export interface MiniClusterSpecFluxContainerSecurityContextCapabilities {
  /**
   * Names of capabilities.
   */
  readonly add?: readonly string[];

  /**
   * Names of capabilities.
   */
  readonly drop?: readonly string[];
}

/**
 * SELinux context.
 */
export interface MiniClusterSpecFluxContainerSecurityContextSeLinuxOptions {
  /**
   * Level.
   */
  readonly level?: string;

  /**
   * Role.
   */
  readonly role?: string;

  /**
   * Type.
   */
  readonly type?: string;

  /**
   * User.
   */
  readonly user?: string;
}

/**
 * A security profile.
 */
export interface MiniClusterSpecFluxContainerSecurityContextSeccompProfile {
  /**
   * RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecFluxContainerSecurityContextSeccompProfileType;

  /**
   * The node's profile for Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecFluxContainerSecurityContextSeccompProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * For Windows; Flux does not run there.
 */
export interface MiniClusterSpecFluxContainerSecurityContextWindowsOptions {
  /**
   * Credential spec.
   */
  readonly gmsaCredentialSpec?: string;

  /**
   * Name of the credential spec.
   */
  readonly gmsaCredentialSpecName?: string;

  /**
   * Run as a host process.
   */
  readonly hostProcess?: boolean;

  /**
   * User name.
   */
  readonly runAsUserName?: string;
}

/**
 * The scheduler inside the instance.
 */
export interface MiniClusterSpecFluxScheduler {
  /**
   * Flux's simple scheduler in place of Fluxion.
   */
  readonly simple?: boolean;

  /**
   * Policy of Fluxion's queue, for example easy; else fcfs.
   */
  readonly queuePolicy?: string;

  /**
   * Order in which Fluxion takes nodes, for example lonode; else its own.
   */
  readonly matchPolicy?: string;
}

/**
 * Brokers in other clusters. All sides need the same certificate and the same order of hosts.
 */
export interface MiniClusterSpecFluxBursting {
  /**
   * This cluster's brokers join the lead of another one.
   */
  readonly leadBroker?: MiniClusterSpecFluxBurstingLeadBroker;

  /**
   * All hosts of all clusters in the order of their ranks (RFC 29), when you know better.
   */
  readonly hostlist?: string;

  /**
   * Clusters that may join this one.
   */
  readonly clusters?: readonly MiniClusterSpecFluxBurstingClusters[];
}

/**
 * This cluster's brokers join the lead of another one.
 */
export interface MiniClusterSpecFluxBurstingLeadBroker {
  /**
   * Host name or address where that lead is reached.
   */
  readonly address: string;

  /**
   * Name of that MiniCluster.
   */
  readonly name: string;

  /**
   * Port where that lead is reached.
   */
  readonly port?: number;

  /**
   * Size (maxSize if it has one) of that MiniCluster.
   */
  readonly size: number;
}

export interface MiniClusterSpecFluxBurstingClusters {
  /**
   * Name of that MiniCluster; else burst-INDEX.
   */
  readonly name?: string;

  /**
   * Its size; else this one's.
   */
  readonly size?: number;
}

/**
 * The pods.
 */
export interface MiniClusterSpecPod {
  /**
   * Annotations.
   */
  readonly annotations?: Readonly<Record<string, string>>;

  /**
   * Labels.
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * Whether a failed container is started again in its pod; else Never with a command and OnFailure for an interactive cluster.
   */
  readonly restartPolicy?: MiniClusterSpecPodRestartPolicy;

  /**
   * ServiceAccount of the pods.
   */
  readonly serviceAccountName?: string;

  /**
   * Give the pods the token of their ServiceAccount.
   */
  readonly automountServiceAccountToken?: boolean;

  /**
   * The one switch for namespaces with Pod Security restricted. Any user but root (else 1000), no rights, a read-only root.
   */
  readonly restricted?: boolean;

  /**
   * RuntimeClass.
   */
  readonly runtimeClassName?: string;

  /**
   * Scheduler of the pods.
   */
  readonly schedulerName?: string;

  /**
   * PriorityClass.
   */
  readonly priorityClassName?: string;

  /**
   * Labels a node must have.
   */
  readonly nodeSelector?: Readonly<Record<string, string>>;

  /**
   * Labels of which a node must have one of the values.
   */
  readonly nodeAffinity?: Readonly<Record<string, readonly string[]>>;

  /**
   * Taints it tolerates.
   */
  readonly tolerations?: readonly MiniClusterSpecPodTolerations[];

  /**
   * How evenly the pods spread over zones, racks or nodes; the pods of this cluster are counted.
   */
  readonly topologySpread?: readonly MiniClusterSpecPodTopologySpread[];

  /**
   * DNS policy; else ClusterFirst, with hostNetwork ClusterFirstWithHostNet.
   */
  readonly dnsPolicy?: MiniClusterSpecPodDnsPolicy;

  /**
   * Use the network of the node, one pod per node.
   */
  readonly hostNetwork?: boolean;

  /**
   * Use the IPC namespace of the node.
   */
  readonly hostIPC?: boolean;

  /**
   * See the processes of the node.
   */
  readonly hostPID?: boolean;

  /**
   * Seconds the brokers have to end in; else 30, with an archive 120.
   */
  readonly terminationGracePeriodSeconds?: number;

  /**
   * Quantities by resource.
   */
  readonly resources?: Readonly<Record<string, number | string>>;

  /**
   * Devices of the pod (Dynamic Resource Allocation); containers name those they use in resources.claims.
   */
  readonly resourceClaims?: readonly MiniClusterSpecPodResourceClaims[];

  /**
   * Security settings of the pods, all of them.
   */
  readonly securityContext?: MiniClusterSpecPodSecurityContext;
}

/**
 * Whether a failed container is started again in its pod; else Never with a command and OnFailure for an interactive cluster.
 */
export type MiniClusterSpecPodRestartPolicy = 'Never' | 'OnFailure';

export interface MiniClusterSpecPodTolerations {
  /**
   * Key of the taint.
   */
  readonly key?: string;

  /**
   * Equal or Exists.
   */
  readonly operator?: string;

  /**
   * Value of the taint.
   */
  readonly value?: string;

  /**
   * NoSchedule, PreferNoSchedule or NoExecute.
   */
  readonly effect?: string;

  /**
   * How long a NoExecute taint is tolerated.
   */
  readonly tolerationSeconds?: number;
}

export interface MiniClusterSpecPodTopologySpread {
  /**
   * Label of nodes whose values are the groups.
   */
  readonly topologyKey: string;

  /**
   * The largest difference between two groups.
   */
  readonly maxSkew?: number;

  /**
   * DoNotSchedule or ScheduleAnyway.
   */
  readonly whenUnsatisfiable?: MiniClusterSpecPodTopologySpreadWhenUnsatisfiable;

  /**
   * How many groups there must be.
   */
  readonly minDomains?: number;
}

/**
 * DoNotSchedule or ScheduleAnyway.
 */
export type MiniClusterSpecPodTopologySpreadWhenUnsatisfiable = 'DoNotSchedule' | 'ScheduleAnyway';

/**
 * DNS policy; else ClusterFirst, with hostNetwork ClusterFirstWithHostNet.
 */
export type MiniClusterSpecPodDnsPolicy = 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';

export interface MiniClusterSpecPodResourceClaims {
  /**
   * Name within the pod.
   */
  readonly name: string;

  /**
   * An existing ResourceClaim, shared by all pods.
   */
  readonly resourceClaimName?: string;

  /**
   * A template; each pod gets a claim of its own.
   */
  readonly resourceClaimTemplateName?: string;
}

/**
 * Security settings of the pods, all of them.
 */
export interface MiniClusterSpecPodSecurityContext {
  /**
   * A security profile.
   */
  readonly appArmorProfile?: MiniClusterSpecPodSecurityContextAppArmorProfile;

  /**
   * Group that volumes are given to.
   */
  readonly fsGroup?: number;

  /**
   * Always or OnRootMismatch.
   */
  readonly fsGroupChangePolicy?: string;

  /**
   * Group id.
   */
  readonly runAsGroup?: number;

  /**
   * Refuse to start as root.
   */
  readonly runAsNonRoot?: boolean;

  /**
   * User id; else the image's.
   */
  readonly runAsUser?: number;

  /**
   * How volumes are relabelled.
   */
  readonly seLinuxChangePolicy?: string;

  /**
   * SELinux context.
   */
  readonly seLinuxOptions?: MiniClusterSpecPodSecurityContextSeLinuxOptions;

  /**
   * A security profile.
   */
  readonly seccompProfile?: MiniClusterSpecPodSecurityContextSeccompProfile;

  /**
   * More group ids.
   */
  readonly supplementalGroups?: readonly number[];

  /**
   * Merge or Strict.
   */
  readonly supplementalGroupsPolicy?: string;

  /**
   * Settings of the kernel.
   */
  readonly sysctls?: readonly MiniClusterSpecPodSecurityContextSysctls[];

  /**
   * For Windows; Flux does not run there.
   */
  readonly windowsOptions?: MiniClusterSpecPodSecurityContextWindowsOptions;
}

/**
 * A security profile.
 */
export interface MiniClusterSpecPodSecurityContextAppArmorProfile {
  /**
   * RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecPodSecurityContextAppArmorProfileType;

  /**
   * The node's profile for Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecPodSecurityContextAppArmorProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * SELinux context.
 */
export interface MiniClusterSpecPodSecurityContextSeLinuxOptions {
  /**
   * Level.
   */
  readonly level?: string;

  /**
   * Role.
   */
  readonly role?: string;

  /**
   * Type.
   */
  readonly type?: string;

  /**
   * User.
   */
  readonly user?: string;
}

/**
 * A security profile.
 */
export interface MiniClusterSpecPodSecurityContextSeccompProfile {
  /**
   * RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecPodSecurityContextSeccompProfileType;

  /**
   * The node's profile for Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecPodSecurityContextSeccompProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

export interface MiniClusterSpecPodSecurityContextSysctls {
  /**
   * Name.
   */
  readonly name: string;

  /**
   * Value.
   */
  readonly value: string;
}

/**
 * For Windows; Flux does not run there.
 */
export interface MiniClusterSpecPodSecurityContextWindowsOptions {
  /**
   * Credential spec.
   */
  readonly gmsaCredentialSpec?: string;

  /**
   * Name of the credential spec.
   */
  readonly gmsaCredentialSpecName?: string;

  /**
   * Run as a host process.
   */
  readonly hostProcess?: boolean;

  /**
   * User name.
   */
  readonly runAsUserName?: string;
}
