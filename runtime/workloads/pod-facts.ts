/** Which workload a pod belongs to, and which node it uses. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  OWNER_ANNOTATION,
} from '../../constructs/api/labels';
import { controllerOf } from '../kubernetes/owner';
import type { Pod } from '../kubernetes/types';
import type { Allocation } from '../resources/types';
import type { PodFacts } from '../shared/pod-facts';
import { isTerminal, namesOf } from './adapter';
import { isBeyondAssignment } from './assignment';
import { groupOf, isGroupUid, type Membership, membershipOf } from './group-member';
import { belongsToGrant, isOrphaned } from './pod';
import { assembleGroup, isOfGroup, POD_GROUP } from './pod-group';
import { deploymentsOf } from './rollout';

export const podFacts: PodFacts = {
  workloadUids(pod) {
    const owner = ownerIn(pod);
    const uid = jobOf(pod)?.uid ?? membershipIn(pod)?.uid ?? pod.metadata.uid;
    return owner === undefined || owner.uid === uid ? [uid] : [owner.uid, uid];
  },

  owner: ownerIn,

  group(pod) {
    const name = groupOf(pod);
    return name === undefined ? undefined : groupKey({ namespace: pod.metadata.namespace, name });
  },

  groupOf(workload) {
    return isGroupUid(workload.uid) ? groupKey(workload) : undefined;
  },

  assemble: assembleGroup,

  belongsTo(pod, { kind, namespace, name, uid, jobid }) {
    if (pod.metadata.uid === uid) return true;
    if ((pod.metadata.namespace ?? '') !== (namespace ?? '')) return false;
    const owner = ownerIn(pod);
    // Users write the owners of pods, so the uid may be that of any workload, which would keep its nodes for that pod.
    if (owner?.uid === uid && (owner.kind !== kind || owner.name !== (name ?? owner.name))) return false;
    if (isGroupUid(uid)) return groupOf(pod) !== undefined && isOfGroup(pod, uid);
    // Users can write the labels of an orphaned pod into a template, but not the job id.
    return !isOrphaned(pod) || (jobid !== undefined && belongsToGrant(pod, jobid));
  },

  workloadKey(pod) {
    const { namespace = '', name } = pod.metadata;
    const group = groupOf(pod);
    if (group !== undefined) return { kind: POD_GROUP, namespace, name: group };
    if (isQueuedPod(pod)) return { kind: 'Pod', namespace, name };
    const job = jobOf(pod);
    return job === undefined ? undefined : { kind: 'Job', namespace, name: job.name };
  },

  usedNode(pod) {
    return isTerminal(pod) ? undefined : pod.spec.nodeName;
  },

  deployments: deploymentsOf,

  isOnGrant({ spec: { nodeName } }, { allocation }) {
    return allocation !== null && nodeName !== undefined && grantedNodes(allocation).has(nodeName);
  },
};

function groupKey({
  namespace = '',
  name = '',
}: {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}): string {
  return `${namespace}/${name}`;
}

function membershipIn(pod: Pod): Membership | undefined {
  return groupOf(pod) === undefined ? undefined : membershipOf(pod);
}

/** The Job that the pod belongs to; undefined if the pod itself is a workload, or belongs to none. */
function jobOf(pod: Pod): { readonly uid: string; readonly name: string } | undefined {
  if (isQueuedPod(pod)) return undefined;
  const owner = controllerOf(pod);
  if (owner !== undefined) return owner.kind === 'Job' ? owner : undefined;
  const { [JOB_UID_LABEL]: uid, [JOB_NAME_LABEL]: name = '' } = pod.metadata.labels ?? {};
  return isOrphaned(pod) && uid !== undefined ? { uid, name } : undefined;
}

const owners = new WeakMap<Pod, { readonly owner: ReturnType<PodFacts['owner']> }>();

function ownerIn(pod: Pod): ReturnType<PodFacts['owner']> {
  const known = owners.get(pod);
  if (known !== undefined) return known.owner;
  // A pod has one place: that in its group, if it names one.
  const text = groupOf(pod) === undefined ? pod.metadata.annotations?.[OWNER_ANNOTATION] : undefined;
  const [kind, name, uid] = (text ?? '').split('/');
  const { namespace = '' } = pod.metadata;
  const owner = kind && name && uid ? { kind, namespace, name, uid } : undefined;
  owners.set(pod, { owner });
  return owner;
}

/** A large gang asks this of each of its pods in every pass. */
const namesOfAllocation = new WeakMap<Allocation, ReadonlySet<string>>();

function grantedNodes(allocation: Allocation): ReadonlySet<string> {
  const names = namesOfAllocation.get(allocation) ?? new Set(namesOf(allocation.nodes));
  namesOfAllocation.set(allocation, names);
  return names;
}

/** Whether admission took in the pod itself. A pod of a released Job is none, unless it is beyond the Job's gang. */
function isQueuedPod({ metadata: { labels, annotations } }: Pod): boolean {
  // An empty value is none to admission, too: anybody may write it.
  const assignment = annotations?.[ASSIGNMENT_ANNOTATION] ?? '';
  return (
    labels?.[ADMITTED_LABEL] === 'true' &&
    (assignment === '' || isBeyondAssignment(assignment, Number(annotations?.[COMPLETION_INDEX_ANNOTATION])))
  );
}
