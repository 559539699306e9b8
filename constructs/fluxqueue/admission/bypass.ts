/** CEL that refuses pods which would run in an enabled namespace without the queue. */
import { reserved } from './reserved';
import { celList, HAS_ASSIGNMENT, type MatchCondition, NO_DAEMONSET, NO_MIRROR, NOT_BOUND } from './scope';
import type { Validation } from './settings';

interface BypassRules {
  readonly matchConditions: readonly MatchCondition[];
  readonly validations: readonly Validation[];
}

/** The DaemonSet controller has its own credentials or those of the controller manager. */
const DAEMONSET_CONTROLLERS = [
  'system:serviceaccount:kube-system:daemon-set-controller',
  'system:kube-controller-manager',
];

const BY_KUBELET = 'request.userInfo.username.startsWith("system:node:")';

/**
 * Admission leaves alone what is bound, mirrors a static pod, or belongs to a DaemonSet. So only those may create such a pod
 * whose pods they are: the kubelet, the DaemonSet controller, and the Job controller for a released Job. A cluster
 * administrator may do everything.
 */
export const BYPASS_GUARD: BypassRules = {
  matchConditions: [
    { name: 'passes-the-queue-by', expression: `!((${NOT_BOUND}) && (${NO_MIRROR}) && (${NO_DAEMONSET}))` },
    {
      name: 'not-an-administrator',
      expression: '!("system:masters" in request.userInfo.?groups.orValue([]))',
    },
  ],
  validations: [
    {
      expression: `(${NO_MIRROR}) || ${BY_KUBELET}`,
      message: reserved(
        'metadata.annotations["kubernetes.io/config.mirror"]',
        'can only be set by a kubelet',
        'remove it',
      ),
    },
    {
      // Guards already allow an assignment only in pods that the Job controller made of a released Job.
      expression: `(${NOT_BOUND}) || ${BY_KUBELET} || (${HAS_ASSIGNMENT})`,
      message: reserved('spec.nodeName', 'would pass the queue by', 'use a nodeSelector instead'),
    },
    {
      expression: `(${NO_DAEMONSET}) || request.userInfo.username in ${celList(DAEMONSET_CONTROLLERS)}`,
      message: reserved(
        'metadata.ownerReferences',
        'only the DaemonSet controller creates pods of a DaemonSet',
        'remove the owner',
      ),
    },
  ],
};
