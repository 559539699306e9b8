/** The start of the first container of a grant, from which its walltime counts, and what it means for its deadline. */
import type { KubernetesClient } from '../kubernetes/client';
import type { EventNote } from '../kubernetes/events';
import { pods as podPath } from '../kubernetes/paths';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch } from '../kubernetes/writes';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import { type ActiveWorkload, firstStartTime, type WorkloadAdapter } from './adapter';
import { inBatches } from './batches';
import { scheduledNote } from './events';
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

interface StartOptions {
  readonly workloadCache: Pick<WorkloadCache, 'running' | 'byUid'>;
  readonly nodes: NodeView;
  readonly recordEvent: (object: KubernetesObject, adapter: WorkloadAdapter, event: EventNote) => void;
  /** Whether many workloads start and end at this moment. */
  readonly isBusy: () => boolean;
  readonly logger: DecisionLogger;
  /** Unix seconds. */
  readonly now: () => number;
}

/** Records that the first pods run. A workload that has finished meanwhile also gets its start time. */
export async function recordStart(
  { workloadCache, nodes, recordEvent, isBusy, logger, now }: StartOptions,
  { object, adapter, row, pods }: ActiveWorkload,
): Promise<WorkloadRow> {
  if (row.phase !== 'Ready') return row;
  const started = startedPods(pods, row, nodes);
  if (started.length === 0) return row;
  const first = firstStartTime(started, now());
  // Kubernetes truncates times to seconds: a start is never before its grant.
  const running = await workloadCache.running(row.uid, Math.max(first, row.allocatedAt ?? 0));
  if (running !== undefined) {
    logDecision(logger, row, 'started', { startedAt: running.startedAt });
    const note = scheduledNote(row, { now: now(), isBusy: isBusy() });
    if (note !== undefined) recordEvent(object, adapter, note);
  }
  return workloadCache.byUid(row.uid) ?? row;
}

/** Writes what ends a workload at its walltime, once that is due. */
export async function enforceWalltime(
  client: KubernetesClient,
  { object, adapter, row }: ActiveWorkload,
  now: number,
): Promise<ReconcileResult> {
  const { patch, ofPods = [], after } = adapter.walltimeEnd(object, row, now);
  if (patch !== undefined) await applyPatch(client, adapter.path(row.namespace, row.name), patch);
  const failed: unknown[] = [];
  const lower = ({ pod, patch: own }: (typeof ofPods)[number]) =>
    applyPatch(client, podPath(row.namespace, pod.metadata.name), own).catch((error) => failed.push(error));
  await inBatches(ofPods, lower);
  // One that is refused keeps no other from its end.
  if (failed.length > 0) throw failed[0];
  return after === undefined ? undefined : { after };
}
