/** Evicts pods, as `kubectl drain` does. */
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { pods as podPath } from '../kubernetes/paths';
import type { Pod } from '../kubernetes/types';
import { isTerminal } from './adapter';
import { inBatches } from './batches';
import { isGated } from './pod';

/**
 * gone: the pod is gone, or another one has its name. refused: a PodDisruptionBudget keeps it, or its namespace has left the queue,
 * where a policy lets the controller evict nothing.
 */
export type EvictionOutcome = 'done' | 'gone' | 'refused';

/** Those that run or may run. What is refused is tried again by the next reconcile. */
export async function evictPods(client: KubernetesClient, pods: readonly Pod[]): Promise<void> {
  const running = pods.filter(
    (pod) => !isTerminal(pod) && !isGated(pod) && pod.metadata.deletionTimestamp === undefined,
  );
  await inBatches(running, (pod) => evictPod(client, pod));
}

export async function evictPod(
  client: KubernetesClient,
  { metadata: { name, namespace, uid } }: Pick<Pod, 'metadata'>,
): Promise<EvictionOutcome> {
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid } },
  };
  try {
    await client.create(podPath(namespace, name, 'eviction'), body);
    return 'done';
  } catch (error) {
    if (isStatus(error, 429) || isStatus(error, 422)) return 'refused';
    if (isStatus(error, 404) || isStatus(error, 409)) return 'gone';
    throw error;
  }
}
