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

export interface PodSpec {
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
  };
  readonly tolerations?: readonly Toleration[];
}
