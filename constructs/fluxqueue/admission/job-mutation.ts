/** CEL of the mutating policies for Jobs and for the kinds of constructs/api/workload-kinds.ts. runtime/admission/jobs.ts has the same rules. */
import { pointerToken } from '../../api/json-pointer';
import { ADMITTED_LABEL, HOLD, IGNORED_ANNOTATION, SUSPEND_ANNOTATION } from '../../api/labels';
import type { FieldPath } from '../../api/workload-kinds';
import { suspended } from './job-reapplied';
import { cel, setField, type Variable } from './scope';
import { USER_PATCH } from './user-mutation';

/** @param suspend the field that holds the object */
export const heldVariables = (suspend: FieldPath): readonly Variable[] => [
  { name: 'labels', expression: 'object.metadata.?labels.orValue({})' },
  { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
  { name: 'suspended', expression: suspended('object', suspend) },
  {
    name: 'held',
    expression:
      `variables.suspended && variables.labels[?${cel(ADMITTED_LABEL)}].orValue("") != "true" && ` +
      `!(${cel(HOLD)} in variables.labels) && !(${cel(HOLD)} in variables.annotations)`,
  },
];

const SUSPEND_PATH = `/metadata/annotations/${pointerToken(SUSPEND_ANNOTATION)}`;

/** After the patch of the user, which may have made the map. A Job with the admitted label was noted before. */
const SUSPEND_PATCH = `
(variables.labels[?${cel(ADMITTED_LABEL)}].orValue("") == "true" ? []
  : !variables.suspended
  ? (${cel(SUSPEND_ANNOTATION)} in variables.annotations ? [JSONPatch{op: "remove", path: "${SUSPEND_PATH}"}] : [])
  : has(object.metadata.annotations) || (!variables.carriesUser && variables.user != "")
  ? [JSONPatch{op: "add", path: "${SUSPEND_PATH}", value: variables.held ? "held" : "true"}]
  : [JSONPatch{op: "add", path: "/metadata/annotations",
      value: {${cel(SUSPEND_ANNOTATION)}: variables.held ? "held" : "true"}}])
`.trim();

/** A copy of a Job has it. */
const IGNORED_PATCH =
  `(${cel(IGNORED_ANNOTATION)} in variables.annotations ` +
  `? [JSONPatch{op: "remove", path: "/metadata/annotations/${pointerToken(IGNORED_ANNOTATION)}"}] : [])`;

/** JSON patch that uses the variables. */
export const heldPatch = (suspend: FieldPath) =>
  `
(has(object.metadata.labels)
  ? [JSONPatch{op: "add", path: "/metadata/labels/${pointerToken(ADMITTED_LABEL)}", value: "true"}]
    + (variables.held ? [JSONPatch{op: "add", path: "/metadata/labels/${pointerToken(HOLD)}", value: "true"}] : [])
  : [JSONPatch{op: "add", path: "/metadata/labels", value: variables.held
      ? {${cel(ADMITTED_LABEL)}: "true", ${cel(HOLD)}: "true"}
      : {${cel(ADMITTED_LABEL)}: "true"}}])
+ (variables.suspended ? [] : ${setField(suspend, 'true')})
+ ${USER_PATCH}
+ ${SUSPEND_PATCH}
+ ${IGNORED_PATCH}
`.trim();
