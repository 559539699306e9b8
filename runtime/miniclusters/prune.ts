/** Deletes what a MiniCluster consisted of and no longer does: services that were taken out of its spec. */
import type { KubernetesClient } from '../kubernetes/client';
import type { KubernetesObject } from '../kubernetes/types';
import { deleteObject } from '../kubernetes/writes';
import { type Manifest, pathOf } from './manifests';
import type { MiniCluster } from './resource';

/** An object of a kind that a cluster may have more or fewer of. */
export interface Part extends KubernetesObject {
  readonly kind: 'Service' | 'Deployment';
}

const API_VERSION: Readonly<Record<Part['kind'], string>> = { Service: 'v1', Deployment: 'apps/v1' };

/** @param parts as last seen: one that is not seen yet goes next time */
export async function prune(
  client: KubernetesClient,
  { metadata: { uid, namespace = '' } }: MiniCluster,
  manifests: readonly Manifest[],
  parts: readonly Part[],
): Promise<void> {
  const wanted = new Set(manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  for (const { kind, metadata } of parts) {
    if (wanted.has(`${kind}/${metadata.name}`) || metadata.deletionTimestamp !== undefined) continue;
    if (!metadata.ownerReferences?.some((owner) => owner.uid === uid)) continue;
    await deleteObject(client, pathOf({ apiVersion: API_VERSION[kind], kind, metadata }, namespace), {
      uid: metadata.uid,
      propagationPolicy: 'Background',
    });
  }
}
