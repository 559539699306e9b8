/** The fields of a pod spec that decide what the pod needs and where it may run. Any pod spec of Kubernetes fits. */

export type Quantities = Readonly<Record<string, string | number>>;

export interface Resources {
  readonly requests?: Quantities;
  readonly limits?: Quantities;
}

export interface Container {
  readonly name?: string;
  readonly resources?: Resources;
  /** `Always` makes an init container a sidecar. */
  readonly restartPolicy?: string;
  readonly ports?: readonly ContainerPort[];
}

interface ContainerPort {
  /** Port on the node. It is also set for pods and templates of the host network (shared/pod-projection). */
  readonly hostPort?: number;
  readonly hostIP?: string;
  /** @default 'TCP' */
  readonly protocol?: string;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** A selector without requirements matches every object; no selector matches none. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

export interface PodAffinityTerm {
  readonly topologyKey: string;
  readonly labelSelector?: LabelSelector;
  /** @default - the namespace of the pod, if there is no namespaceSelector either */
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
}

export interface TopologySpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector;
  readonly minDomains?: number;
  readonly matchLabelKeys?: readonly string[];
  /** @default 'Honor' */
  readonly nodeAffinityPolicy?: string;
  /** @default 'Ignore' */
  readonly nodeTaintsPolicy?: string;
}

/** A volume: its name, and one source of some kind. */
export interface Volume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: { readonly volumeClaimTemplate?: { readonly spec: VolumeClaimSpec } };
  readonly iscsi?: unknown;
  readonly rbd?: unknown;
}

export interface VolumeClaimSpec {
  readonly accessModes?: readonly string[];
  readonly resources?: Resources;
  readonly storageClassName?: string;
  readonly volumeName?: string;
  readonly selector?: LabelSelector;
}

export interface PodSpec {
  /** Seconds that its containers have to end. @default 30 */
  readonly terminationGracePeriodSeconds?: number;
  /** Webhooks decide by it. */
  readonly serviceAccountName?: string;
  /** The pod bypasses kube-scheduler. */
  readonly nodeName?: string;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly overhead?: Quantities;
  /** Pod-level resources. */
  readonly resources?: Resources;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
      };
    };
    readonly podAffinity?: PodAffinity;
    readonly podAntiAffinity?: PodAffinity;
  };
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly volumes?: readonly Volume[];
  readonly resourceClaims?: readonly { readonly name: string }[];
  readonly runtimeClassName?: string;
  readonly schedulingGates?: readonly { readonly name: string }[];
}
