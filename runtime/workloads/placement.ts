/** How many pods of a row go to each node of its allocation, in the order of the allocation. */

import { askOf } from '../jobspec/jobspec';
import { type NodePods, podsPerNode } from '../jobspec/pods-per-node';
import type { WorkloadRow } from '../queue/types';

/** Empty while the row has no allocation. */
export function placementOf(row: Pick<WorkloadRow, 'allocation' | 'jobspec'>): readonly NodePods[] {
  return row.allocation === null ? [] : podsPerNode(row.allocation, askOf(row.jobspec));
}
