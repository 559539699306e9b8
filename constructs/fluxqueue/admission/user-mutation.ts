/**
 * CEL that writes the user of a workload. runtime/admission/user.ts has the same rules. A workload that a controller
 * created has no user annotation, because the name of a controller does not identify a user.
 */
import { pointerToken } from '../../api/json-pointer';
import { KUEUE_QUEUE_LABEL, OWNER_ANNOTATION, QUEUED_BY_ANNOTATION, USER_ANNOTATION } from '../../api/labels';
import {
  type AdmissionScopeProps,
  byGitOps,
  type ControllerUserProps,
  cel,
  isOfJudgedOwner,
  ownerOfKind,
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
 * Whether the annotation comes from another object, where admission wrote it. The runtime creates the Jobs of MiniClusters,
 * and the controllers of Kubernetes those of CronJobs and the pods of Deployments.
 */
export function carriesUserVariable(props: AdmissionScopeProps & ControllerUserProps): Variable {
  return { name: 'carriesUser', expression: isOfJudgedOwner(props) };
}

/** JSON patch of the user annotation; it uses the variables `user`, `carriesUser` and `annotations`. */
export const USER_PATCH = `
(variables.carriesUser ? []
  : variables.user == ""
  ? (${cel(USER_ANNOTATION)} in variables.annotations ? [JSONPatch{op: "remove", path: "${PATH}"}] : [])
  : has(object.metadata.annotations) ? [JSONPatch{op: "add", path: "${PATH}", value: variables.user}]
  : [JSONPatch{op: "add", path: "/metadata/annotations", value: {${cel(USER_ANNOTATION)}: variables.user}}])
`.trim();

const TEMPLATE = '/spec/template/metadata';
const inTemplate = (key: string) => `${TEMPLATE}/annotations/${pointerToken(key)}`;
const notedInTemplate = (key: string) =>
  `object.spec.template.?metadata.?annotations[?${cel(key)}].orValue("")`;

/**
 * JSON patch of a Job that admission leaves alone: no other user than its own in its metadata, and in its template the user of the Job, for whom its pods count, the
 * other queue that has them, and the object for which it is made. It uses the variables `user`, `carriesUser` and `annotations`.
 */
export const otherJobVariables = (props: AdmissionScopeProps): readonly Variable[] => [
  {
    name: 'owner',
    expression: `variables.carriesUser ? variables.annotations[?${cel(USER_ANNOTATION)}].orValue("") : variables.user`,
  },
  {
    name: 'queuedBy',
    expression: `${cel(KUEUE_QUEUE_LABEL)} in object.metadata.?labels.orValue({}) ? "kueue" : ""`,
  },
  { name: 'madeFor', expression: ownerOfKind(props) },
];

const templateEntry = (key: string, value: string) =>
  `
(${notedInTemplate(key)} == ${value} ? []
  : ${value} == "" ? [JSONPatch{op: "remove", path: "${inTemplate(key)}"}]
  : [JSONPatch{op: "add", path: "${inTemplate(key)}", value: ${value}}])
`.trim();

export const OTHER_JOB_PATCH = `
(${cel(USER_ANNOTATION)} in variables.annotations ? ${USER_PATCH} : [])
+ (variables.owner == "" && variables.queuedBy == "" && variables.madeFor == "" ? []
  : !has(object.spec.template.metadata) ? [JSONPatch{op: "add", path: "${TEMPLATE}", value: {"annotations": {}}}]
  : !has(object.spec.template.metadata.annotations) ? [JSONPatch{op: "add", path: "${TEMPLATE}/annotations", value: {}}]
  : [])
+ ${templateEntry(USER_ANNOTATION, 'variables.owner')}
+ ${templateEntry(QUEUED_BY_ANNOTATION, 'variables.queuedBy')}
+ ${templateEntry(OWNER_ANNOTATION, 'variables.madeFor')}
`.trim();
