/** The start of the first container of a grant, from which its walltime counts, and what a late one means for its deadline. */
import type { KubernetesClient } from '../kubernetes/client';
import type { Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import type { ActiveWorkload } from './adapter';
import { isLive, type NodeView } from './live-pods';
import { belongsToGrant } from './pod';
import { hasRun } from './pod-end';

/** Ignores pods from before a requeue: those that have ended and those on a node that no longer exists. */
export function startedPods(
  pods: readonly Pod[],
  { uid, jobid, releasedAt }: WorkloadRow,
  nodes: NodeView,
): readonly Pod[] {
  return pods.filter((pod) => {
    if (pod.metadata.uid === uid || belongsToGrant(pod, jobid)) return hasRun(pod);
    const { nodeName } = pod.spec;
    const isOnNode = nodeName !== undefined && nodes.exists(nodeName);
    return releasedAt !== null && pod.status?.phase === 'Running' && isOnNode && isLive(pod, nodes);
  });
}

/** Writes the deadline of a released workload again if its pods start so late that they would lose walltime. */
export async function allowForLateStart(
  client: KubernetesClient,
  { object, adapter, row }: ActiveWorkload,
  now: number,
): Promise<ReconcileResult> {
  const { patch, after } = adapter.lateDeadline(object, row, now);
  if (patch !== undefined) await applyPatch(client, adapter.path(row.namespace, row.name), patch);
  return after === undefined ? undefined : { after };
}
