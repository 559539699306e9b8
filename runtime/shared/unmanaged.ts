import type { Pod } from '../kubernetes/types';
import type { WorkloadCache } from '../queue/workload-cache';
import type { PodFacts } from './pod-facts';

export interface GrantFacts {
  readonly workloadCache: Pick<WorkloadCache, 'byUid'>;
  readonly podFacts: Pick<PodFacts, 'workloadUid' | 'belongsTo' | 'isOnGrant'>;
}

/**
 * Whether the queue granted the pod no units of its node: it is outside the queue, or runs where its workload holds
 * nothing (any more).
 */
export function isUnmanaged(pod: Pod, { workloadCache, podFacts }: GrantFacts): boolean {
  const row = workloadCache.byUid(podFacts.workloadUid(pod));
  return row === undefined || !podFacts.belongsTo(pod, row) || !podFacts.isOnGrant(pod, row);
}
