/** Pods that were asked to end, hold what was granted to their workload, and do not end. */

import { ADMITTED_LABEL, JOBID_ANNOTATION } from '../../../constructs/api/labels';
import { forcedEnd } from '../../../constructs/api/lingering';
import type { Pod } from '../../kubernetes/types';
import { isLingering } from '../../workloads/lingering';
import { type Context, counted, type Finding, listed, warning } from './finding';
import { podsOfQueue } from './namespaces';

/** Where all pods end there is nothing to look at. */
export async function checkLingering(context: Context): Promise<readonly Finding[]> {
  const seconds = context.now / 1000;
  const pods = await podsOfQueue(context);
  const stuck = pods.filter((pod) => isGranted(pod) && isLingering(pod, seconds));
  const [first] = stuck;
  if (first === undefined) return [];
  const shown = stuck.map(
    ({ metadata, spec }) => `${metadata.namespace}/${metadata.name} on ${spec.nodeName}`,
  );
  return [
    warning(
      `${counted(stuck.length, 'pod')} ${stuck.length === 1 ? 'does not end and keeps' : 'do not end and keep'} what was granted: ${listed(shown)}`,
      `look at each of them; if ${forcedEnd(first.metadata.namespace!, first.metadata.name)}`,
    ),
  ];
}

/** Whether it was released by the queue, for a workload or as one: what is bound is gated no more. */
function isGranted({ metadata: { annotations, labels } }: Pod): boolean {
  return annotations?.[JOBID_ANNOTATION] !== undefined || labels?.[ADMITTED_LABEL] === 'true';
}
