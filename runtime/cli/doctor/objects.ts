/** Parts of Kubernetes objects that only the checks read. */
import type { Condition, KubernetesObject, PodSpec } from '../../kubernetes/types';

export interface Namespace extends KubernetesObject {
  readonly status?: { readonly phase?: string };
}

type ContainerWithEnv = PodSpec['containers'][number] & {
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
};

interface ConfigVolume {
  readonly name: string;
  readonly configMap?: { readonly name?: string };
}

/** A Deployment or a StatefulSet. */
export interface Deployment extends KubernetesObject {
  readonly spec: {
    readonly replicas?: number;
    /** Of a StatefulSet. */
    readonly podManagementPolicy?: 'OrderedReady' | 'Parallel';
    readonly template: {
      readonly spec: Omit<PodSpec, 'containers' | 'volumes'> & {
        readonly containers: readonly ContainerWithEnv[];
        readonly volumes?: readonly ConfigVolume[];
      };
    };
  };
  readonly status?: {
    readonly availableReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

/** Secrets and ConfigMaps. */
export interface DataObject extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** A Secret's key as text; undefined while it is empty. */
export function secretText(secret: DataObject, key: string): string | undefined {
  const text = Buffer.from(secret.data?.[key] ?? '', 'base64').toString();
  return text === '' ? undefined : text;
}
