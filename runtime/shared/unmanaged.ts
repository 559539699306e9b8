import type { Pod } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { NodeCache } from './node-cache';
import type { PodFacts } from './pod-facts';

export interface GrantFacts {
  readonly workloadCache: Pick<WorkloadCache, 'byUid'>;
  readonly podFacts: Pick<PodFacts, 'workloadUids' | 'belongsTo' | 'isOnGrant'>;
}

/** The workload that was granted units of the pod's node, and holds them. @returns undefined: the pod is unmanaged */
function grantOf(pod: Pod, { workloadCache, podFacts }: GrantFacts): WorkloadRow | undefined {
  return rowsOf(pod, { workloadCache, podFacts }).find((row) => podFacts.isOnGrant(pod, row));
}

/**
 * The workload that is charged for what the pod uses of its node: also where it was granted nothing there, as a pod that was created
 * while admission was not in force runs wherever kube-scheduler placed it. What is being deleted on a node that is not ready is given
 * up, and nobody answers for it.
 */
export function chargedFor(
  pod: Pod,
  facts: GrantFacts & { readonly nodes: Pick<NodeCache, 'isReady'> },
): WorkloadRow | undefined {
  const granted = grantOf(pod, facts);
  const { nodeName } = pod.spec;
  const isGivenUp =
    nodeName === undefined ||
    (pod.metadata.deletionTimestamp !== undefined && !facts.nodes.isReady(nodeName));
  if (granted !== undefined || isGivenUp) return granted;
  return rowsOf(pod, facts).find(({ allocation }) => allocation !== null);
}

function rowsOf(pod: Pod, { workloadCache, podFacts }: GrantFacts): readonly WorkloadRow[] {
  return podFacts.workloadUids(pod).flatMap((uid) => {
    const row = workloadCache.byUid(uid);
    return row !== undefined && podFacts.belongsTo(pod, row) ? [row] : [];
  });
}

/**
 * Whether the queue granted the pod no units of its node: it is outside the queue, or runs where its workload holds
 * nothing (any more).
 */
export function isUnmanaged(pod: Pod, facts: GrantFacts): boolean {
  return grantOf(pod, facts) === undefined;
}
