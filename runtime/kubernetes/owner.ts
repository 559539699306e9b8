import type { KubernetesObject, OwnerReference } from './types';

/** The owner that is the object's controller; Kubernetes allows at most one. */
export function controllerOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}
