import type { ClusterContext } from './context';
import type { ManifestObject } from './resource';

/** Metadata of the object with this name. */
export function objectMetadata(
  { resource, labels: own }: ClusterContext,
  name: string,
  labels = own,
): ManifestObject['metadata'] {
  const { namespace } = resource.metadata;
  return namespace === undefined ? { name, labels } : { name, labels, namespace };
}
