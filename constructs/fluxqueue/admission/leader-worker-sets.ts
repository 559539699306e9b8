/** CEL of the group of a pod of a LeaderWorkerSet. runtime/admission/leader-worker-sets.ts has the same rule. */
import { pointerToken } from '../../api/json-pointer';
import { GROUP, GROUP_SIZE } from '../../api/labels';
import {
  LWS_LEADER_INDEX,
  LWS_NAME_LABEL,
  LWS_SIZE_ANNOTATION,
  LWS_WORKER_LABEL,
} from '../../api/leader-worker-set';
import { CONTROLLERS, cel, type Variable } from './scope';

const LABELS = 'object.metadata.?labels.orValue({})';
const STATEFUL_SETS = `${CONTROLLERS}.filter(owner, owner.apiVersion + "/" + owner.kind == "apps/v1/StatefulSet")`;
const IS_LEADER = `${LABELS}[?${cel(LWS_WORKER_LABEL)}].orValue("") == ${cel(LWS_LEADER_INDEX)}`;

/** The name of its group; "" for other pods. It needs the variables `annotations` and `carriesUser`. */
export const LWS_GROUP: Variable = {
  name: 'lwsGroup',
  expression:
    `${cel(LWS_NAME_LABEL)} in ${LABELS} && ${cel(LWS_SIZE_ANNOTATION)} in variables.annotations && ` +
    `variables.carriesUser && ${STATEFUL_SETS}.size() > 0 ` +
    `? (${IS_LEADER} ? object.metadata.?name.orValue("") : ${STATEFUL_SETS}[0].name) : ""`,
};

const entry = (key: string, value: string) =>
  `JSONPatch{op: "add", path: "/metadata/annotations/${pointerToken(key)}", value: ${value}}`;

/** JSON patch of the pod, which has annotations if it has a group. */
export const LWS_PATCH = `
(variables.lwsGroup == "" ? []
  : [${entry(GROUP, 'variables.lwsGroup')},
    ${entry(GROUP_SIZE, `variables.annotations[${cel(LWS_SIZE_ANNOTATION)}]`)}])
`.trim();
