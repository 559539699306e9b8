/**
 * The parts of Kubernetes objects that the runtime reads or writes, as they are in JSON: dates are RFC 3339 strings,
 * quantities are strings. The generated types of @kubernetes/client-node have `Date` and need its serializer, which
 * costs more CPU than the request itself. Unknown fields pass through unchanged.
 */

type Labels = Readonly<Record<string, string>>;
/** Amounts by resource name. They are numbers if a user wrote `cpu: 2`. */
type ResourceList = Readonly<Record<string, string | number>>;

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Metadata as the apiserver returns it. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Labels;
  readonly annotations?: Labels;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

export interface KubernetesObject {
  /** Absent on the items of a list. */
  readonly apiVersion?: string;
  /** Absent on the items of a list. */
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface KubernetesList<T> {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
}

/** The answer of the apiserver to a request that it refuses. */
export interface Status {
  readonly kind?: 'Status';
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly uid?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly {
      readonly field?: string;
      readonly message?: string;
      readonly reason?: string;
    }[];
  };
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly observedGeneration?: number;
}

interface ResourceRequirements {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
}

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  /** `Always` makes an init container a sidecar. */
  readonly restartPolicy?: string;
  readonly resources?: ResourceRequirements;
  readonly ports?: readonly {
    readonly containerPort?: number;
    readonly hostPort?: number;
    readonly hostIP?: string;
    readonly protocol?: string;
  }[];
}

interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly topologyKey: string;
    readonly labelSelector?: LabelSelector;
    readonly namespaces?: readonly string[];
    readonly namespaceSelector?: LabelSelector;
    readonly matchLabelKeys?: readonly string[];
    readonly mismatchLabelKeys?: readonly string[];
  }[];
}

interface TopologySpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
  readonly matchLabelKeys?: readonly string[];
  readonly nodeAffinityPolicy?: string;
  readonly nodeTaintsPolicy?: string;
}

interface VolumeClaimSpec {
  readonly accessModes?: readonly string[];
  readonly resources?: ResourceRequirements;
  readonly storageClassName?: string;
  readonly volumeName?: string;
  readonly selector?: LabelSelector;
}

interface Volume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: { readonly volumeClaimTemplate?: { readonly spec: VolumeClaimSpec } };
  readonly iscsi?: unknown;
  readonly rbd?: unknown;
}

interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
    };
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly unknown[];
  };
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

interface Toleration {
  readonly key?: string;
  readonly operator?: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  readonly tolerationSeconds?: number;
}

export interface LimitRange extends KubernetesObject {
  readonly spec: {
    readonly limits: readonly { readonly type: string; readonly defaultRequest?: ResourceList }[];
  };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly resources?: ResourceRequirements;
  readonly overhead?: ResourceList;
  readonly hostNetwork?: boolean;
  readonly nodeName?: string;
  readonly nodeSelector?: Labels;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly volumes?: readonly Volume[];
  readonly resourceClaims?: readonly {
    readonly name: string;
    readonly resourceClaimName?: string;
    readonly resourceClaimTemplateName?: string;
  }[];
  readonly runtimeClassName?: string;
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly schedulerName?: string;
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly restartPolicy?: string;
  readonly activeDeadlineSeconds?: number;
  readonly terminationGracePeriodSeconds?: number;
  readonly serviceAccountName?: string;
}

type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

type Ended = { readonly exitCode: number; readonly reason?: string };

interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: {
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: Ended & { readonly startedAt?: string; readonly finishedAt?: string };
    readonly waiting?: { readonly reason?: string; readonly message?: string };
  };
  /** How the container ended before it was started again. */
  readonly lastState?: { readonly terminated?: Ended };
}

export interface Pod extends KubernetesObject {
  readonly spec: PodSpec;
  readonly status?: {
    readonly phase?: PodPhase;
    readonly reason?: string;
    readonly message?: string;
    readonly startTime?: string;
    readonly conditions?: readonly Condition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly resourceClaimStatuses?: readonly {
      readonly name: string;
      readonly resourceClaimName?: string;
    }[];
  };
}

interface PodTemplate {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels };
  readonly spec: PodSpec;
}

export interface Job extends KubernetesObject {
  readonly spec: {
    readonly suspend?: boolean;
    readonly parallelism?: number;
    readonly completions?: number;
    readonly completionMode?: 'Indexed' | 'NonIndexed';
    readonly backoffLimit?: number;
    readonly backoffLimitPerIndex?: number;
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly managedBy?: string;
    readonly manualSelector?: boolean;
    readonly podReplacementPolicy?: 'Failed' | 'TerminatingOrFailed';
    readonly template: PodTemplate;
  };
  readonly status?: {
    readonly active?: number;
    readonly ready?: number;
    readonly succeeded?: number;
    readonly failed?: number;
    readonly terminating?: number;
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly completedIndexes?: string;
    readonly failedIndexes?: string;
    readonly conditions?: readonly Condition[];
  };
}

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export interface Node extends KubernetesObject {
  readonly spec: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status?: {
    readonly allocatable?: ResourceList;
    readonly capacity?: ResourceList;
    readonly conditions?: readonly Condition[];
  };
}

export interface PersistentVolumeClaim extends KubernetesObject {
  readonly spec: VolumeClaimSpec;
}

export interface PersistentVolume extends KubernetesObject {
  readonly spec: {
    readonly storageClassName?: string;
    readonly capacity?: ResourceList;
    readonly accessModes?: readonly string[];
    readonly claimRef?: { readonly namespace?: string; readonly name?: string };
    readonly nodeAffinity?: {
      readonly required?: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] };
    };
  };
  readonly status?: { readonly phase?: string };
}

export interface StorageClass extends KubernetesObject {
  readonly provisioner: string;
  readonly volumeBindingMode?: string;
  readonly allowedTopologies?: readonly {
    readonly matchLabelExpressions?: readonly {
      readonly key: string;
      readonly values: readonly string[];
    }[];
  }[];
}

export interface PriorityClass extends KubernetesObject {
  readonly value: number;
  readonly globalDefault?: boolean;
}

export interface RuntimeClass extends KubernetesObject {
  readonly overhead?: { readonly podFixed?: ResourceList };
  readonly scheduling?: { readonly nodeSelector?: Labels; readonly tolerations?: readonly Toleration[] };
}

export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  /** RFC 3339 with microseconds. */
  readonly acquireTime?: string;
  /** RFC 3339 with microseconds. */
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

export interface Lease extends KubernetesObject {
  readonly spec?: LeaseSpec;
}
