/** Whether the lost pod of a StatefulSet is made again: one that was scaled down or deleted makes no other of that name. */
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound } from '../kubernetes/errors';
import { namespaced } from '../kubernetes/paths';
import type { KubernetesObject, OwnerReference } from '../kubernetes/types';

interface StatefulSet extends KubernetesObject {
  readonly spec: { readonly replicas?: number; readonly ordinals?: { readonly start?: number } };
}

export type StatefulSetOwner = Pick<OwnerReference, 'name' | 'uid'>;

/** A pod. */
interface Named {
  readonly namespace: string;
  readonly name: string;
}

const statefulSets = namespaced('apps', 'v1', 'statefulsets');

/** @throws if the apiserver does not answer, or the right to ask is not given yet */
export async function makesAgain(
  client: Pick<KubernetesClient, 'get'>,
  { name, uid }: StatefulSetOwner,
  pod: Named,
): Promise<boolean> {
  return (await makerNamed(client, name, pod))?.uid === uid;
}

/**
 * The StatefulSet that makes a pod of this name, whoever made the one before.
 * @throws if the apiserver does not answer, or the right to ask is not given yet
 */
export async function makerOf(
  client: Pick<KubernetesClient, 'get'>,
  pod: Named,
): Promise<StatefulSetOwner | undefined> {
  const [, name] = /^(.+)-\d+$/.exec(pod.name) ?? [];
  return name === undefined ? undefined : makerNamed(client, name, pod);
}

async function makerNamed(
  client: Pick<KubernetesClient, 'get'>,
  name: string,
  pod: Named,
): Promise<StatefulSetOwner | undefined> {
  const set = await ifFound(client.get<StatefulSet>(statefulSets(pod.namespace, name)));
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return undefined;
  const { replicas = 1, ordinals: { start = 0 } = {} } = set.spec;
  const ordinal = Number(pod.name.slice(name.length + 1));
  return start <= ordinal && ordinal < start + replicas ? set.metadata : undefined;
}
