import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import { placementOf } from './assignment';
import { assignedNode } from './pod';
import { tally } from './tally';

interface PlacedPods {
  /** Of the grant. */
  readonly succeeded: readonly Pod[];
  readonly live: readonly Pod[];
}

/** Granted nodes whose places have all had a pod that succeeded, and that no pod uses. One that failed may be made again. */
export function succeededNodes(row: WorkloadRow, { succeeded, live }: PlacedPods): readonly string[] {
  const ended = tally(succeeded.map(assignedNode));
  const used = new Set(live.map(assignedNode));
  return placementOf(row)
    .filter(({ node, pods }) => (ended.get(node) ?? 0) >= pods && !used.has(node))
    .map(({ node }) => node);
}
