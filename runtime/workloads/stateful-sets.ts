/** Whether the lost pod of a StatefulSet is made again: one that was scaled down or deleted makes no other of that name. */
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound } from '../kubernetes/errors';
import { namespaced } from '../kubernetes/paths';
import type { KubernetesObject, OwnerReference } from '../kubernetes/types';

interface StatefulSet extends KubernetesObject {
  readonly spec: { readonly replicas?: number; readonly ordinals?: { readonly start?: number } };
}

type Owner = Pick<OwnerReference, 'name' | 'uid'>;

const statefulSets = namespaced('apps', 'v1', 'statefulsets');

/** @throws if the apiserver does not answer, or the right to ask is not given yet */
export async function makesAgain(
  client: Pick<KubernetesClient, 'get'>,
  { name, uid }: Owner,
  pod: { readonly namespace: string; readonly name: string },
): Promise<boolean> {
  const set = await ifFound(client.get<StatefulSet>(statefulSets(pod.namespace, name)));
  if (set?.metadata.uid !== uid || set.metadata.deletionTimestamp !== undefined) return false;
  const { replicas = 1, ordinals: { start = 0 } = {} } = set.spec;
  const ordinal = Number(pod.name.slice(name.length + 1));
  return start <= ordinal && ordinal < start + replicas;
}
