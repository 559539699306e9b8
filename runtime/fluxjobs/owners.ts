/** Who owns a FluxJob: with its last owner the garbage collector deletes it. */
import type { KubernetesObject, OwnerReference } from '../kubernetes/types';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadAdapter } from '../workloads/adapter';
import { POD_GROUP } from '../workloads/pod-group';

/** More of them make a large object of each FluxJob, and say nothing more. */
const MOST_OWNERS = 16;

/**
 * The workload; of a group its first pods, because a group is no object. While it is active, its FluxJob is made again should all of
 * these be replaced.
 */
export function ownersOf(
  { kind, name, uid }: Pick<WorkloadRow, 'kind' | 'name' | 'uid'>,
  adapter: WorkloadAdapter,
  object: KubernetesObject | undefined,
): readonly OwnerReference[] {
  const members = object && adapter.membersOf(object);
  if (members !== undefined)
    return members.slice(0, MOST_OWNERS).map(({ metadata }) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      name: metadata.name,
      uid: metadata.uid,
      controller: false,
      blockOwnerDeletion: false,
    }));
  if (kind === POD_GROUP) return [];
  const { apiVersion } = adapter;
  return [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: false }];
}
