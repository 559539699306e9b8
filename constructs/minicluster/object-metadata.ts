import { USER_ANNOTATION } from '../api/labels';
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

/** Annotations of pods from the spec, in which nobody can name the user for whom they count. */
export function podAnnotations({ spec }: ClusterContext): Readonly<Record<string, string>> {
  const { [USER_ANNOTATION]: _, ...annotations } = spec.pod.annotations ?? {};
  return annotations;
}

/** The annotation of the user who created the MiniCluster, as admission noted it. */
export function userAnnotation({ resource }: ClusterContext): Readonly<Record<string, string>> {
  const user = resource.metadata.annotations?.[USER_ANNOTATION];
  return user === undefined ? {} : { [USER_ANNOTATION]: user };
}
