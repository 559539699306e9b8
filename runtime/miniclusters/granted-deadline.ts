/**
 * The deadline of a MiniCluster whose Job runs. The controller writes that Job, so no guard of admission keeps what was granted:
 * an edit of the MiniCluster may end it earlier, and never later.
 */
import type { ManifestObject } from '../../constructs/minicluster/index';
import type { MiniCluster } from './resource';
import type { Rejection } from './status';
import type { Progress } from './workload-status';

const deadlineOf = ({ spec }: ManifestObject) =>
  (spec as { readonly activeDeadlineSeconds?: number }).activeDeadlineSeconds;

/** Applying the deadline of the MiniCluster, or none, would overwrite what the queue granted. */
export function withinGrant(
  job: ManifestObject,
  { grantedDeadline }: Partial<Progress> = {},
): ManifestObject {
  if (grantedDeadline === undefined) return job;
  const { seconds, most, own } = grantedDeadline;
  const wanted = deadlineOf(job);
  const isEarlier = wanted !== undefined && wanted !== own && wanted <= most;
  const activeDeadlineSeconds = isEarlier ? wanted : seconds;
  return { ...job, spec: { ...(job.spec as object), activeDeadlineSeconds } };
}

/** @param rendered the manifests of the whole spec */
export function laterDeadline(
  { spec }: MiniCluster,
  rendered: readonly ManifestObject[],
  { grantedDeadline }: Partial<Progress> = {},
): Rejection | undefined {
  const job = rendered.find(({ kind }) => kind === 'Job');
  if (grantedDeadline === undefined || job === undefined) return undefined;
  const { most, own } = grantedDeadline;
  const wanted = deadlineOf(job);
  if (wanted === own || (wanted ?? Number.POSITIVE_INFINITY) <= most) return undefined;
  const field = wanted === undefined || wanted === spec.deadlineSeconds ? 'deadlineSeconds' : 'walltime';
  return {
    reason: 'DeadlineFixed',
    message:
      `spec.${field}: must be at most ${most}s, which the queue granted at the start of the Job ` +
      `(got ${wanted === undefined ? 'none' : `${wanted}s`}); it has no effect until the MiniCluster starts again: ` +
      'suspend it and let it go on, or delete and recreate it, to let it run longer',
  };
}
