/**
 * CEL of a started Job whose user changes what was granted: the mutation that puts it back, and the guard for requests that
 * no mutation saw. runtime/admission/job-updates.ts has the same rules.
 */
import { GRANTED_ANNOTATION, GRANTED_FIELDS } from '../../api/granted-fields';
import { ADMITTED_LABEL } from '../../api/labels';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  cel,
  celList,
  controllerUsers,
  type MatchCondition,
  pointerToken,
} from './scope';
import type { Validation } from './settings';

const annotationOf = (object: string) =>
  `${object}.metadata.?annotations[?${cel(GRANTED_ANNOTATION)}].orValue("")`;
const raised = (field: string) =>
  `(has(oldObject.spec.${field}) && (!has(object.spec.${field}) || object.spec.${field} > oldObject.spec.${field}))`;
const ANNOTATION_CHANGED = `${annotationOf('object')} != ${annotationOf('oldObject')}`;

/** A Job that the queue started and that its user does not suspend: a suspended Job is judged anew before its next start. */
const STARTED =
  `oldObject.metadata.?labels[?${cel(ADMITTED_LABEL)}].orValue("") == "true" && ` +
  '!oldObject.spec.?suspend.orValue(false) && !object.spec.?suspend.orValue(false)';

/** Few updates of Jobs change one of these fields, and only those are mutated. */
export function jobUpdateConditions(
  props: AdmissionScopeProps & ControllerUserProps,
): readonly MatchCondition[] {
  return [
    {
      name: 'not-the-controller',
      expression: `!(request.userInfo.username in ${celList(controllerUsers(props))})`,
    },
    { name: 'started', expression: STARTED },
    {
      name: 'changes-its-grant',
      expression: [...GRANTED_FIELDS.map(({ field }) => raised(field)), ANNOTATION_CHANGED].join(' || '),
    },
  ];
}

const restoredField = (field: string) =>
  `(${raised(field)} ? [JSONPatch{op: "add", path: "/spec/${field}", value: oldObject.spec.${field}}] : [])`;

const PATH = `/metadata/annotations/${pointerToken(GRANTED_ANNOTATION)}`;
const RESTORED_ANNOTATION = `
(!(${ANNOTATION_CHANGED}) ? []
  : ${annotationOf('oldObject')} == "" ? [JSONPatch{op: "remove", path: "${PATH}"}]
  : has(object.metadata.annotations)
  ? [JSONPatch{op: "add", path: "${PATH}", value: ${annotationOf('oldObject')}}]
  : [JSONPatch{op: "add", path: "/metadata/annotations", value: {${cel(GRANTED_ANNOTATION)}: ${annotationOf('oldObject')}}}])
`.trim();

export const JOB_UPDATE_PATCH = [
  ...GRANTED_FIELDS.map(({ field }) => restoredField(field)),
  RESTORED_ANNOTATION,
].join('\n+ ');

/** Validations of the guard of Jobs. */
export const GRANT_STAYS: readonly Validation[] = GRANTED_FIELDS.map(({ field, problem, remedy }) => ({
  expression: `oldObject == null || !(${STARTED}) || !${raised(field)}`,
  message: `FLUXQ_RELEASED: spec.${field}: ${problem}; ${remedy}`,
}));
