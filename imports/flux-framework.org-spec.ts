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
   * Which workloads are tried first behind the promised starts of easy and hybrid. submission: those that come first in line. shortestArea: those that ask for the smallest part of the cluster times their walltime.
   */
  readonly backfillOrder?: FluxSetupSpecBackfillOrder;

  /**
   * Time in the queue after which a workload is tried in the order of the line again, whatever its area; backfillOrder shortestArea only, 168h by default.
   */
  readonly backfillMaxWait?: string;

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
   * Whether workloads of the namespace may name the stack's own queue, which has other limits than the FluxSetups of the namespace.
   */
  readonly allowStackQueue?: boolean;

  /**
   * Priority points that a workload gains for each hour in the queue, up to the maximum age of the stack, in addition to what priorityWeights gives for its age.
   */
  readonly agingPerHour?: number;

  /**
   * What the factors of the order are worth in priority points, which are added to the priority of a workload. Factors without a value have the weight of the stack.
   */
  readonly priorityWeights?: FluxSetupSpecPriorityWeights;

  /**
   * Maximum amounts that all workloads of the queue hold together. Resources without a value are not limited; in a cohort where another queue has a quota of them, the queue owns none and can borrow them.
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
   * Maximum amounts of its unused quota that the queue lends to its cohort. Resources without a value are lent as a whole. A resource that the queue has no quota of cannot be lent.
   */
  readonly lendingLimit?: FluxSetupSpecLendingLimit;

  /**
   * Whether the queue reclaims its own quota from borrowers: as few of their workloads as needed, those of the lowest priority and of these the youngest, are evicted and requeued.
   */
  readonly reclaim?: boolean;

  /**
   * Maximum numbers of workloads of the whole queue and of each of its users.
   */
  readonly limits?: FluxSetupSpecLimits;

  /**
   * Share relative to other queues: of the cluster, where fair share is enabled for the stack, and of what queues borrow from their cohort, with preemption.fairSharing.
   */
  readonly weight?: number;

  /**
   * What the resources count in fair share: the usage of a workload is the sum of its resources, each multiplied by its weight.
   */
  readonly billingWeights?: FluxSetupSpecBillingWeights;

  /**
   * Preemption by workloads of the queue, and the protection of its own workloads from it.
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
 * Which workloads are tried first behind the promised starts of easy and hybrid. submission: those that come first in line. shortestArea: those that ask for the smallest part of the cluster times their walltime.
 */
export type FluxSetupSpecBackfillOrder = 'submission' | 'shortestArea';

/**
 * Walltimes of the workloads of the queue.
 */
export interface FluxSetupSpecWalltime {
  /**
   * Walltime of workloads that request none, for example `1h30m`, `2d` or `1-12:00:00`.
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
 * What the factors of the order are worth in priority points, which are added to the priority of a workload. Factors without a value have the weight of the stack.
 */
export interface FluxSetupSpecPriorityWeights {
  /**
   * Points of a workload that has waited for the maximum age of the stack, and in proportion before.
   */
  readonly age?: number;

  /**
   * Points of a queue and a user that have used nothing, and fewer the more they have used; with fairShare of the stack.
   */
  readonly fairShare?: number;

  /**
   * Points of a workload that asks for the whole cluster, and in proportion of others; below 0 small workloads come first.
   */
  readonly size?: number;

  /**
   * Points of every workload of the queue; 0 by default.
   */
  readonly queue?: number;
}

/**
 * Maximum amounts that all workloads of the queue hold together. Resources without a value are not limited; in a cohort where another queue has a quota of them, the queue owns none and can borrow them.
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
   * Maximum number of GPUs of any vendor: resources like nvidia.com/gpu, whose names end in /gpu.
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
   * Maximum number of GPUs of any vendor: resources like nvidia.com/gpu, whose names end in /gpu.
   */
  readonly gpus?: number;

  /**
   * Maximum number of different nodes.
   */
  readonly nodes?: number;
}

/**
 * Maximum amounts of its unused quota that the queue lends to its cohort. Resources without a value are lent as a whole. A resource that the queue has no quota of cannot be lent.
 */
export interface FluxSetupSpecLendingLimit {
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
   * Maximum number of GPUs of any vendor: resources like nvidia.com/gpu, whose names end in /gpu.
   */
  readonly gpus?: number;
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
 * What the resources count in fair share: the usage of a workload is the sum of its resources, each multiplied by its weight.
 */
export interface FluxSetupSpecBillingWeights {
  /**
   * Weight of one core.
   */
  readonly cores?: number;

  /**
   * Weight of one GiB of memory.
   */
  readonly memory?: number;

  /**
   * Weight of one GPU of any vendor.
   */
  readonly gpus?: number;
}

/**
 * Preemption by workloads of the queue, and the protection of its own workloads from it.
 */
export interface FluxSetupSpecPreemption {
  /**
   * LowerPriority: workloads of the queue can preempt workloads of any queue that have `fluxqueue/preemptible: "true"` and a lower priority; the preempted workloads are requeued. Never: they wait.
   */
  readonly policy?: FluxSetupSpecPreemptionPolicy;

  /**
   * Whether workloads of the queue that lack quota of their cohort can evict workloads of queues that have borrowed a larger share of it; the evicted workloads are requeued. LessThanOrEqualToFinalShare: if the share of the queue is then at most what remains of that of the other one. LessThanInitialShare: else also if it is then smaller than that of the other one was. Never: they wait.
   */
  readonly fairSharing?: FluxSetupSpecPreemptionFairSharing;

  /**
   * Time for which a workload of this queue runs before others can preempt it; `0s` is no protection.
   */
  readonly minRuntime?: string;

  /**
   * How often others can preempt one workload of this queue; after that it keeps its nodes.
   */
  readonly limit?: number;
}

/**
 * LowerPriority: workloads of the queue can preempt workloads of any queue that have `fluxqueue/preemptible: "true"` and a lower priority; the preempted workloads are requeued. Never: they wait.
 */
export type FluxSetupSpecPreemptionPolicy = 'Never' | 'LowerPriority';

/**
 * Whether workloads of the queue that lack quota of their cohort can evict workloads of queues that have borrowed a larger share of it; the evicted workloads are requeued. LessThanOrEqualToFinalShare: if the share of the queue is then at most what remains of that of the other one. LessThanInitialShare: else also if it is then smaller than that of the other one was. Never: they wait.
 */
export type FluxSetupSpecPreemptionFairSharing = 'Never' | 'LessThanOrEqualToFinalShare' | 'LessThanInitialShare';

/**
 * Automatic requeue of workloads that lost their nodes.
 */
export interface FluxSetupSpecRequeue {
  /**
   * Number of automatic requeues of a workload that fails for causes of its own; after that it is tried once an hour.
   */
  readonly limit?: number;

  /**
   * Delay before the first requeue starts again; it doubles with each further one, up to an hour.
   */
  readonly backoff?: string;
}

/**
 * Desired state of the MiniCluster.
 */
export interface MiniClusterSpec {
  /**
   * Containers of each pod. The container with runFlux, or the only container, runs the broker. The others are its sidecars, which start before it and end with it.
   */
  readonly containers: readonly MiniClusterSpecContainers[];

  /**
   * Containers of one additional pod, for example a database or a registry, with the Services NAME-services and NAME-CONTAINER.
   */
  readonly services?: readonly MiniClusterSpecServices[];

  /**
   * Number of pods, each with one broker. It can change while the MiniCluster runs, up to maxSize.
   */
  readonly size?: number;

  /**
   * Number of brokers that must be online before the command starts; size by default.
   */
  readonly minSize?: number;

  /**
   * Maximum number of pods to which the MiniCluster can be scaled; size by default.
   */
  readonly maxSize?: number;

  /**
   * Number of tasks of the submitted job; 0 is the default of Flux, one task per node.
   */
  readonly tasks?: number;

  /**
   * Kind of the workload. Job, or StatefulSet for an interactive cluster that runs until it is deleted.
   */
  readonly workload?: MiniClusterSpecWorkload;

  /**
   * Whether the brokers run until the MiniCluster is deleted. A command runs beside them, each time the lead broker starts.
   */
  readonly interactive?: boolean;

  /**
   * Whether the Job is created without starting; a queue holds it until this is false.
   */
  readonly suspend?: boolean;

  /**
   * Name of the queue; the queue of the namespace by default.
   */
  readonly queue?: string;

  /**
   * Priority in the queue; a higher priority starts first.
   */
  readonly priority?: number;

  /**
   * Walltime, for example 1h30m, 2d or 1-12:00:00; the queue plans with it, and the Job ends after it.
   */
  readonly walltime?: string;

  /**
   * Whether the queue allocates whole nodes.
   */
  readonly exclusive?: boolean;

  /**
   * Seconds after which the Job ends, also when its brokers do not connect; its walltime by default.
   */
  readonly deadlineSeconds?: number;

  /**
   * Number of failed pods that are replaced; 0 with a command and 100 for an interactive cluster by default.
   */
  readonly backoffLimit?: number;

  /**
   * Seconds after its end in which the Job is deleted with its pods.
   */
  readonly ttlSecondsAfterFinished?: number;

  /**
   * Effect of the failure of a pod; by default an eviction does not count. It requires restartPolicy Never.
   */
  readonly podFailurePolicy?: MiniClusterSpecPodFailurePolicy;

  /**
   * Whether the MiniCluster is deleted when it is finished.
   */
  readonly cleanup?: boolean;

  /**
   * Labels of the Job.
   */
  readonly jobLabels?: Readonly<Record<string, string>>;

  /**
   * Whether the containers of a pod share a process namespace.
   */
  readonly shareProcessNamespace?: boolean;

  /**
   * Archive with the state of the Flux instance, which a later run restores.
   */
  readonly archive?: MiniClusterSpecArchive;

  /**
   * Network of the brokers.
   */
  readonly network?: MiniClusterSpecNetwork;

  /**
   * Output of the entrypoint.
   */
  readonly logging?: MiniClusterSpecLogging;

  /**
   * Settings of the Flux instance.
   */
  readonly flux?: MiniClusterSpecFlux;

  /**
   * Settings of the pods.
   */
  readonly pod?: MiniClusterSpecPod;
}

export interface MiniClusterSpecContainers {
  /**
   * Image of the container.
   */
  readonly image?: string;

  /**
   * Name of the Secret with the credentials for the image.
   */
  readonly imagePullSecret?: string;

  /**
   * Name of the container; required except for the container with runFlux, whose default is the name of the MiniCluster.
   */
  readonly name?: string;

  /**
   * Working directory of the container and of its jobs.
   */
  readonly workingDir?: string;

  /**
   * Command of the container. In the container with Flux it is submitted as one job (see tasks) unless launcher or batch is set; without a command the cluster is interactive. Plain words are arguments; a command with shell syntax ($, |, &&, quotes) runs in a shell.
   */
  readonly command?: string;

  /**
   * Whether the image is pulled at every start.
   */
  readonly pullAlways?: boolean;

  /**
   * Pull policy of the image without pullAlways; IfNotPresent by default.
   */
  readonly imagePullPolicy?: MiniClusterSpecContainersImagePullPolicy;

  /**
   * Ports of the container. The ports of a sidecar or service get a Service NAME-CONTAINER.
   */
  readonly ports?: readonly number[];

  /**
   * Environment variables and their values.
   */
  readonly environment?: Readonly<Record<string, string>>;

  /**
   * Environment variables with values from Secrets.
   */
  readonly secrets?: Readonly<Record<string, MiniClusterSpecContainersSecrets>>;

  /**
   * Environment variables as in a pod, for values of fields, ConfigMaps and Secrets; they take precedence over environment and secrets.
   */
  readonly env?: readonly MiniClusterSpecContainersEnv[];

  /**
   * ConfigMaps and Secrets whose keys all become environment variables.
   */
  readonly envFrom?: readonly MiniClusterSpecContainersEnvFrom[];

  /**
   * Whether the command submits its own jobs, as workflow tools do; it runs once, next to the lead broker.
   */
  readonly launcher?: boolean;

  /**
   * Whether each line of the command is a job of one batch job.
   */
  readonly batch?: boolean;

  /**
   * Whether the command is the batch script itself, with batch.
   */
  readonly batchRaw?: boolean;

  /**
   * Directory for the output of batch jobs; /tmp/fluxout by default.
   */
  readonly logs?: string;

  /**
   * Whether the container runs the broker; exactly one container has it.
   */
  readonly runFlux?: boolean;

  /**
   * Whether a sidecar starts with the entrypoint of its image; command and commands are not used.
   */
  readonly noWrapEntrypoint?: boolean;

  /**
   * Name of the Service of its ports; NAME-CONTAINER by default.
   */
  readonly serviceName?: string;

  /**
   * Volumes by name. A name refers to the same volume in all containers of the pod, and each container mounts the volumes that it lists. A volume without a source is an empty directory.
   */
  readonly volumes?: Readonly<Record<string, MiniClusterSpecContainersVolumes>>;

  /**
   * Shell commands after the start and before the end of the container.
   */
  readonly lifeCycle?: MiniClusterSpecContainersLifeCycle;

  /**
   * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
   */
  readonly livenessProbe?: MiniClusterSpecContainersLivenessProbe;

  /**
   * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
   */
  readonly readinessProbe?: MiniClusterSpecContainersReadinessProbe;

  /**
   * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
   */
  readonly startupProbe?: MiniClusterSpecContainersStartupProbe;

  /**
   * Requests, limits and claims of devices.
   */
  readonly resources?: MiniClusterSpecContainersResources;

  /**
   * Security context of the container, as in a pod.
   */
  readonly securityContext?: MiniClusterSpecContainersSecurityContext;

  /**
   * Shell scripts before and after the command. They run in the shell of the entrypoint, so the command sees their exported variables.
   */
  readonly commands?: MiniClusterSpecContainersCommands;
}

/**
 * Pull policy of the image without pullAlways; IfNotPresent by default.
 */
export type MiniClusterSpecContainersImagePullPolicy = 'Always' | 'IfNotPresent' | 'Never';

export interface MiniClusterSpecContainersSecrets {
  /**
   * Name of the Secret.
   */
  readonly name: string;

  /**
   * Key of the Secret.
   */
  readonly key: string;
}

export interface MiniClusterSpecContainersEnv {
  /**
   * Name of the variable.
   */
  readonly name: string;

  /**
   * Value of the variable.
   */
  readonly value?: string;

  /**
   * Source of the value.
   */
  readonly valueFrom?: MiniClusterSpecContainersEnvValueFrom;
}

/**
 * Source of the value.
 */
export interface MiniClusterSpecContainersEnvValueFrom {
  /**
   * Value of a field of the pod.
   */
  readonly fieldRef?: MiniClusterSpecContainersEnvValueFromFieldRef;

  /**
   * Value of a resource of a container.
   */
  readonly resourceFieldRef?: MiniClusterSpecContainersEnvValueFromResourceFieldRef;

  /**
   * Value of a key of a ConfigMap or Secret.
   */
  readonly configMapKeyRef?: MiniClusterSpecContainersEnvValueFromConfigMapKeyRef;

  /**
   * Value of a key of a ConfigMap or Secret.
   */
  readonly secretKeyRef?: MiniClusterSpecContainersEnvValueFromSecretKeyRef;
}

/**
 * Value of a field of the pod.
 */
export interface MiniClusterSpecContainersEnvValueFromFieldRef {
  /**
   * API version of the path; v1 by default.
   */
  readonly apiVersion?: string;

  /**
   * Path of the field, for example status.hostIP.
   */
  readonly fieldPath: string;
}

/**
 * Value of a resource of a container.
 */
export interface MiniClusterSpecContainersEnvValueFromResourceFieldRef {
  /**
   * Name of the container; this container by default.
   */
  readonly containerName?: string;

  /**
   * Name of the resource, for example limits.memory.
   */
  readonly resource: string;

  /**
   * A Kubernetes quantity, for example 4, 500m or 16Gi.
   */
  readonly divisor?: number | string;
}

/**
 * Value of a key of a ConfigMap or Secret.
 */
export interface MiniClusterSpecContainersEnvValueFromConfigMapKeyRef {
  /**
   * Name of the object.
   */
  readonly name: string;

  /**
   * Key of the object.
   */
  readonly key: string;

  /**
   * Whether the object may be missing.
   */
  readonly optional?: boolean;
}

/**
 * Value of a key of a ConfigMap or Secret.
 */
export interface MiniClusterSpecContainersEnvValueFromSecretKeyRef {
  /**
   * Name of the object.
   */
  readonly name: string;

  /**
   * Key of the object.
   */
  readonly key: string;

  /**
   * Whether the object may be missing.
   */
  readonly optional?: boolean;
}

export interface MiniClusterSpecContainersEnvFrom {
  /**
   * Prefix of the names of the variables.
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
   * Name of the object.
   */
  readonly name: string;

  /**
   * Whether the object may be missing.
   */
  readonly optional?: boolean;
}

/**
 * The ConfigMap or Secret.
 */
export interface MiniClusterSpecContainersEnvFromSecretRef {
  /**
   * Name of the object.
   */
  readonly name: string;

  /**
   * Whether the object may be missing.
   */
  readonly optional?: boolean;
}

export interface MiniClusterSpecContainersVolumes {
  /**
   * Mount path; /dev/shm by default for an emptyDir.
   */
  readonly path?: string;

  /**
   * Whether the volume is mounted read-only.
   */
  readonly readOnly?: boolean;

  /**
   * Path in the volume that is mounted instead of its root.
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
   * Keys of the ConfigMap or Secret and their paths; all keys under their names by default.
   */
  readonly items?: Readonly<Record<string, string>>;

  /**
   * Mode of the files of a ConfigMap or Secret, as a decimal number (256 is 0400).
   */
  readonly defaultMode?: number;

  /**
   * Path of a directory of the node.
   */
  readonly hostPath?: string;

  /**
   * Type of hostPath; Directory by default.
   */
  readonly hostPathType?: MiniClusterSpecContainersVolumesHostPathType;

  /**
   * Whether the volume is an empty directory.
   */
  readonly emptyDir?: boolean;

  /**
   * Medium of the empty directory; memory for a directory in memory.
   */
  readonly emptyDirMedium?: MiniClusterSpecContainersVolumesEmptyDirMedium;

  /**
   * A Kubernetes quantity, for example 4, 500m or 16Gi.
   */
  readonly emptyDirSizeLimit?: number | string;

  /**
   * Name of a CSI driver with inline volumes.
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
   * Name of the Secret that the CSI driver uses to mount the volume.
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
 * Type of hostPath; Directory by default.
 */
export type MiniClusterSpecContainersVolumesHostPathType = '' | 'DirectoryOrCreate' | 'Directory' | 'FileOrCreate' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice';

/**
 * Medium of the empty directory; memory for a directory in memory.
 */
export type MiniClusterSpecContainersVolumesEmptyDirMedium = '' | 'memory' | 'Memory';

/**
 * Shell commands after the start and before the end of the container.
 */
export interface MiniClusterSpecContainersLifeCycle {
  /**
   * Command that runs after the start of the container.
   */
  readonly postStartExec?: string;

  /**
   * Command that runs before the container gets the signal to end.
   */
  readonly preStopExec?: string;
}

/**
 * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
 */
export interface MiniClusterSpecContainersLivenessProbe {
  /**
   * Succeeds when a command exits with code 0.
   */
  readonly exec?: MiniClusterSpecContainersLivenessProbeExec;

  /**
   * Succeeds when a request is answered with a status from 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecContainersLivenessProbeHttpGet;

  /**
   * Succeeds when a port accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecContainersLivenessProbeTcpSocket;

  /**
   * Succeeds when a gRPC health service answers SERVING.
   */
  readonly grpc?: MiniClusterSpecContainersLivenessProbeGrpc;

  /**
   * Seconds before the first probe.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two probes.
   */
  readonly periodSeconds?: number;

  /**
   * Timeout of a probe in seconds.
   */
  readonly timeoutSeconds?: number;

  /**
   * Number of consecutive successes after which the probe succeeds.
   */
  readonly successThreshold?: number;

  /**
   * Number of consecutive failures after which the probe fails.
   */
  readonly failureThreshold?: number;

  /**
   * Grace period in seconds for a container whose probe fails.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * Succeeds when a command exits with code 0.
 */
export interface MiniClusterSpecContainersLivenessProbeExec {
  /**
   * Command and arguments.
   */
  readonly command?: readonly string[];
}

/**
 * Succeeds when a request is answered with a status from 200 to 399.
 */
export interface MiniClusterSpecContainersLivenessProbeHttpGet {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * HTTP headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecContainersLivenessProbeHttpGetHttpHeaders[];

  /**
   * Path of the request; / by default.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * Scheme of the request, HTTP or HTTPS.
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
 * Scheme of the request, HTTP or HTTPS.
 */
export type MiniClusterSpecContainersLivenessProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * Succeeds when a port accepts a connection.
 */
export interface MiniClusterSpecContainersLivenessProbeTcpSocket {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * Succeeds when a gRPC health service answers SERVING.
 */
export interface MiniClusterSpecContainersLivenessProbeGrpc {
  /**
   * Port of the service.
   */
  readonly port: number;

  /**
   * Name of the service in the request.
   */
  readonly service?: string;
}

/**
 * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
 */
export interface MiniClusterSpecContainersReadinessProbe {
  /**
   * Succeeds when a command exits with code 0.
   */
  readonly exec?: MiniClusterSpecContainersReadinessProbeExec;

  /**
   * Succeeds when a request is answered with a status from 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecContainersReadinessProbeHttpGet;

  /**
   * Succeeds when a port accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecContainersReadinessProbeTcpSocket;

  /**
   * Succeeds when a gRPC health service answers SERVING.
   */
  readonly grpc?: MiniClusterSpecContainersReadinessProbeGrpc;

  /**
   * Seconds before the first probe.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two probes.
   */
  readonly periodSeconds?: number;

  /**
   * Timeout of a probe in seconds.
   */
  readonly timeoutSeconds?: number;

  /**
   * Number of consecutive successes after which the probe succeeds.
   */
  readonly successThreshold?: number;

  /**
   * Number of consecutive failures after which the probe fails.
   */
  readonly failureThreshold?: number;

  /**
   * Grace period in seconds for a container whose probe fails.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * Succeeds when a command exits with code 0.
 */
export interface MiniClusterSpecContainersReadinessProbeExec {
  /**
   * Command and arguments.
   */
  readonly command?: readonly string[];
}

/**
 * Succeeds when a request is answered with a status from 200 to 399.
 */
export interface MiniClusterSpecContainersReadinessProbeHttpGet {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * HTTP headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecContainersReadinessProbeHttpGetHttpHeaders[];

  /**
   * Path of the request; / by default.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * Scheme of the request, HTTP or HTTPS.
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
 * Scheme of the request, HTTP or HTTPS.
 */
export type MiniClusterSpecContainersReadinessProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * Succeeds when a port accepts a connection.
 */
export interface MiniClusterSpecContainersReadinessProbeTcpSocket {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * Succeeds when a gRPC health service answers SERVING.
 */
export interface MiniClusterSpecContainersReadinessProbeGrpc {
  /**
   * Port of the service.
   */
  readonly port: number;

  /**
   * Name of the service in the request.
   */
  readonly service?: string;
}

/**
 * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
 */
export interface MiniClusterSpecContainersStartupProbe {
  /**
   * Succeeds when a command exits with code 0.
   */
  readonly exec?: MiniClusterSpecContainersStartupProbeExec;

  /**
   * Succeeds when a request is answered with a status from 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecContainersStartupProbeHttpGet;

  /**
   * Succeeds when a port accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecContainersStartupProbeTcpSocket;

  /**
   * Succeeds when a gRPC health service answers SERVING.
   */
  readonly grpc?: MiniClusterSpecContainersStartupProbeGrpc;

  /**
   * Seconds before the first probe.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two probes.
   */
  readonly periodSeconds?: number;

  /**
   * Timeout of a probe in seconds.
   */
  readonly timeoutSeconds?: number;

  /**
   * Number of consecutive successes after which the probe succeeds.
   */
  readonly successThreshold?: number;

  /**
   * Number of consecutive failures after which the probe fails.
   */
  readonly failureThreshold?: number;

  /**
   * Grace period in seconds for a container whose probe fails.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * Succeeds when a command exits with code 0.
 */
export interface MiniClusterSpecContainersStartupProbeExec {
  /**
   * Command and arguments.
   */
  readonly command?: readonly string[];
}

/**
 * Succeeds when a request is answered with a status from 200 to 399.
 */
export interface MiniClusterSpecContainersStartupProbeHttpGet {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * HTTP headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecContainersStartupProbeHttpGetHttpHeaders[];

  /**
   * Path of the request; / by default.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * Scheme of the request, HTTP or HTTPS.
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
 * Scheme of the request, HTTP or HTTPS.
 */
export type MiniClusterSpecContainersStartupProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * Succeeds when a port accepts a connection.
 */
export interface MiniClusterSpecContainersStartupProbeTcpSocket {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * Succeeds when a gRPC health service answers SERVING.
 */
export interface MiniClusterSpecContainersStartupProbeGrpc {
  /**
   * Port of the service.
   */
  readonly port: number;

  /**
   * Name of the service in the request.
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
   * Entries of pod.resourceClaims that the container uses.
   */
  readonly claims?: readonly MiniClusterSpecContainersResourcesClaims[];
}

export interface MiniClusterSpecContainersResourcesClaims {
  /**
   * Name of an entry of pod.resourceClaims.
   */
  readonly name: string;

  /**
   * Name of one request of the claim; all requests by default.
   */
  readonly request?: string;
}

/**
 * Security context of the container, as in a pod.
 */
export interface MiniClusterSpecContainersSecurityContext {
  /**
   * Whether a process can gain more privileges than its parent.
   */
  readonly allowPrivilegeEscalation?: boolean;

  /**
   * Security profile.
   */
  readonly appArmorProfile?: MiniClusterSpecContainersSecurityContextAppArmorProfile;

  /**
   * Linux capabilities.
   */
  readonly capabilities?: MiniClusterSpecContainersSecurityContextCapabilities;

  /**
   * Whether the container is privileged.
   */
  readonly privileged?: boolean;

  /**
   * Type of the proc mount, Default or Unmasked.
   */
  readonly procMount?: string;

  /**
   * Whether the root file system is read-only.
   */
  readonly readOnlyRootFilesystem?: boolean;

  /**
   * Group id of the processes.
   */
  readonly runAsGroup?: number;

  /**
   * Whether the kubelet rejects the user root.
   */
  readonly runAsNonRoot?: boolean;

  /**
   * User id of the processes; the user of the image by default.
   */
  readonly runAsUser?: number;

  /**
   * SELinux context.
   */
  readonly seLinuxOptions?: MiniClusterSpecContainersSecurityContextSeLinuxOptions;

  /**
   * Security profile.
   */
  readonly seccompProfile?: MiniClusterSpecContainersSecurityContextSeccompProfile;

  /**
   * Settings for Windows, on which Flux does not run.
   */
  readonly windowsOptions?: MiniClusterSpecContainersSecurityContextWindowsOptions;
}

/**
 * Security profile.
 */
export interface MiniClusterSpecContainersSecurityContextAppArmorProfile {
  /**
   * Type of the profile, RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecContainersSecurityContextAppArmorProfileType;

  /**
   * Path of the profile on the node, for type Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * Type of the profile, RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecContainersSecurityContextAppArmorProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * Linux capabilities.
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
   * SELinux level.
   */
  readonly level?: string;

  /**
   * SELinux role.
   */
  readonly role?: string;

  /**
   * SELinux type.
   */
  readonly type?: string;

  /**
   * SELinux user.
   */
  readonly user?: string;
}

/**
 * Security profile.
 */
export interface MiniClusterSpecContainersSecurityContextSeccompProfile {
  /**
   * Type of the profile, RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecContainersSecurityContextSeccompProfileType;

  /**
   * Path of the profile on the node, for type Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * Type of the profile, RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecContainersSecurityContextSeccompProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * Settings for Windows, on which Flux does not run.
 */
export interface MiniClusterSpecContainersSecurityContextWindowsOptions {
  /**
   * GMSA credential spec.
   */
  readonly gmsaCredentialSpec?: string;

  /**
   * Name of the GMSA credential spec.
   */
  readonly gmsaCredentialSpecName?: string;

  /**
   * Whether it is a host process.
   */
  readonly hostProcess?: boolean;

  /**
   * User name.
   */
  readonly runAsUserName?: string;
}

/**
 * Shell scripts before and after the command. They run in the shell of the entrypoint, so the command sees their exported variables.
 */
export interface MiniClusterSpecContainersCommands {
  /**
   * Script that runs first, in every pod.
   */
  readonly init?: string;

  /**
   * Script that runs before the broker, in every pod.
   */
  readonly pre?: string;

  /**
   * Script that runs before the broker, in the lead pod.
   */
  readonly brokerPre?: string;

  /**
   * Script that runs before the broker, in all pods except the lead pod.
   */
  readonly workerPre?: string;

  /**
   * Script that runs after the broker, in every pod; it does not change the exit code of the command.
   */
  readonly post?: string;

  /**
   * Script that runs in a sidecar before it waits for Flux.
   */
  readonly servicePre?: string;

  /**
   * Prefix of the command that the lead pod starts, for example a tracer.
   */
  readonly prefix?: string;

  /**
   * Script that every task runs instead of a command; FLUX_TASK_RANK is the rank of the task.
   */
  readonly script?: string;
}

export interface MiniClusterSpecServices {
  /**
   * Image of the container.
   */
  readonly image?: string;

  /**
   * Name of the Secret with the credentials for the image.
   */
  readonly imagePullSecret?: string;

  /**
   * Name of the container; required except for the container with runFlux, whose default is the name of the MiniCluster.
   */
  readonly name?: string;

  /**
   * Working directory of the container and of its jobs.
   */
  readonly workingDir?: string;

  /**
   * Command of the container. In the container with Flux it is submitted as one job (see tasks) unless launcher or batch is set; without a command the cluster is interactive. Plain words are arguments; a command with shell syntax ($, |, &&, quotes) runs in a shell.
   */
  readonly command?: string;

  /**
   * Whether the image is pulled at every start.
   */
  readonly pullAlways?: boolean;

  /**
   * Pull policy of the image without pullAlways; IfNotPresent by default.
   */
  readonly imagePullPolicy?: MiniClusterSpecServicesImagePullPolicy;

  /**
   * Ports of the container. The ports of a sidecar or service get a Service NAME-CONTAINER.
   */
  readonly ports?: readonly number[];

  /**
   * Environment variables and their values.
   */
  readonly environment?: Readonly<Record<string, string>>;

  /**
   * Environment variables with values from Secrets.
   */
  readonly secrets?: Readonly<Record<string, MiniClusterSpecServicesSecrets>>;

  /**
   * Environment variables as in a pod, for values of fields, ConfigMaps and Secrets; they take precedence over environment and secrets.
   */
  readonly env?: readonly MiniClusterSpecServicesEnv[];

  /**
   * ConfigMaps and Secrets whose keys all become environment variables.
   */
  readonly envFrom?: readonly MiniClusterSpecServicesEnvFrom[];

  /**
   * Whether the command submits its own jobs, as workflow tools do; it runs once, next to the lead broker.
   */
  readonly launcher?: boolean;

  /**
   * Whether each line of the command is a job of one batch job.
   */
  readonly batch?: boolean;

  /**
   * Whether the command is the batch script itself, with batch.
   */
  readonly batchRaw?: boolean;

  /**
   * Directory for the output of batch jobs; /tmp/fluxout by default.
   */
  readonly logs?: string;

  /**
   * Whether the container runs the broker; exactly one container has it.
   */
  readonly runFlux?: boolean;

  /**
   * Whether a sidecar starts with the entrypoint of its image; command and commands are not used.
   */
  readonly noWrapEntrypoint?: boolean;

  /**
   * Name of the Service of its ports; NAME-CONTAINER by default.
   */
  readonly serviceName?: string;

  /**
   * Volumes by name. A name refers to the same volume in all containers of the pod, and each container mounts the volumes that it lists. A volume without a source is an empty directory.
   */
  readonly volumes?: Readonly<Record<string, MiniClusterSpecServicesVolumes>>;

  /**
   * Shell commands after the start and before the end of the container.
   */
  readonly lifeCycle?: MiniClusterSpecServicesLifeCycle;

  /**
   * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
   */
  readonly livenessProbe?: MiniClusterSpecServicesLivenessProbe;

  /**
   * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
   */
  readonly readinessProbe?: MiniClusterSpecServicesReadinessProbe;

  /**
   * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
   */
  readonly startupProbe?: MiniClusterSpecServicesStartupProbe;

  /**
   * Requests, limits and claims of devices.
   */
  readonly resources?: MiniClusterSpecServicesResources;

  /**
   * Security context of the container, as in a pod.
   */
  readonly securityContext?: MiniClusterSpecServicesSecurityContext;

  /**
   * Shell scripts before and after the command. They run in the shell of the entrypoint, so the command sees their exported variables.
   */
  readonly commands?: MiniClusterSpecServicesCommands;
}

/**
 * Pull policy of the image without pullAlways; IfNotPresent by default.
 */
export type MiniClusterSpecServicesImagePullPolicy = 'Always' | 'IfNotPresent' | 'Never';

export interface MiniClusterSpecServicesSecrets {
  /**
   * Name of the Secret.
   */
  readonly name: string;

  /**
   * Key of the Secret.
   */
  readonly key: string;
}

export interface MiniClusterSpecServicesEnv {
  /**
   * Name of the variable.
   */
  readonly name: string;

  /**
   * Value of the variable.
   */
  readonly value?: string;

  /**
   * Source of the value.
   */
  readonly valueFrom?: MiniClusterSpecServicesEnvValueFrom;
}

/**
 * Source of the value.
 */
export interface MiniClusterSpecServicesEnvValueFrom {
  /**
   * Value of a field of the pod.
   */
  readonly fieldRef?: MiniClusterSpecServicesEnvValueFromFieldRef;

  /**
   * Value of a resource of a container.
   */
  readonly resourceFieldRef?: MiniClusterSpecServicesEnvValueFromResourceFieldRef;

  /**
   * Value of a key of a ConfigMap or Secret.
   */
  readonly configMapKeyRef?: MiniClusterSpecServicesEnvValueFromConfigMapKeyRef;

  /**
   * Value of a key of a ConfigMap or Secret.
   */
  readonly secretKeyRef?: MiniClusterSpecServicesEnvValueFromSecretKeyRef;
}

/**
 * Value of a field of the pod.
 */
export interface MiniClusterSpecServicesEnvValueFromFieldRef {
  /**
   * API version of the path; v1 by default.
   */
  readonly apiVersion?: string;

  /**
   * Path of the field, for example status.hostIP.
   */
  readonly fieldPath: string;
}

/**
 * Value of a resource of a container.
 */
export interface MiniClusterSpecServicesEnvValueFromResourceFieldRef {
  /**
   * Name of the container; this container by default.
   */
  readonly containerName?: string;

  /**
   * Name of the resource, for example limits.memory.
   */
  readonly resource: string;

  /**
   * A Kubernetes quantity, for example 4, 500m or 16Gi.
   */
  readonly divisor?: number | string;
}

/**
 * Value of a key of a ConfigMap or Secret.
 */
export interface MiniClusterSpecServicesEnvValueFromConfigMapKeyRef {
  /**
   * Name of the object.
   */
  readonly name: string;

  /**
   * Key of the object.
   */
  readonly key: string;

  /**
   * Whether the object may be missing.
   */
  readonly optional?: boolean;
}

/**
 * Value of a key of a ConfigMap or Secret.
 */
export interface MiniClusterSpecServicesEnvValueFromSecretKeyRef {
  /**
   * Name of the object.
   */
  readonly name: string;

  /**
   * Key of the object.
   */
  readonly key: string;

  /**
   * Whether the object may be missing.
   */
  readonly optional?: boolean;
}

export interface MiniClusterSpecServicesEnvFrom {
  /**
   * Prefix of the names of the variables.
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
   * Name of the object.
   */
  readonly name: string;

  /**
   * Whether the object may be missing.
   */
  readonly optional?: boolean;
}

/**
 * The ConfigMap or Secret.
 */
export interface MiniClusterSpecServicesEnvFromSecretRef {
  /**
   * Name of the object.
   */
  readonly name: string;

  /**
   * Whether the object may be missing.
   */
  readonly optional?: boolean;
}

export interface MiniClusterSpecServicesVolumes {
  /**
   * Mount path; /dev/shm by default for an emptyDir.
   */
  readonly path?: string;

  /**
   * Whether the volume is mounted read-only.
   */
  readonly readOnly?: boolean;

  /**
   * Path in the volume that is mounted instead of its root.
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
   * Keys of the ConfigMap or Secret and their paths; all keys under their names by default.
   */
  readonly items?: Readonly<Record<string, string>>;

  /**
   * Mode of the files of a ConfigMap or Secret, as a decimal number (256 is 0400).
   */
  readonly defaultMode?: number;

  /**
   * Path of a directory of the node.
   */
  readonly hostPath?: string;

  /**
   * Type of hostPath; Directory by default.
   */
  readonly hostPathType?: MiniClusterSpecServicesVolumesHostPathType;

  /**
   * Whether the volume is an empty directory.
   */
  readonly emptyDir?: boolean;

  /**
   * Medium of the empty directory; memory for a directory in memory.
   */
  readonly emptyDirMedium?: MiniClusterSpecServicesVolumesEmptyDirMedium;

  /**
   * A Kubernetes quantity, for example 4, 500m or 16Gi.
   */
  readonly emptyDirSizeLimit?: number | string;

  /**
   * Name of a CSI driver with inline volumes.
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
   * Name of the Secret that the CSI driver uses to mount the volume.
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
 * Type of hostPath; Directory by default.
 */
export type MiniClusterSpecServicesVolumesHostPathType = '' | 'DirectoryOrCreate' | 'Directory' | 'FileOrCreate' | 'File' | 'Socket' | 'CharDevice' | 'BlockDevice';

/**
 * Medium of the empty directory; memory for a directory in memory.
 */
export type MiniClusterSpecServicesVolumesEmptyDirMedium = '' | 'memory' | 'Memory';

/**
 * Shell commands after the start and before the end of the container.
 */
export interface MiniClusterSpecServicesLifeCycle {
  /**
   * Command that runs after the start of the container.
   */
  readonly postStartExec?: string;

  /**
   * Command that runs before the container gets the signal to end.
   */
  readonly preStopExec?: string;
}

/**
 * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
 */
export interface MiniClusterSpecServicesLivenessProbe {
  /**
   * Succeeds when a command exits with code 0.
   */
  readonly exec?: MiniClusterSpecServicesLivenessProbeExec;

  /**
   * Succeeds when a request is answered with a status from 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecServicesLivenessProbeHttpGet;

  /**
   * Succeeds when a port accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecServicesLivenessProbeTcpSocket;

  /**
   * Succeeds when a gRPC health service answers SERVING.
   */
  readonly grpc?: MiniClusterSpecServicesLivenessProbeGrpc;

  /**
   * Seconds before the first probe.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two probes.
   */
  readonly periodSeconds?: number;

  /**
   * Timeout of a probe in seconds.
   */
  readonly timeoutSeconds?: number;

  /**
   * Number of consecutive successes after which the probe succeeds.
   */
  readonly successThreshold?: number;

  /**
   * Number of consecutive failures after which the probe fails.
   */
  readonly failureThreshold?: number;

  /**
   * Grace period in seconds for a container whose probe fails.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * Succeeds when a command exits with code 0.
 */
export interface MiniClusterSpecServicesLivenessProbeExec {
  /**
   * Command and arguments.
   */
  readonly command?: readonly string[];
}

/**
 * Succeeds when a request is answered with a status from 200 to 399.
 */
export interface MiniClusterSpecServicesLivenessProbeHttpGet {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * HTTP headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecServicesLivenessProbeHttpGetHttpHeaders[];

  /**
   * Path of the request; / by default.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * Scheme of the request, HTTP or HTTPS.
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
 * Scheme of the request, HTTP or HTTPS.
 */
export type MiniClusterSpecServicesLivenessProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * Succeeds when a port accepts a connection.
 */
export interface MiniClusterSpecServicesLivenessProbeTcpSocket {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * Succeeds when a gRPC health service answers SERVING.
 */
export interface MiniClusterSpecServicesLivenessProbeGrpc {
  /**
   * Port of the service.
   */
  readonly port: number;

  /**
   * Name of the service in the request.
   */
  readonly service?: string;
}

/**
 * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
 */
export interface MiniClusterSpecServicesReadinessProbe {
  /**
   * Succeeds when a command exits with code 0.
   */
  readonly exec?: MiniClusterSpecServicesReadinessProbeExec;

  /**
   * Succeeds when a request is answered with a status from 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecServicesReadinessProbeHttpGet;

  /**
   * Succeeds when a port accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecServicesReadinessProbeTcpSocket;

  /**
   * Succeeds when a gRPC health service answers SERVING.
   */
  readonly grpc?: MiniClusterSpecServicesReadinessProbeGrpc;

  /**
   * Seconds before the first probe.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two probes.
   */
  readonly periodSeconds?: number;

  /**
   * Timeout of a probe in seconds.
   */
  readonly timeoutSeconds?: number;

  /**
   * Number of consecutive successes after which the probe succeeds.
   */
  readonly successThreshold?: number;

  /**
   * Number of consecutive failures after which the probe fails.
   */
  readonly failureThreshold?: number;

  /**
   * Grace period in seconds for a container whose probe fails.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * Succeeds when a command exits with code 0.
 */
export interface MiniClusterSpecServicesReadinessProbeExec {
  /**
   * Command and arguments.
   */
  readonly command?: readonly string[];
}

/**
 * Succeeds when a request is answered with a status from 200 to 399.
 */
export interface MiniClusterSpecServicesReadinessProbeHttpGet {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * HTTP headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecServicesReadinessProbeHttpGetHttpHeaders[];

  /**
   * Path of the request; / by default.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * Scheme of the request, HTTP or HTTPS.
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
 * Scheme of the request, HTTP or HTTPS.
 */
export type MiniClusterSpecServicesReadinessProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * Succeeds when a port accepts a connection.
 */
export interface MiniClusterSpecServicesReadinessProbeTcpSocket {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * Succeeds when a gRPC health service answers SERVING.
 */
export interface MiniClusterSpecServicesReadinessProbeGrpc {
  /**
   * Port of the service.
   */
  readonly port: number;

  /**
   * Name of the service in the request.
   */
  readonly service?: string;
}

/**
 * Probe of the kubelet; one of exec, httpGet, tcpSocket and grpc.
 */
export interface MiniClusterSpecServicesStartupProbe {
  /**
   * Succeeds when a command exits with code 0.
   */
  readonly exec?: MiniClusterSpecServicesStartupProbeExec;

  /**
   * Succeeds when a request is answered with a status from 200 to 399.
   */
  readonly httpGet?: MiniClusterSpecServicesStartupProbeHttpGet;

  /**
   * Succeeds when a port accepts a connection.
   */
  readonly tcpSocket?: MiniClusterSpecServicesStartupProbeTcpSocket;

  /**
   * Succeeds when a gRPC health service answers SERVING.
   */
  readonly grpc?: MiniClusterSpecServicesStartupProbeGrpc;

  /**
   * Seconds before the first probe.
   */
  readonly initialDelaySeconds?: number;

  /**
   * Seconds between two probes.
   */
  readonly periodSeconds?: number;

  /**
   * Timeout of a probe in seconds.
   */
  readonly timeoutSeconds?: number;

  /**
   * Number of consecutive successes after which the probe succeeds.
   */
  readonly successThreshold?: number;

  /**
   * Number of consecutive failures after which the probe fails.
   */
  readonly failureThreshold?: number;

  /**
   * Grace period in seconds for a container whose probe fails.
   */
  readonly terminationGracePeriodSeconds?: number;
}

/**
 * Succeeds when a command exits with code 0.
 */
export interface MiniClusterSpecServicesStartupProbeExec {
  /**
   * Command and arguments.
   */
  readonly command?: readonly string[];
}

/**
 * Succeeds when a request is answered with a status from 200 to 399.
 */
export interface MiniClusterSpecServicesStartupProbeHttpGet {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * HTTP headers of the request.
   */
  readonly httpHeaders?: readonly MiniClusterSpecServicesStartupProbeHttpGetHttpHeaders[];

  /**
   * Path of the request; / by default.
   */
  readonly path?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;

  /**
   * Scheme of the request, HTTP or HTTPS.
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
 * Scheme of the request, HTTP or HTTPS.
 */
export type MiniClusterSpecServicesStartupProbeHttpGetScheme = 'HTTP' | 'HTTPS';

/**
 * Succeeds when a port accepts a connection.
 */
export interface MiniClusterSpecServicesStartupProbeTcpSocket {
  /**
   * Host name; the pod by default.
   */
  readonly host?: string;

  /**
   * Number or name of the port.
   */
  readonly port: number | string;
}

/**
 * Succeeds when a gRPC health service answers SERVING.
 */
export interface MiniClusterSpecServicesStartupProbeGrpc {
  /**
   * Port of the service.
   */
  readonly port: number;

  /**
   * Name of the service in the request.
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
   * Entries of pod.resourceClaims that the container uses.
   */
  readonly claims?: readonly MiniClusterSpecServicesResourcesClaims[];
}

export interface MiniClusterSpecServicesResourcesClaims {
  /**
   * Name of an entry of pod.resourceClaims.
   */
  readonly name: string;

  /**
   * Name of one request of the claim; all requests by default.
   */
  readonly request?: string;
}

/**
 * Security context of the container, as in a pod.
 */
export interface MiniClusterSpecServicesSecurityContext {
  /**
   * Whether a process can gain more privileges than its parent.
   */
  readonly allowPrivilegeEscalation?: boolean;

  /**
   * Security profile.
   */
  readonly appArmorProfile?: MiniClusterSpecServicesSecurityContextAppArmorProfile;

  /**
   * Linux capabilities.
   */
  readonly capabilities?: MiniClusterSpecServicesSecurityContextCapabilities;

  /**
   * Whether the container is privileged.
   */
  readonly privileged?: boolean;

  /**
   * Type of the proc mount, Default or Unmasked.
   */
  readonly procMount?: string;

  /**
   * Whether the root file system is read-only.
   */
  readonly readOnlyRootFilesystem?: boolean;

  /**
   * Group id of the processes.
   */
  readonly runAsGroup?: number;

  /**
   * Whether the kubelet rejects the user root.
   */
  readonly runAsNonRoot?: boolean;

  /**
   * User id of the processes; the user of the image by default.
   */
  readonly runAsUser?: number;

  /**
   * SELinux context.
   */
  readonly seLinuxOptions?: MiniClusterSpecServicesSecurityContextSeLinuxOptions;

  /**
   * Security profile.
   */
  readonly seccompProfile?: MiniClusterSpecServicesSecurityContextSeccompProfile;

  /**
   * Settings for Windows, on which Flux does not run.
   */
  readonly windowsOptions?: MiniClusterSpecServicesSecurityContextWindowsOptions;
}

/**
 * Security profile.
 */
export interface MiniClusterSpecServicesSecurityContextAppArmorProfile {
  /**
   * Type of the profile, RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecServicesSecurityContextAppArmorProfileType;

  /**
   * Path of the profile on the node, for type Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * Type of the profile, RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecServicesSecurityContextAppArmorProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * Linux capabilities.
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
   * SELinux level.
   */
  readonly level?: string;

  /**
   * SELinux role.
   */
  readonly role?: string;

  /**
   * SELinux type.
   */
  readonly type?: string;

  /**
   * SELinux user.
   */
  readonly user?: string;
}

/**
 * Security profile.
 */
export interface MiniClusterSpecServicesSecurityContextSeccompProfile {
  /**
   * Type of the profile, RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecServicesSecurityContextSeccompProfileType;

  /**
   * Path of the profile on the node, for type Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * Type of the profile, RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecServicesSecurityContextSeccompProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * Settings for Windows, on which Flux does not run.
 */
export interface MiniClusterSpecServicesSecurityContextWindowsOptions {
  /**
   * GMSA credential spec.
   */
  readonly gmsaCredentialSpec?: string;

  /**
   * Name of the GMSA credential spec.
   */
  readonly gmsaCredentialSpecName?: string;

  /**
   * Whether it is a host process.
   */
  readonly hostProcess?: boolean;

  /**
   * User name.
   */
  readonly runAsUserName?: string;
}

/**
 * Shell scripts before and after the command. They run in the shell of the entrypoint, so the command sees their exported variables.
 */
export interface MiniClusterSpecServicesCommands {
  /**
   * Script that runs first, in every pod.
   */
  readonly init?: string;

  /**
   * Script that runs before the broker, in every pod.
   */
  readonly pre?: string;

  /**
   * Script that runs before the broker, in the lead pod.
   */
  readonly brokerPre?: string;

  /**
   * Script that runs before the broker, in all pods except the lead pod.
   */
  readonly workerPre?: string;

  /**
   * Script that runs after the broker, in every pod; it does not change the exit code of the command.
   */
  readonly post?: string;

  /**
   * Script that runs in a sidecar before it waits for Flux.
   */
  readonly servicePre?: string;

  /**
   * Prefix of the command that the lead pod starts, for example a tracer.
   */
  readonly prefix?: string;

  /**
   * Script that every task runs instead of a command; FLUX_TASK_RANK is the rank of the task.
   */
  readonly script?: string;
}

/**
 * Kind of the workload. Job, or StatefulSet for an interactive cluster that runs until it is deleted.
 */
export type MiniClusterSpecWorkload = 'Job' | 'StatefulSet';

/**
 * Effect of the failure of a pod; by default an eviction does not count. It requires restartPolicy Never.
 */
export interface MiniClusterSpecPodFailurePolicy {
  /**
   * Rules, of which the first matching one applies.
   */
  readonly rules: readonly MiniClusterSpecPodFailurePolicyRules[];
}

export interface MiniClusterSpecPodFailurePolicyRules {
  /**
   * Action of the rule.
   */
  readonly action: MiniClusterSpecPodFailurePolicyRulesAction;

  /**
   * Matches exit codes.
   */
  readonly onExitCodes?: MiniClusterSpecPodFailurePolicyRulesOnExitCodes;

  /**
   * Matches conditions of the pod.
   */
  readonly onPodConditions?: readonly MiniClusterSpecPodFailurePolicyRulesOnPodConditions[];
}

/**
 * Action of the rule.
 */
export type MiniClusterSpecPodFailurePolicyRulesAction = 'Count' | 'FailIndex' | 'FailJob' | 'Ignore';

/**
 * Matches exit codes.
 */
export interface MiniClusterSpecPodFailurePolicyRulesOnExitCodes {
  /**
   * Name of the container; any container by default.
   */
  readonly containerName?: string;

  /**
   * Operator, In or NotIn.
   */
  readonly operator: MiniClusterSpecPodFailurePolicyRulesOnExitCodesOperator;

  /**
   * Exit codes.
   */
  readonly values: readonly number[];
}

/**
 * Operator, In or NotIn.
 */
export type MiniClusterSpecPodFailurePolicyRulesOnExitCodesOperator = 'In' | 'NotIn';

export interface MiniClusterSpecPodFailurePolicyRulesOnPodConditions {
  /**
   * Type of the condition, for example DisruptionTarget.
   */
  readonly type: string;

  /**
   * Status of the condition; True by default.
   */
  readonly status?: string;
}

/**
 * Archive with the state of the Flux instance, which a later run restores.
 */
export interface MiniClusterSpecArchive {
  /**
   * Path of the archive on a volume; it is loaded at the start if it exists, and written at the end.
   */
  readonly path?: string;
}

/**
 * Network of the brokers.
 */
export interface MiniClusterSpecNetwork {
  /**
   * Name of the headless Service for the DNS names of the pods; the name of the MiniCluster by default.
   */
  readonly headlessName?: string;

  /**
   * Whether the pods have no preference for one zone and for different nodes.
   */
  readonly disableAffinity?: boolean;

  /**
   * DNS domain of the cluster.
   */
  readonly clusterDomain?: string;

  /**
   * Whether the hosts of the Flux instance are the fully qualified DNS names of the pods, which programs on other hosts can resolve; the names NAME-INDEX by default.
   */
  readonly fqdn?: boolean;

  /**
   * Port of the brokers.
   */
  readonly port?: number;
}

/**
 * Output of the entrypoint.
 */
export interface MiniClusterSpecLogging {
  /**
   * Whether only the output of the command is printed.
   */
  readonly quiet?: boolean;

  /**
   * Whether a failing line of commands.* ends the pod.
   */
  readonly strict?: boolean;

  /**
   * Whether flux submit runs with -vvv.
   */
  readonly debug?: boolean;

  /**
   * Whether the connections of the brokers are logged.
   */
  readonly zeromq?: boolean;

  /**
   * Whether the durations of the instance and the command are printed as FLUXTIME lines.
   */
  readonly timed?: boolean;
}

/**
 * Settings of the Flux instance.
 */
export interface MiniClusterSpecFlux {
  /**
   * Init container that copies Flux for images without Flux.
   */
  readonly container?: MiniClusterSpecFluxContainer;

  /**
   * Architecture of the nodes, for example arm64.
   */
  readonly arch?: string;

  /**
   * Command that submits the command; flux submit by default.
   */
  readonly submitCommand?: string;

  /**
   * Additional options of the submit command, for example -ompi=openmpi@5.
   */
  readonly optionFlags?: string;

  /**
   * Command that wraps the brokers, with words separated by commas, for example strace,-f.
   */
  readonly wrap?: string;

  /**
   * Timeout of one connection attempt of a broker; with an empty string the default of Flux.
   */
  readonly connectTimeout?: string;

  /**
   * Topology of the brokers, for example binomial; by default all brokers connect to the lead broker.
   */
  readonly topology?: string;

  /**
   * Log level of the brokers, from 0 to 7.
   */
  readonly logLevel?: number;

  /**
   * Whether only the lead pod has a Service; the other pods then have no DNS names.
   */
  readonly minimalService?: boolean;

  /**
   * Whether Flux chooses the path of its socket.
   */
  readonly disableSocket?: boolean;

  /**
   * Whether sidecars start without waiting for the socket of the broker.
   */
  readonly noWaitSocket?: boolean;

  /**
   * Whether a worker pod completes when its broker ends.
   */
  readonly completeWorkers?: boolean;

  /**
   * Certificate of the brokers as text, which the runtime moves to a Secret; curveCertSecret is preferable.
   */
  readonly curveCert?: string;

  /**
   * Name of an existing Secret with the certificate of the brokers under the key curve.cert; by default the runtime creates NAME-curve.
   */
  readonly curveCertSecret?: string;

  /**
   * Name of an existing Secret with a munge key under the key munge.key.
   */
  readonly mungeSecret?: string;

  /**
   * Scheduler of the Flux instance.
   */
  readonly scheduler?: MiniClusterSpecFluxScheduler;

  /**
   * Number of cores of each broker; by default the whole CPUs of the container's limit or request, else those of the node.
   */
  readonly cores?: number;

  /**
   * Number of GPUs of each broker; by default those of the container's limits, and one for each device claim whose name or request has gpu in it.
   */
  readonly gpus?: number;

  /**
   * Whether the lead broker reports the numbers of its jobs and resources to the controller, which writes them to status.flux.
   */
  readonly report?: boolean;

  /**
   * Whether Flux pins tasks to cores, for nodes with the static CPU manager policy.
   */
  readonly cpuAffinity?: boolean;

  /**
   * Brokers in other clusters. All clusters need the same certificate and the same order of hosts.
   */
  readonly bursting?: MiniClusterSpecFluxBursting;

  /**
   * Complete configuration of the brokers in TOML, instead of the generated one.
   */
  readonly brokerConfig?: string;

  /**
   * Environment variables in flux-view.sh, for shells that connect to the instance.
   */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Init container that copies Flux for images without Flux.
 */
export interface MiniClusterSpecFluxContainer {
  /**
   * Whether the init container is omitted, because the image of the container has Flux.
   */
  readonly disable?: boolean;

  /**
   * Image with a view of Flux for the operating system of the container.
   */
  readonly image?: string;

  /**
   * Name of the Secret with the credentials for the image.
   */
  readonly imagePullSecret?: string;

  /**
   * Whether the image is pulled at every start.
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
   * Mount path of Flux and its run-time files in every container.
   */
  readonly mountPath?: string;

  /**
   * PYTHONPATH for Flux; the path in the view by default.
   */
  readonly pythonPath?: string;

  /**
   * Requests, limits and claims of devices.
   */
  readonly resources?: MiniClusterSpecFluxContainerResources;

  /**
   * Security context of the container, as in a pod.
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
   * Entries of pod.resourceClaims that the container uses.
   */
  readonly claims?: readonly MiniClusterSpecFluxContainerResourcesClaims[];
}

export interface MiniClusterSpecFluxContainerResourcesClaims {
  /**
   * Name of an entry of pod.resourceClaims.
   */
  readonly name: string;

  /**
   * Name of one request of the claim; all requests by default.
   */
  readonly request?: string;
}

/**
 * Security context of the container, as in a pod.
 */
export interface MiniClusterSpecFluxContainerSecurityContext {
  /**
   * Whether a process can gain more privileges than its parent.
   */
  readonly allowPrivilegeEscalation?: boolean;

  /**
   * Security profile.
   */
  readonly appArmorProfile?: MiniClusterSpecFluxContainerSecurityContextAppArmorProfile;

  /**
   * Linux capabilities.
   */
  readonly capabilities?: MiniClusterSpecFluxContainerSecurityContextCapabilities;

  /**
   * Whether the container is privileged.
   */
  readonly privileged?: boolean;

  /**
   * Type of the proc mount, Default or Unmasked.
   */
  readonly procMount?: string;

  /**
   * Whether the root file system is read-only.
   */
  readonly readOnlyRootFilesystem?: boolean;

  /**
   * Group id of the processes.
   */
  readonly runAsGroup?: number;

  /**
   * Whether the kubelet rejects the user root.
   */
  readonly runAsNonRoot?: boolean;

  /**
   * User id of the processes; the user of the image by default.
   */
  readonly runAsUser?: number;

  /**
   * SELinux context.
   */
  readonly seLinuxOptions?: MiniClusterSpecFluxContainerSecurityContextSeLinuxOptions;

  /**
   * Security profile.
   */
  readonly seccompProfile?: MiniClusterSpecFluxContainerSecurityContextSeccompProfile;

  /**
   * Settings for Windows, on which Flux does not run.
   */
  readonly windowsOptions?: MiniClusterSpecFluxContainerSecurityContextWindowsOptions;
}

/**
 * Security profile.
 */
export interface MiniClusterSpecFluxContainerSecurityContextAppArmorProfile {
  /**
   * Type of the profile, RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecFluxContainerSecurityContextAppArmorProfileType;

  /**
   * Path of the profile on the node, for type Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * Type of the profile, RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecFluxContainerSecurityContextAppArmorProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * Linux capabilities.
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
   * SELinux level.
   */
  readonly level?: string;

  /**
   * SELinux role.
   */
  readonly role?: string;

  /**
   * SELinux type.
   */
  readonly type?: string;

  /**
   * SELinux user.
   */
  readonly user?: string;
}

/**
 * Security profile.
 */
export interface MiniClusterSpecFluxContainerSecurityContextSeccompProfile {
  /**
   * Type of the profile, RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecFluxContainerSecurityContextSeccompProfileType;

  /**
   * Path of the profile on the node, for type Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * Type of the profile, RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecFluxContainerSecurityContextSeccompProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * Settings for Windows, on which Flux does not run.
 */
export interface MiniClusterSpecFluxContainerSecurityContextWindowsOptions {
  /**
   * GMSA credential spec.
   */
  readonly gmsaCredentialSpec?: string;

  /**
   * Name of the GMSA credential spec.
   */
  readonly gmsaCredentialSpecName?: string;

  /**
   * Whether it is a host process.
   */
  readonly hostProcess?: boolean;

  /**
   * User name.
   */
  readonly runAsUserName?: string;
}

/**
 * Scheduler of the Flux instance.
 */
export interface MiniClusterSpecFluxScheduler {
  /**
   * Whether the instance uses the simple scheduler of Flux instead of Fluxion.
   */
  readonly simple?: boolean;

  /**
   * Queue policy of Fluxion, for example easy; fcfs by default.
   */
  readonly queuePolicy?: string;

  /**
   * Match policy of Fluxion, for example lonode; the default of Fluxion by default.
   */
  readonly matchPolicy?: string;
}

/**
 * Brokers in other clusters. All clusters need the same certificate and the same order of hosts.
 */
export interface MiniClusterSpecFluxBursting {
  /**
   * Lead broker of another cluster, to which the brokers of this cluster connect.
   */
  readonly leadBroker?: MiniClusterSpecFluxBurstingLeadBroker;

  /**
   * Hosts of all clusters in the order of their ranks (RFC 29), instead of the generated list.
   */
  readonly hostlist?: string;

  /**
   * Clusters whose brokers can connect to this one.
   */
  readonly clusters?: readonly MiniClusterSpecFluxBurstingClusters[];
}

/**
 * Lead broker of another cluster, to which the brokers of this cluster connect.
 */
export interface MiniClusterSpecFluxBurstingLeadBroker {
  /**
   * Host name or address of that lead broker.
   */
  readonly address: string;

  /**
   * Name of the MiniCluster.
   */
  readonly name: string;

  /**
   * Port of that lead broker.
   */
  readonly port?: number;

  /**
   * Size of that MiniCluster; its maxSize if it has one.
   */
  readonly size: number;
}

export interface MiniClusterSpecFluxBurstingClusters {
  /**
   * Name of the MiniCluster; burst-INDEX by default.
   */
  readonly name?: string;

  /**
   * Size of the MiniCluster; the size of this one by default.
   */
  readonly size?: number;
}

/**
 * Settings of the pods.
 */
export interface MiniClusterSpecPod {
  /**
   * Annotations of the pods.
   */
  readonly annotations?: Readonly<Record<string, string>>;

  /**
   * Labels of the pods.
   */
  readonly labels?: Readonly<Record<string, string>>;

  /**
   * Restart policy of the pods; Never with a command and OnFailure for an interactive cluster by default.
   */
  readonly restartPolicy?: MiniClusterSpecPodRestartPolicy;

  /**
   * Name of the ServiceAccount of the pods.
   */
  readonly serviceAccountName?: string;

  /**
   * Whether the token of the ServiceAccount is mounted in the pods.
   */
  readonly automountServiceAccountToken?: boolean;

  /**
   * Whether the pods comply with Pod Security restricted. The user is not root (1000 by default), and the root file system is read-only.
   */
  readonly restricted?: boolean;

  /**
   * Name of the RuntimeClass of the pods.
   */
  readonly runtimeClassName?: string;

  /**
   * Name of the scheduler of the pods.
   */
  readonly schedulerName?: string;

  /**
   * Name of the PriorityClass of the pods.
   */
  readonly priorityClassName?: string;

  /**
   * Labels that a node must have.
   */
  readonly nodeSelector?: Readonly<Record<string, string>>;

  /**
   * Labels of which a node must have one of the listed values.
   */
  readonly nodeAffinity?: Readonly<Record<string, readonly string[]>>;

  /**
   * Taints that the pods tolerate.
   */
  readonly tolerations?: readonly MiniClusterSpecPodTolerations[];

  /**
   * Spread of the pods of this MiniCluster over zones, racks or nodes.
   */
  readonly topologySpread?: readonly MiniClusterSpecPodTopologySpread[];

  /**
   * DNS policy of the pods; ClusterFirst by default, with hostNetwork ClusterFirstWithHostNet.
   */
  readonly dnsPolicy?: MiniClusterSpecPodDnsPolicy;

  /**
   * Whether the pods use the network of their node; each pod then needs its own node.
   */
  readonly hostNetwork?: boolean;

  /**
   * Whether the pods use the IPC namespace of their node.
   */
  readonly hostIPC?: boolean;

  /**
   * Whether the pods use the process namespace of their node.
   */
  readonly hostPID?: boolean;

  /**
   * Grace period of the brokers in seconds; 30 by default, with an archive 120.
   */
  readonly terminationGracePeriodSeconds?: number;

  /**
   * Quantities by resource.
   */
  readonly resources?: Readonly<Record<string, number | string>>;

  /**
   * Device claims of the pods (Dynamic Resource Allocation), which containers use by resources.claims.
   */
  readonly resourceClaims?: readonly MiniClusterSpecPodResourceClaims[];

  /**
   * Security context of the pods.
   */
  readonly securityContext?: MiniClusterSpecPodSecurityContext;
}

/**
 * Restart policy of the pods; Never with a command and OnFailure for an interactive cluster by default.
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
   * Seconds for which a NoExecute taint is tolerated.
   */
  readonly tolerationSeconds?: number;
}

export interface MiniClusterSpecPodTopologySpread {
  /**
   * Label of nodes whose values define the groups.
   */
  readonly topologyKey: string;

  /**
   * Maximum difference of the number of pods between two groups.
   */
  readonly maxSkew?: number;

  /**
   * Effect of a violation, DoNotSchedule or ScheduleAnyway.
   */
  readonly whenUnsatisfiable?: MiniClusterSpecPodTopologySpreadWhenUnsatisfiable;

  /**
   * Minimum number of groups.
   */
  readonly minDomains?: number;
}

/**
 * Effect of a violation, DoNotSchedule or ScheduleAnyway.
 */
export type MiniClusterSpecPodTopologySpreadWhenUnsatisfiable = 'DoNotSchedule' | 'ScheduleAnyway';

/**
 * DNS policy of the pods; ClusterFirst by default, with hostNetwork ClusterFirstWithHostNet.
 */
export type MiniClusterSpecPodDnsPolicy = 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';

export interface MiniClusterSpecPodResourceClaims {
  /**
   * Name of the claim in the pod.
   */
  readonly name: string;

  /**
   * Name of an existing ResourceClaim, which all pods share.
   */
  readonly resourceClaimName?: string;

  /**
   * Name of a ResourceClaimTemplate, from which each pod gets its own claim.
   */
  readonly resourceClaimTemplateName?: string;
}

/**
 * Security context of the pods.
 */
export interface MiniClusterSpecPodSecurityContext {
  /**
   * Security profile.
   */
  readonly appArmorProfile?: MiniClusterSpecPodSecurityContextAppArmorProfile;

  /**
   * Group that owns the volumes.
   */
  readonly fsGroup?: number;

  /**
   * Policy for changes of fsGroup, Always or OnRootMismatch.
   */
  readonly fsGroupChangePolicy?: string;

  /**
   * Group id of the processes.
   */
  readonly runAsGroup?: number;

  /**
   * Whether the kubelet rejects the user root.
   */
  readonly runAsNonRoot?: boolean;

  /**
   * User id of the processes; the user of the image by default.
   */
  readonly runAsUser?: number;

  /**
   * Policy for SELinux labels of volumes.
   */
  readonly seLinuxChangePolicy?: string;

  /**
   * SELinux context.
   */
  readonly seLinuxOptions?: MiniClusterSpecPodSecurityContextSeLinuxOptions;

  /**
   * Security profile.
   */
  readonly seccompProfile?: MiniClusterSpecPodSecurityContextSeccompProfile;

  /**
   * Additional group ids.
   */
  readonly supplementalGroups?: readonly number[];

  /**
   * Policy for supplemental groups, Merge or Strict.
   */
  readonly supplementalGroupsPolicy?: string;

  /**
   * Sysctls of the pods.
   */
  readonly sysctls?: readonly MiniClusterSpecPodSecurityContextSysctls[];

  /**
   * Settings for Windows, on which Flux does not run.
   */
  readonly windowsOptions?: MiniClusterSpecPodSecurityContextWindowsOptions;
}

/**
 * Security profile.
 */
export interface MiniClusterSpecPodSecurityContextAppArmorProfile {
  /**
   * Type of the profile, RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecPodSecurityContextAppArmorProfileType;

  /**
   * Path of the profile on the node, for type Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * Type of the profile, RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecPodSecurityContextAppArmorProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

/**
 * SELinux context.
 */
export interface MiniClusterSpecPodSecurityContextSeLinuxOptions {
  /**
   * SELinux level.
   */
  readonly level?: string;

  /**
   * SELinux role.
   */
  readonly role?: string;

  /**
   * SELinux type.
   */
  readonly type?: string;

  /**
   * SELinux user.
   */
  readonly user?: string;
}

/**
 * Security profile.
 */
export interface MiniClusterSpecPodSecurityContextSeccompProfile {
  /**
   * Type of the profile, RuntimeDefault, Unconfined or Localhost.
   */
  readonly type: MiniClusterSpecPodSecurityContextSeccompProfileType;

  /**
   * Path of the profile on the node, for type Localhost.
   */
  readonly localhostProfile?: string;
}

/**
 * Type of the profile, RuntimeDefault, Unconfined or Localhost.
 */
export type MiniClusterSpecPodSecurityContextSeccompProfileType = 'RuntimeDefault' | 'Unconfined' | 'Localhost';

export interface MiniClusterSpecPodSecurityContextSysctls {
  /**
   * Name of the sysctl.
   */
  readonly name: string;

  /**
   * Value of the sysctl.
   */
  readonly value: string;
}

/**
 * Settings for Windows, on which Flux does not run.
 */
export interface MiniClusterSpecPodSecurityContextWindowsOptions {
  /**
   * GMSA credential spec.
   */
  readonly gmsaCredentialSpec?: string;

  /**
   * Name of the GMSA credential spec.
   */
  readonly gmsaCredentialSpecName?: string;

  /**
   * Whether it is a host process.
   */
  readonly hostProcess?: boolean;

  /**
   * User name.
   */
  readonly runAsUserName?: string;
}
