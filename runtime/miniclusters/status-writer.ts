/** Writes the status of a MiniCluster if it changed, and records Events for important changes. */
import { isDeepStrictEqual } from 'node:util';
import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import type { KubernetesClient } from '../kubernetes/client';
import type { EventNote } from '../kubernetes/events';
import { mergePatchOf } from '../kubernetes/merge-patch';
import { applyPatch } from '../kubernetes/writes';
import { type MiniCluster, miniClusters } from './resource';

export interface StatusWriterOptions {
  readonly client: KubernetesClient;
  readonly recordEvent: (cluster: MiniCluster, event: EventNote) => void;
}

/**
 * @param cluster the cluster with its current status
 * @returns whether the apiserver has the new status
 */
export async function writeStatus(
  cluster: MiniCluster,
  status: MiniClusterStatus,
  { client, recordEvent }: StatusWriterOptions,
): Promise<boolean> {
  const before = cluster.status ?? {};
  if (isDeepStrictEqual(before, status)) return true;
  const { name, namespace, uid } = cluster.metadata;
  const body = { metadata: { uid }, status: mergePatchOf(before, status) };
  const outcome = await applyPatch(client, miniClusters(namespace, name, 'status'), { type: 'merge', body });
  if (outcome !== 'done') return false;
  for (const event of eventsOf(before, status)) recordEvent(cluster, event);
  return true;
}

/** Events for the user: the cluster stalls, its brokers are up for the first time, it finishes. */
export function eventsOf(before: MiniClusterStatus, after: MiniClusterStatus): EventNote[] {
  const events: EventNote[] = [];
  const stalled = conditionOf(after, 'Stalled');
  const hasChanged = stalled?.message !== conditionOf(before, 'Stalled')?.message;
  if (after.phase === 'Finished') {
    if (before.phase !== 'Finished') events.push(finishedEvent(after));
  } else if (stalled?.status === 'True' && hasChanged) {
    events.push({ type: 'Warning', reason: stalled.reason, message: stalled.message });
  }
  if (after.startTime !== undefined && before.startTime === undefined && after.phase === 'Running')
    events.push({ type: 'Normal', reason: 'BrokersUp', message: conditionOf(after, 'Ready')!.message });
  return events;
}

function finishedEvent(status: MiniClusterStatus): EventNote {
  const { reason, message } = conditionOf(status, 'JobFinished')!;
  return { type: status.result === 'Succeeded' ? 'Normal' : 'Warning', reason, message };
}

function conditionOf({ conditions = [] }: MiniClusterStatus, wanted: string) {
  return conditions.find(({ type }) => type === wanted);
}
