/** Deletes objects that a MiniCluster no longer needs: services that were removed from its spec. */
import type { KubernetesClient } from '../kubernetes/client';
import type { KubernetesObject } from '../kubernetes/types';
import { deleteObject } from '../kubernetes/writes';
import { type Manifest, pathOf } from './manifests';
import type { MiniCluster } from './resource';

/** An object that a change of the spec can make superfluous. */
export interface OwnedObject extends KubernetesObject {
  readonly kind: 'Service' | 'Deployment';
}

const API_VERSION: Readonly<Record<OwnedObject['kind'], string>> = { Service: 'v1', Deployment: 'apps/v1' };

/** @param objects the owned objects, as the watch last delivered them */
export async function prune(
  client: KubernetesClient,
  { metadata: { uid, namespace = '' } }: MiniCluster,
  manifests: readonly Manifest[],
  objects: readonly OwnedObject[],
): Promise<void> {
  const desired = new Set(manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  for (const { kind, metadata } of objects) {
    if (desired.has(`${kind}/${metadata.name}`) || metadata.deletionTimestamp !== undefined) continue;
    if (!metadata.ownerReferences?.some((owner) => owner.uid === uid)) continue;
    await deleteObject(client, pathOf({ apiVersion: API_VERSION[kind], kind, metadata }, namespace), {
      uid: metadata.uid,
      propagationPolicy: 'Background',
    });
  }
}
