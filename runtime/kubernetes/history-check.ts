/**
 * Whether what a watch knows is still the history of the apiserver. After etcd was restored from a backup it is not: objects are
 * as they were, and versions are given a second time. A watch from a version of the future would be silent until that comes.
 */
import type { KubernetesClient } from './client';
import type { Selection } from './query';
import type { KubernetesObject } from './types';
import { isBefore } from './versions';

/** What a reflector knew last. */
export interface Known {
  readonly resourceVersion: string;
  /** The object of the highest version. @default - it knows none */
  readonly newest?:
    | { readonly key: string; readonly uid: string; readonly resourceVersion: string }
    | undefined;
}

/** One request, for the newest object that is known. An object that is gone proves nothing, and is taken for the worse. */
export async function isSameHistory(
  client: Pick<KubernetesClient, 'list'>,
  path: string,
  { labelSelector, fieldSelector }: Selection,
  { resourceVersion, newest }: Known,
): Promise<boolean> {
  const [name = '', namespace] = (newest?.key ?? '').split('/').toReversed();
  const named = newest === undefined ? [] : [`metadata.name=${name}`];
  const fields = [...(fieldSelector === undefined ? [] : [fieldSelector]), ...named].join(',');
  const { items, metadata } = await client.list<KubernetesObject>(within(path, namespace), {
    limit: 1,
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fields !== '' && { fieldSelector: fields }),
  });
  if (isBefore(metadata.resourceVersion, resourceVersion)) return false;
  if (newest === undefined) return true;
  const found = items.find(({ metadata: { uid } }) => uid === newest.uid);
  return found !== undefined && !isBefore(found.metadata.resourceVersion, newest.resourceVersion);
}

/** In a namespace the apiserver finds the name at once. */
function within(path: string, namespace: string | undefined): string {
  if (namespace === undefined || path.includes(`/namespaces/${namespace}/`)) return path;
  const resource = path.slice(path.lastIndexOf('/'));
  return `${path.slice(0, -resource.length)}/namespaces/${namespace}${resource}`;
}
