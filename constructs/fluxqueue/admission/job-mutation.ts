/** CEL of the mutating policy for Jobs. runtime/admission/jobs.ts has the same rules. */
import { ADMITTED_LABEL, HOLD } from '../../api/labels';
import { cel, pointerToken, type Variable } from './scope';
import { USER_PATCH, USER_VARIABLE } from './user-mutation';

export const JOB_VARIABLES: readonly Variable[] = [
  { name: 'labels', expression: 'object.metadata.?labels.orValue({})' },
  { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
  { name: 'suspended', expression: 'object.spec.?suspend.orValue(false)' },
  USER_VARIABLE,
  {
    name: 'held',
    expression:
      `variables.suspended && variables.labels[?${cel(ADMITTED_LABEL)}].orValue("") != "true" && ` +
      `!(${cel(HOLD)} in variables.labels) && !(${cel(HOLD)} in variables.annotations)`,
  },
];

export const JOB_PATCH = `
(has(object.metadata.labels)
  ? [JSONPatch{op: "add", path: "/metadata/labels/${pointerToken(ADMITTED_LABEL)}", value: "true"}]
    + (variables.held ? [JSONPatch{op: "add", path: "/metadata/labels/${pointerToken(HOLD)}", value: "true"}] : [])
  : [JSONPatch{op: "add", path: "/metadata/labels", value: variables.held
      ? {${cel(ADMITTED_LABEL)}: "true", ${cel(HOLD)}: "true"}
      : {${cel(ADMITTED_LABEL)}: "true"}}])
+ (variables.suspended ? [] : [JSONPatch{op: "add", path: "/spec/suspend", value: true}])
+ ${USER_PATCH}
`.trim();
