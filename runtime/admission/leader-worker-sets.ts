/** The group of a pod of a LeaderWorkerSet. constructs/fluxqueue/admission/leader-worker-sets.ts has the same rule. */
import { GROUP, GROUP_SIZE } from '../../constructs/api/labels';
import {
  LWS_LEADER_INDEX,
  LWS_NAME_LABEL,
  LWS_SIZE_ANNOTATION,
  LWS_WORKER_LABEL,
} from '../../constructs/api/leader-worker-set';
import type { Metadata } from './review';
import { carriesUser, type UserOptions } from './user';

/**
 * The annotations that make the pod a member of the group of its leader; none for other pods. The group has the name of its leader,
 * which is also that of the StatefulSet of the workers, so nobody else in the namespace has a leader or workers of that name.
 * @param username the user who creates the pod
 */
export function leaderWorkerGroup(
  metadata: Metadata = {},
  username: string,
  options: UserOptions,
): Readonly<Record<string, string>> {
  const { labels = {}, annotations = {}, ownerReferences = [] } = metadata;
  const size = annotations[LWS_SIZE_ANNOTATION];
  if (labels[LWS_NAME_LABEL] === undefined || size === undefined) return {};
  const set = ownerReferences.find(
    ({ apiVersion, kind, controller }) =>
      controller === true && `${apiVersion}/${kind}` === 'apps/v1/StatefulSet',
  );
  // Labels say nothing of a pod that no StatefulSet makes.
  if (set === undefined || !carriesUser(metadata, username, options)) return {};
  const isLeader = labels[LWS_WORKER_LABEL] === LWS_LEADER_INDEX;
  return { [GROUP]: isLeader ? (metadata.name ?? '') : set.name, [GROUP_SIZE]: size };
}
