import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadKey } from './workload-key';

/** What the watches have to know about a pod. The workloads area implements it. */
export interface PodFacts {
  /** The uid of the workload that the pod belongs to: its Job's, or its own. */
  workloadUid(pod: Pod): string;
  /** The workload that has to be reconciled when the pod changes; undefined if no Job and no queued pod is concerned. */
  workloadKey(pod: Pod): WorkloadKey | undefined;
  /** The node whose units the pod uses; undefined if it is not bound to a node or has finished. */
  usedNode(pod: Pod): string | undefined;
  /** Whether the pod uses a node that its workload holds now. */
  isOnGrant(pod: Pod, row: Pick<WorkloadRow, 'allocation'>): boolean;
}
