/** Which free place of an allocation each gated pod takes. Pure. */
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { isTerminal } from './adapter';
import { placementOf } from './assignment';
import { placeOf } from './pod';

/**
 * @param pods all pods of the workload
 * @param gated those that wait for a place
 * @returns at most as many as there are places; the others wait for a pod to end
 */
export function nodesForGated(
  row: WorkloadRow,
  pods: readonly Pod[],
  gated: readonly Pod[],
): readonly { readonly pod: Pod; readonly node: string }[] {
  const waiting = new Set(gated);
  const live = byPlace(pods.filter((pod) => !waiting.has(pod) && !isTerminal(pod)));
  const succeeded = byPlace(pods.filter(({ status }) => status?.phase === 'Succeeded'));
  const places = placementOf(row).map(({ node, pods: all }) => {
    const free = Math.max(0, all - (live.get(node) ?? 0));
    return { node, free, unused: Math.max(0, free - (succeeded.get(node) ?? 0)) };
  });
  // Where pods have succeeded the node may be given back at once (`doneOn` of the adapter): those places are the last.
  const free = [
    ...places.flatMap(({ node, unused }) => Array<string>(unused).fill(node)),
    ...places.flatMap(({ node, free: all, unused }) => Array<string>(all - unused).fill(node)),
  ];
  return gated.slice(0, free.length).map((pod, i) => ({ pod, node: free[i]! }));
}

function byPlace(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const node of pods.map(placeOf)) if (node !== undefined) counts.set(node, (counts.get(node) ?? 0) + 1);
  return counts;
}
