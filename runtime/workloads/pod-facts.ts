/** Which workload a pod belongs to, and which node it uses. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
} from '../../constructs/api/labels';
import { controllerOf } from '../kubernetes/owner';
import type { Pod } from '../kubernetes/types';
import type { Allocation } from '../resources/types';
import type { PodFacts } from '../shared/pod-facts';
import { isTerminal, namesOf } from './adapter';
import { isBeyondAssignment } from './assignment';

export const podFacts: PodFacts = {
  workloadUid(pod) {
    const owner = controllerOf(pod);
    return owner?.kind === 'Job' && !isQueuedPod(pod) ? owner.uid : pod.metadata.uid;
  },

  workloadKey(pod) {
    const { namespace = '', name } = pod.metadata;
    if (isQueuedPod(pod)) return { kind: 'Pod', namespace, name };
    const owner = controllerOf(pod);
    return owner?.kind === 'Job' ? { kind: 'Job', namespace, name: owner.name } : undefined;
  },

  usedNode(pod) {
    return isTerminal(pod) ? undefined : pod.spec.nodeName;
  },

  isOnGrant({ spec: { nodeName } }, { allocation }) {
    return allocation !== null && nodeName !== undefined && grantedNodes(allocation).has(nodeName);
  },
};

/** A large gang asks this of each of its pods in every pass. */
const namesOfAllocation = new WeakMap<Allocation, ReadonlySet<string>>();

function grantedNodes(allocation: Allocation): ReadonlySet<string> {
  const names = namesOfAllocation.get(allocation) ?? new Set(namesOf(allocation.nodes));
  namesOfAllocation.set(allocation, names);
  return names;
}

/** Whether admission took in the pod itself. A pod of a released Job is none, unless it is beyond the Job's gang. */
function isQueuedPod({ metadata: { labels, annotations } }: Pod): boolean {
  const assignment = annotations?.[ASSIGNMENT_ANNOTATION];
  return (
    labels?.[ADMITTED_LABEL] === 'true' &&
    (assignment === undefined ||
      isBeyondAssignment(assignment, Number(annotations?.[COMPLETION_INDEX_ANNOTATION])))
  );
}
