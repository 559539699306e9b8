/** CEL that refuses pods which would run in an enabled namespace without the queue. */
import { cel, celList, HAS_ASSIGNMENT, type MatchCondition } from './scope';
import type { Validation } from './settings';

interface BypassRules {
  readonly matchConditions: readonly MatchCondition[];
  readonly validations: readonly Validation[];
}

const MIRROR = 'kubernetes.io/config.mirror';
/** The DaemonSet controller has its own credentials or those of the controller manager. */
const DAEMONSET_CONTROLLERS = [
  'system:serviceaccount:kube-system:daemon-set-controller',
  'system:kube-controller-manager',
];

const IS_BOUND = 'object.spec.?nodeName.orValue("") != ""';
const IS_MIRROR = `${cel(MIRROR)} in object.metadata.?annotations.orValue({})`;
const OF_DAEMONSET =
  'object.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false) && ' +
  'owner.kind == "DaemonSet" && owner.apiVersion.startsWith("apps/"))';
const BY_KUBELET = 'request.userInfo.username.startsWith("system:node:")';

/**
 * Admission leaves alone what is bound, mirrors a static pod, or belongs to a DaemonSet. So only those may create such a pod
 * whose pods they are: the kubelet, the DaemonSet controller, and the Job controller for a released Job. A cluster
 * administrator may do everything.
 */
export const BYPASS_GUARD: BypassRules = {
  matchConditions: [
    { name: 'passes-the-queue-by', expression: `(${IS_BOUND}) || (${IS_MIRROR}) || ${OF_DAEMONSET}` },
    {
      name: 'not-an-administrator',
      expression: '!("system:masters" in request.userInfo.?groups.orValue([]))',
    },
  ],
  validations: [
    {
      expression: `!(${IS_MIRROR}) || ${BY_KUBELET}`,
      message: refused(`metadata.annotations["${MIRROR}"]`, 'can only be set by a kubelet', 'remove it'),
    },
    {
      // Guards already allow an assignment only in pods that the Job controller made of a released Job.
      expression: `!(${IS_BOUND}) || ${BY_KUBELET} || (${HAS_ASSIGNMENT})`,
      message: refused('spec.nodeName', 'would pass the queue by', 'use a nodeSelector instead'),
    },
    {
      expression: `!(${OF_DAEMONSET}) || request.userInfo.username in ${celList(DAEMONSET_CONTROLLERS)}`,
      message: refused(
        'metadata.ownerReferences',
        'only the DaemonSet controller creates pods of a DaemonSet',
        'remove the owner',
      ),
    },
  ],
};

function refused(field: string, problem: string, remedy: string): string {
  return `FLUXQ_RESERVED: ${field}: ${problem}; ${remedy}`;
}
