/**
 * CEL that writes who made a workload: the same as runtime/admission/user.ts.
 * What a controller made is left to its namespace: its name says nothing of who wanted it.
 */
import { USER_ANNOTATION } from '../../api/labels';
import { cel, pointerToken, type Variable } from './scope';

/** A person, or a ServiceAccount of a namespace other than kube-system; "" for a controller. */
export const USER_VARIABLE: Variable = {
  name: 'user',
  expression:
    '!request.userInfo.username.startsWith("system:") || ' +
    '(request.userInfo.username.startsWith("system:serviceaccount:") && ' +
    '!request.userInfo.username.startsWith("system:serviceaccount:kube-system:")) ? request.userInfo.username : ""',
};

const PATH = `/metadata/annotations/${pointerToken(USER_ANNOTATION)}`;

/** Needs the variables `user` and `annotations`. */
export const USER_PATCH = `
(variables.user == ""
  ? (${cel(USER_ANNOTATION)} in variables.annotations ? [JSONPatch{op: "remove", path: "${PATH}"}] : [])
  : has(object.metadata.annotations) ? [JSONPatch{op: "add", path: "${PATH}", value: variables.user}]
  : [JSONPatch{op: "add", path: "/metadata/annotations", value: {${cel(USER_ANNOTATION)}: variables.user}}])
`.trim();
