import type { KubernetesObject, OwnerReference } from './types';

/** Who made it and keeps it: of its owners the one that is its controller; Kubernetes lets there be one at most. */
export function controllerOf({ metadata }: KubernetesObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}
