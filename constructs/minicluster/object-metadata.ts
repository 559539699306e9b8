import type { Parts } from './context';
import type { ManifestObject } from './resource';

/** Metadata of an object of this name. */
export function objectMetadata(
  { resource, labels: own }: Parts,
  name: string,
  labels = own,
): ManifestObject['metadata'] {
  const { namespace } = resource.metadata;
  return namespace === undefined ? { name, labels } : { name, labels, namespace };
}
