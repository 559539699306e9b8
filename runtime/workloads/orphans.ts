/**
 * Pods that outlive their Job (`kubectl delete --cascade=orphan`). They keep the grant of the Job until they end, and no
 * Job controller ends them at its deadline any more, so each gets the rest of the walltime as a deadline of its own, which
 * the kubelet enforces.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { pods as podsPath } from '../kubernetes/paths';
import type { Pod } from '../kubernetes/types';
import { applyPatch } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import { isTerminal, secondsOf } from './adapter';
import { isOrphaned } from './pod';

export interface OrphansOptions {
  readonly client: KubernetesClient;
  /** Unix seconds. */
  readonly now: () => number;
}

export async function limitOrphans(
  { client, now }: OrphansOptions,
  row: Pick<WorkloadRow, 'releasedAt' | 'walltime'>,
  pods: readonly Pod[],
): Promise<void> {
  for (const pod of pods) {
    if (!isOrphaned(pod) || isTerminal(pod) || pod.metadata.deletionTimestamp !== undefined) continue;
    // Until it starts, the rest of the walltime changes with each second.
    if (pod.status?.startTime === undefined && pod.spec.activeDeadlineSeconds !== undefined) continue;
    const value = deadlineOf(pod, (row.releasedAt ?? now()) + row.walltime, now());
    if (value >= (pod.spec.activeDeadlineSeconds ?? Number.POSITIVE_INFINITY)) continue;
    const { uid, namespace, name } = pod.metadata;
    const body = [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'add', path: '/spec/activeDeadlineSeconds', value },
    ];
    await applyPatch(client, podsPath(namespace, name), { type: 'json', body });
  }
}

/** The kubelet counts from the start of the pod. A pod that has not started does so soon. */
function deadlineOf({ status }: Pod, end: number, now: number): number {
  const start = status?.startTime === undefined ? now : secondsOf(status.startTime);
  return Math.max(1, Math.ceil(end - start));
}
