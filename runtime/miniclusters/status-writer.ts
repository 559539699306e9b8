/** Writes the status of a MiniCluster where it changed, and tells what of it is news. */
import { isDeepStrictEqual } from 'node:util';
import type { MiniClusterStatus } from '../../imports/flux-framework.org-status';
import type { KubernetesClient } from '../kubernetes/client';
import type { EventNote } from '../kubernetes/events';
import { mergePatchOf } from '../kubernetes/merge-patch';
import { applyPatch } from '../kubernetes/writes';
import { type MiniCluster, miniClusters } from './resource';

export interface ReportOptions {
  readonly client: KubernetesClient;
  readonly recordEvent: (cluster: MiniCluster, news: EventNote) => void;
}

/**
 * @param cluster with its status as it is known to stand
 * @returns whether the status stands there now
 */
export async function report(
  cluster: MiniCluster,
  status: MiniClusterStatus,
  { client, recordEvent }: ReportOptions,
): Promise<boolean> {
  const before = cluster.status ?? {};
  if (isDeepStrictEqual(before, status)) return true;
  const { name, namespace, uid } = cluster.metadata;
  const body = { metadata: { uid }, status: mergePatchOf(before, status) };
  const outcome = await applyPatch(client, miniClusters(namespace, name, 'status'), { type: 'merge', body });
  if (outcome !== 'done') return false;
  for (const news of newsOf(before, status)) recordEvent(cluster, news);
  return true;
}

/** What its user learns of: trouble, brokers that came up, a change of size, the end. */
export function newsOf(before: MiniClusterStatus, after: MiniClusterStatus): EventNote[] {
  const news: EventNote[] = [];
  const stalled = conditionOf(after, 'Stalled');
  const isNew = stalled?.message !== conditionOf(before, 'Stalled')?.message;
  if (after.phase === 'Finished') {
    if (before.phase !== 'Finished') news.push(endOf(after));
  } else if (stalled?.status === 'True' && isNew) {
    news.push({ type: 'Warning', reason: stalled.reason, message: stalled.message });
  }
  if (after.startTime !== undefined && before.startTime === undefined && after.phase === 'Running')
    news.push({ type: 'Normal', reason: 'BrokersUp', message: conditionOf(after, 'Ready')!.message });
  return news;
}

function endOf(status: MiniClusterStatus): EventNote {
  const { reason, message } = conditionOf(status, 'JobFinished')!;
  return { type: status.result === 'Succeeded' ? 'Normal' : 'Warning', reason, message };
}

function conditionOf({ conditions = [] }: MiniClusterStatus, wanted: string) {
  return conditions.find(({ type }) => type === wanted);
}
