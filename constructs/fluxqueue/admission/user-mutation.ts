/**
 * CEL that writes the user of a workload. runtime/admission/user.ts has the same rules. A workload that a controller
 * created has no user annotation, because the name of a controller does not identify a user.
 */
import { pointerToken } from '../../api/json-pointer';
import { USER_ANNOTATION } from '../../api/labels';
import {
  type AdmissionScopeProps,
  BY_KUBERNETES,
  byGitOps,
  type ControllerUserProps,
  cel,
  celList,
  controllerUsers,
  type Variable,
} from './scope';

/** The name of a person or of a ServiceAccount outside kube-system; "" for a controller and for an engine of GitOps. */
export function userVariable(props: ControllerUserProps): Variable {
  return {
    name: 'user',
    expression:
      `!(${byGitOps(props)}) && (!request.userInfo.username.startsWith("system:") || ` +
      '(request.userInfo.username.startsWith("system:serviceaccount:") && ' +
      '!request.userInfo.username.startsWith("system:serviceaccount:kube-system:"))) ? request.userInfo.username : ""',
  };
}

const PATH = `/metadata/annotations/${pointerToken(USER_ANNOTATION)}`;

/**
 * Whether the annotation comes from the template of another object, where admission wrote it. The runtime creates the Jobs
 * of MiniClusters, and the controllers of Kubernetes those of CronJobs and the pods of Deployments.
 */
export function carriesUserVariable(props: AdmissionScopeProps & ControllerUserProps): Variable {
  return {
    name: 'carriesUser',
    expression:
      `request.userInfo.username in ${celList(controllerUsers(props))} || ((${BY_KUBERNETES}) && !(${byGitOps(props)}) && ` +
      'object.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false)))',
  };
}

/** JSON patch of the user annotation; it uses the variables `user`, `carriesUser` and `annotations`. */
export const USER_PATCH = `
(variables.carriesUser ? []
  : variables.user == ""
  ? (${cel(USER_ANNOTATION)} in variables.annotations ? [JSONPatch{op: "remove", path: "${PATH}"}] : [])
  : has(object.metadata.annotations) ? [JSONPatch{op: "add", path: "${PATH}", value: variables.user}]
  : [JSONPatch{op: "add", path: "/metadata/annotations", value: {${cel(USER_ANNOTATION)}: variables.user}}])
`.trim();
