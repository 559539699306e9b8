/** Settings of the pods of the stack. A component has only the settings that it can have. */
import type { k8s } from 'cdk8s-plus-28';

/** Amounts by resource, e.g. `{ cpu: '500m', memory: '1Gi' }`. */
export type Amounts = Readonly<Record<string, string | number | k8s.Quantity>>;

export interface ContainerResources {
  /** Requests in addition to, or instead of, those of the stack. @default - the requests of the stack */
  readonly requests?: Amounts;

  /**
   * Limits in addition to, or instead of, those of the stack. The heap of the stack's own programs is at most three quarters
   * of their memory limit; docs/operations.md says how much a queue needs.
   * @default - the limits of the stack: memory, but no cpu
   */
  readonly limits?: Amounts;
}

/** Timings of a probe, as Kubernetes names them; what is not given keeps its value. */
export type ProbeTimings = Readonly<
  Pick<k8s.Probe, 'initialDelaySeconds' | 'periodSeconds' | 'timeoutSeconds' | 'failureThreshold'>
>;

export interface ContainerProbes {
  /** Timings of the probe that restarts the container if it does not start. @default - those of the stack */
  readonly startup?: ProbeTimings;

  /** Timings of the probe that restarts the container. @default - those of the stack */
  readonly liveness?: ProbeTimings;

  /** Timings of the probe that takes the pod out of its Service. @default - those of the stack */
  readonly readiness?: ProbeTimings;
}

/** Settings of one container. */
export interface ContainerSettings {
  /** Resources of the container. @default - those of the stack */
  readonly resources?: ContainerResources;

  /** Further environment variables of the container. @default - none */
  readonly env?: readonly k8s.EnvVar[];

  /** Further arguments of the container's program. @default - none */
  readonly args?: readonly string[];

  /** Fields of the container's security context that differ from Pod Security `restricted`. @default - none */
  readonly containerSecurityContext?: k8s.SecurityContext;

  /** Timings of the container's probes. @default - those of the stack */
  readonly probes?: ContainerProbes;
}

/** Settings of the pods of a component and of its main container. */
export interface PodSettings extends ContainerSettings {
  /** Labels that a node must have. @default - any node */
  readonly nodeSelector?: Readonly<Record<string, string>>;

  /** Affinity of the pods. @default - none */
  readonly affinity?: k8s.Affinity;

  /** Tolerations of the pods. @default - none */
  readonly tolerations?: readonly k8s.Toleration[];

  /** Further labels of the pods. @default - none */
  readonly labels?: Readonly<Record<string, string>>;

  /** Further annotations of the pods. @default - none */
  readonly annotations?: Readonly<Record<string, string>>;

  /** Names of Secrets for pulling the images, in addition to those of `images.pullSecrets`. @default - none */
  readonly imagePullSecrets?: readonly string[];

  /** Fields of the pods' security context that differ from Pod Security `restricted`. @default - none */
  readonly securityContext?: k8s.PodSecurityContext;

  /** Name of the PriorityClass of the pods. @default - that of the stack */
  readonly priorityClassName?: string;
}

/** How many pods of a component an eviction leaves; one of the two. */
export interface DisruptionBudget {
  /** Number or percentage of pods that may be absent at a time. @default - 1 */
  readonly maxUnavailable?: number | string;

  /** Number or percentage of pods that must stay. @default - maxUnavailable applies */
  readonly minAvailable?: number | string;
}

/** Settings of the pods of a component with replicas. */
export interface ReplicatedPodSettings extends PodSettings {
  /** Number of replicas. @default 2 */
  readonly replicas?: number;

  /** PodDisruptionBudget of the component. @default - one pod may be absent */
  readonly disruptionBudget?: DisruptionBudget;

  /**
   * Topology spread of the pods, instead of that of the stack; without a labelSelector it applies to the pods of the
   * component.
   * @default - the pods prefer different nodes
   */
  readonly topologySpreadConstraints?: readonly k8s.TopologySpreadConstraint[];
}

export interface PodsProps {
  /** Pods of the controller: one is the leader, the others are on standby. @default - those of the stack */
  readonly controller?: ReplicatedPodSettings;

  /** The Fluxion sidecar in the pods of the controller; `fluxion: 'sidecar'` only. @default - that of the stack */
  readonly fluxion?: ContainerSettings;

  /** Pods of the webhook, all of which serve requests; with admission by webhook only. @default - those of the stack */
  readonly webhook?: ReplicatedPodSettings;

  /** Pods of the reader, all of which answer questions; without `readApi: false` only. @default - those of the stack */
  readonly reader?: ReplicatedPodSettings;

  /** Pods of the stack's kube-scheduler; `scheduler: true` only. @default - those of the stack */
  readonly scheduler?: ReplicatedPodSettings;

  /** The pod of the stack's own database, and its container with Postgres. @default - that of the stack */
  readonly database?: PodSettings;

  /** Pods of the scheduled dumps; `Database.statefulSet({ backup })` only. @default - those of the stack */
  readonly backup?: Omit<PodSettings, 'probes'>;
}
