/** Workloads whose object is deleted, while their FluxJob tells of pods that keep what was granted. */
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { rfc3339 } from '../kubernetes/conditions';
import type { FluxJobObject } from '../kubernetes/custom-resources';
import type { KubernetesObject } from '../kubernetes/types';
import { secondsOf } from '../workloads/adapter';
import { podsLeft } from './pods-left';
import type { Asked } from './why';
import { liveObject } from './workload-names';

/** @returns nothing of a workload that is there, that holds nothing, or whose object its user may not read */
export async function deletionOf(
  client: KubernetesClient,
  { metadata: { namespace = '' }, spec: { workload }, status }: FluxJobObject,
): Promise<Pick<Asked, 'isNameInUse' | 'deletion'>> {
  if (status?.phase === 'Finished') return {};
  const object = await liveObject(client, namespace, workload);
  if (object === 'unknown') return {};
  const isOther = object !== undefined && object.metadata.uid !== workload.uid;
  if (isOther && object.metadata.labels?.[ADMITTED_LABEL] === 'true') return { isNameInUse: true };
  const at = isOther || object === undefined ? '' : deletedAt(object);
  if (at === undefined || (status?.phase !== 'Running' && status?.phase !== 'Ready')) return {};
  const subject = workload.kind === 'Pod' ? 'it' : `its ${workload.kind}`;
  const said = `${subject} was deleted${at}, and what was granted is charged until its pods have ended`;
  const remedy = (await podsLeft(client, namespace, workload.name))?.remedy;
  return { deletion: { said, ...(remedy !== undefined && { remedy }) } };
}

/** The apiserver writes when the grace period of the object ends. */
function deletedAt({ metadata }: KubernetesObject): string | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  return deletionTimestamp && ` at ${rfc3339(secondsOf(deletionTimestamp) - deletionGracePeriodSeconds)}`;
}
