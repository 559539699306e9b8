/** CEL that refuses pods which would run in an enabled namespace without the queue. */
import type { GuardPart } from './guard-parts';
import { ASSIGNED_NODE } from './pod-mutation';
import { reserved } from './reserved';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  cel,
  celList,
  controllerUsers,
  HAS_ASSIGNMENT,
  NO_DAEMONSET,
  NO_MIRROR,
  NOT_BOUND,
} from './scope';

/** The DaemonSet controller has its own credentials or those of the controller manager. */
const DAEMONSET_CONTROLLERS = [
  'system:serviceaccount:kube-system:daemon-set-controller',
  'system:kube-controller-manager',
];

const BY_KUBELET = 'request.userInfo.username.startsWith("system:node:")';

/** CEL over each kind of pod that admission leaves alone: who may create it, and the sentence for others. */
const KINDS = [
  [
    `(${NO_MIRROR}) || ${BY_KUBELET}`,
    reserved(
      'metadata.annotations["kubernetes.io/config.mirror"]',
      'can only be set by a kubelet',
      'remove it',
    ),
  ],
  // Guards already allow an assignment only in pods that the Job controller made of a released Job. A Job may have been granted fewer
  // nodes than it has pods.
  [
    `(${NOT_BOUND}) || ${BY_KUBELET} || (${HAS_ASSIGNMENT} && variables.node == object.spec.nodeName)`,
    reserved('spec.nodeName', 'would pass the queue by', 'use a nodeSelector instead'),
  ],
  [
    `(${NO_DAEMONSET}) || request.userInfo.username in ${celList(DAEMONSET_CONTROLLERS)}`,
    reserved(
      'metadata.ownerReferences',
      'only the DaemonSet controller creates pods of a DaemonSet',
      'remove the owner',
    ),
  ],
] as const;

/**
 * Admission leaves alone what is bound, mirrors a static pod, or belongs to a DaemonSet. So only those may create such a pod
 * whose pods they are: the kubelet, the DaemonSet controller, and the Job controller for a released Job. A cluster
 * administrator may do everything.
 */
export function bypassPart(props: AdmissionScopeProps & ControllerUserProps): GuardPart {
  const sentence = KINDS.map(([allowed, text]) => `!(${allowed}) ? ${cel(text)} : `).join('');
  return {
    name: 'bypass',
    when: `oldObject == null && !((${NOT_BOUND}) && (${NO_MIRROR}) && (${NO_DAEMONSET}))`,
    variables: ASSIGNED_NODE,
    problem:
      `request.userInfo.username in ${celList(controllerUsers(props))} || ` +
      `"system:masters" in request.userInfo.?groups.orValue([]) ? "" : ${sentence}""`,
  };
}
