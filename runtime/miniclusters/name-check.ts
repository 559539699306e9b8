/** Finds out whether an object that a MiniCluster needs exists already and belongs to somebody else. */
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import type { KubernetesObject } from '../kubernetes/types';

export type NameHolder = 'nobody' | 'the cluster' | 'another';

/** The refusals for an object that no MiniCluster owns (constructs/fluxqueue/admission). */
const NOT_OWNED = /FLUXQ_RESERVED: metadata(\.ownerReferences)?: /;

/**
 * An empty patch that is not stored, because the controller may not read ConfigMaps. The policy that restricts the
 * controller refuses even that for an object that no MiniCluster owns. What else refuses it also refuses the object
 * itself, and says why.
 */
export async function holderOf(
  client: Pick<KubernetesClient, 'patch'>,
  path: string,
  clusterUid: string,
): Promise<NameHolder> {
  try {
    const options = { dryRun: true, metadataOnly: true };
    const { metadata } = await client.patch<KubernetesObject>(path, {}, 'merge', options);
    return metadata.ownerReferences?.some(({ uid }) => uid === clusterUid) ? 'the cluster' : 'another';
  } catch (error) {
    if (isStatus(error, 404)) return 'nobody';
    if (!isStatus(error, 422) && !isStatus(error, 403)) throw error;
    return NOT_OWNED.test(error.message) ? 'another' : 'the cluster';
  }
}
