import { Construct } from 'constructs';
import { workloadKinds } from '../../api/workload-kinds';
import { addGuard, type GuardSpec } from './guard-policy';
import { kindReleaseGuard } from './kind-guards';
import { IS_MANAGED, MiniClusterCreation, reachTheSame } from './minicluster-creation';
import { MiniClusterMatch } from './minicluster-match';
import { isKind, MARKED, miniClusterChanges, miniClusterObjects } from './minicluster-objects';
import { EVICTION_GUARD, JOB_RELEASE_GUARD, JOB_STATUS_GUARD, POD_RELEASE_GUARD } from './release-guard';
import { type AdmissionScopeProps, celList, controllerUsers } from './scope';

export interface ControllerGuardProps extends AdmissionScopeProps {
  /** Whether the controller creates the objects of MiniClusters. */
  readonly miniClusters: boolean;
  /** Whether the apiserver serves MutatingAdmissionPolicy. */
  readonly mutatingPolicies: boolean;
}

/**
 * Restricts the controller's ServiceAccount where RBAC cannot, so that its token is worth little when it is stolen: it
 * changes of a Job or Pod only what a release changes, evicts only in enabled namespaces, and writes only objects that a
 * MiniCluster of the same namespace owns and asks for. The guards apply in every namespace, including excluded ones.
 * docs/security.md says what remains.
 */
export class ControllerGuard extends Construct {
  constructor(scope: Construct, id: string, props: ControllerGuardProps) {
    super(scope, id);
    const byController = {
      name: 'the-controller',
      expression: `request.userInfo.username in ${celList(controllerUsers(props))}`,
    };
    // The controller tries what is Forbidden again, and gives up what is Invalid.
    const guard = (name: string, spec: GuardSpec) =>
      addGuard(this, name, props, { ...spec, reason: 'Invalid' });
    guard('release-jobs', JOB_RELEASE_GUARD(props, byController));
    guard('release-statuses', JOB_STATUS_GUARD(byController));
    guard('release-pods', POD_RELEASE_GUARD(props, byController));
    for (const kind of workloadKinds(props.workloadKinds))
      guard(`release-${kind.plural}`, kindReleaseGuard(kind, props, byController));
    guard('evictions', EVICTION_GUARD(props, byController));
    if (!props.miniClusters) return;
    const bound = props.mutatingPolicies
      ? [MARKED]
      : [IS_MANAGED, reachTheSame(isKind('Deployment', 'StatefulSet'))];
    guard('controller', miniClusterObjects(props, byController, bound));
    guard('miniclusters', miniClusterChanges(byController));
    const Binding = props.mutatingPolicies ? MiniClusterMatch : MiniClusterCreation;
    new Binding(this, 'match', props, byController);
  }
}
