/** Which free place of an allocation each gated pod takes. Pure. */
import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/types';
import { isTerminal } from '../workloads/adapter';
import { placementOf } from '../workloads/placement';
import { placeOf } from '../workloads/pod';

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
  const taken = new Map<string, number>();
  for (const pod of pods) {
    const node = waiting.has(pod) || isTerminal(pod) ? undefined : placeOf(pod);
    if (node !== undefined) taken.set(node, (taken.get(node) ?? 0) + 1);
  }
  const free = placementOf(row).flatMap(({ node, pods: places }) =>
    Array<string>(Math.max(0, places - (taken.get(node) ?? 0))).fill(node),
  );
  return gated.slice(0, free.length).map((pod, i) => ({ pod, node: free[i]! }));
}
