import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { PodFacts } from './pod-facts';

export interface GrantFacts {
  readonly workloadCache: Pick<WorkloadCache, 'byUid'>;
  readonly podFacts: Pick<PodFacts, 'workloadUids' | 'belongsTo' | 'isOnGrant'>;
}

/** The workload that was granted units of the pod's node, and holds them. @returns undefined: the pod is unmanaged */
export function grantOf(pod: Pod, { workloadCache, podFacts }: GrantFacts): WorkloadRow | undefined {
  for (const uid of podFacts.workloadUids(pod)) {
    const row = workloadCache.byUid(uid);
    if (row !== undefined && podFacts.belongsTo(pod, row) && podFacts.isOnGrant(pod, row)) return row;
  }
  return undefined;
}

/**
 * Whether the queue granted the pod no units of its node: it is outside the queue, or runs where its workload holds
 * nothing (any more).
 */
export function isUnmanaged(pod: Pod, facts: GrantFacts): boolean {
  return grantOf(pod, facts) === undefined;
}
