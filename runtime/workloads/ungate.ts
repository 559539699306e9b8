/** Chooses a node of the allocation for each gated pod. */
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { isTerminal } from './adapter';
import { placementOf } from './assignment';
import { assignedNode } from './pod';

/**
 * Gives gated pods the free slots of the allocation. Gated pods for which no slot is free wait until a pod ends.
 * @param pods all pods of the workload
 * @param gated the gated ones among them
 */
export function nodesForGatedPods(
  row: WorkloadRow,
  pods: readonly Pod[],
  gated: readonly Pod[],
): readonly { readonly pod: Pod; readonly node: string }[] {
  const waiting = new Set(gated);
  const live = countByNode(pods.filter((pod) => !waiting.has(pod) && !isTerminal(pod)));
  const succeeded = countByNode(pods.filter(({ status }) => status?.phase === 'Succeeded'));
  const slots = placementOf(row).map(({ node, pods: all }) => {
    const free = Math.max(0, all - (live.get(node) ?? 0));
    return { node, free, unused: Math.max(0, free - (succeeded.get(node) ?? 0)) };
  });
  // A node on which pods have succeeded may be freed at once (`finishedNodes` of the adapter), so its slots come last.
  const free = [
    ...slots.flatMap(({ node, unused }) => Array<string>(unused).fill(node)),
    ...slots.flatMap(({ node, free: all, unused }) => Array<string>(all - unused).fill(node)),
  ];
  return gated.slice(0, free.length).map((pod, i) => ({ pod, node: free[i]! }));
}

function countByNode(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const node of pods.map(assignedNode))
    if (node !== undefined) counts.set(node, (counts.get(node) ?? 0) + 1);
  return counts;
}
