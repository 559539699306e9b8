/** When the objects of a MiniCluster are applied again. */
import type { Manifest } from './manifests';
import type { MiniCluster } from './resource';
import type { Rejection } from './status';
import type { Workload } from './workload';

/** What was applied last. */
export interface Applied {
  readonly manifests: readonly Manifest[];
  /** Unix seconds. */
  readonly at: number;
  readonly rejection: Rejection | undefined;
  /** How often the workload was created since the watch last showed it. */
  readonly unseen: number;
}

/** All objects are applied again after this time, which reverts changes by users. */
export const RESYNC_S = 300;
/** A rejected object may be accepted later: a quota grows, a policy changes. */
export const REJECTED_RETRY_S = 30;
const UNSEEN_FIRST_S = 5;
const UNSEEN_MOST_S = 60;
/** A workload outside the queue has no row, so no row change reports that its pods have nodes. */
const UNQUEUED_RESYNC_MS = 5_000;

/** Seconds until a workload is created again that the watch does not show: repetitions make a late watch later. */
export function unseenSeconds({ unseen }: Applied): number {
  return unseen === 0 ? 0 : Math.min(UNSEEN_MOST_S, UNSEEN_FIRST_S * 2 ** (unseen - 1));
}

export function resyncAfterMs(cluster: MiniCluster, workload: Workload, applied: Applied): number {
  if (applied.rejection !== undefined) return REJECTED_RETRY_S * 1000;
  if (workload.progress === undefined) return unseenSeconds(applied) * 1000;
  const { phase, jobid } = cluster.status ?? {};
  return phase === 'Waiting' && jobid === undefined ? UNQUEUED_RESYNC_MS : RESYNC_S * 1000;
}
