/**
 * CEL of a started Job whose user changes what was granted: the mutation that puts it back, and the guard for requests that
 * no mutation saw. runtime/admission/job-updates.ts has the same rules.
 */
import { CHANGEABLE_FIELDS, GRANTED_FIELDS, KEPT_PROBLEM, KEPT_REMEDY } from '../../api/granted-fields';
import { DEADLINE_ANNOTATION, IGNORED_ANNOTATION } from '../../api/labels';
import {
  ANNOTATIONS,
  annotation,
  kept,
  OF_JOBS,
  reappliedPatch,
  reappliedVariables,
  touchesTheQueue,
  WAS_ADMITTED,
} from './job-reapplied';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  cel,
  celList,
  type MatchCondition,
  notTheController,
  type Variable,
} from './scope';
import type { Validation } from './settings';

const SPEC = 'dyn(object.spec)';
const OLD_SPEC = 'dyn(oldObject.spec)';
const isKept = `!(key in ${celList(CHANGEABLE_FIELDS)})`;
const added = `${isKept} && !(key in ${OLD_SPEC})`;
const changed = `${isKept} && (!(key in ${SPEC}) || ${SPEC}[key] != ${OLD_SPEC}[key])`;
/** Whether another field than those that may change has another value. */
const KEPT_CHANGE = `(${SPEC}.exists(key, ${added}) || ${OLD_SPEC}.exists(key, ${changed}))`;

const raised = (field: string) =>
  `(has(oldObject.spec.${field}) && (!has(object.spec.${field}) || object.spec.${field} > oldObject.spec.${field}))`;

const NOTED_DEADLINE = annotation('oldObject', DEADLINE_ANNOTATION);
/** The deadline of a Job that waited for another controller counts from before its grant, so its user's own may be shorter. */
const APPLIED_AGAIN =
  '(has(object.spec.activeDeadlineSeconds) && has(oldObject.spec.activeDeadlineSeconds) && ' +
  'object.spec.activeDeadlineSeconds < oldObject.spec.activeDeadlineSeconds && ' +
  `${NOTED_DEADLINE}.endsWith("/" + string(object.spec.activeDeadlineSeconds)))`;
/**
 * The deadline of a release allows for a late start (`600+3600/none`). One beyond the granted 600 s would end the Job no
 * earlier, because the queue takes the allowance back.
 */
const OF_THE_START =
  '(has(object.spec.activeDeadlineSeconds) && has(oldObject.spec.activeDeadlineSeconds) && ' +
  'object.spec.activeDeadlineSeconds < oldObject.spec.activeDeadlineSeconds && ' +
  `${NOTED_DEADLINE}.matches("^[0-9]{1,10}[+]") && ` +
  `object.spec.activeDeadlineSeconds > int(${NOTED_DEADLINE}.split("+")[0]))`;
const ineffective = (field: string) =>
  field === 'activeDeadlineSeconds' ? `(${raised(field)} || ${OF_THE_START})` : raised(field);
const putBack = (field: string) =>
  field === 'activeDeadlineSeconds' ? `(${ineffective(field)} || ${APPLIED_AGAIN})` : raised(field);

/** A Job that the queue started and that its user does not suspend: a suspended Job is judged anew before its next start. */
export const STARTED = `${WAS_ADMITTED} && !oldObject.spec.?suspend.orValue(false) && !object.spec.?suspend.orValue(false)`;

/** Few updates of Jobs change something of this, and only those are mutated. */
export function jobUpdateConditions(
  props: AdmissionScopeProps & ControllerUserProps,
): readonly MatchCondition[] {
  return [
    notTheController(props),
    { name: 'admitted', expression: WAS_ADMITTED },
    {
      name: 'changes-what-is-the-queues',
      expression: `${touchesTheQueue(OF_JOBS)} || (${STARTED} && (${[...GRANTED_FIELDS.map(({ field }) => putBack(field)), KEPT_CHANGE].join(' || ')}))`,
    },
  ];
}

const restoredField = (field: string) =>
  `(variables.started && ${putBack(field)} ? [JSONPatch{op: "add", path: "/spec/${field}", value: oldObject.spec.${field}}] : [])`;

/** A manifest that is applied again has the deadline from before the release, which the note of the release has too. */
const OWN_DEADLINE =
  `(${NOTED_DEADLINE} != "" && (!${NOTED_DEADLINE}.contains("/") || ${NOTED_DEADLINE}.endsWith("/" + ` +
  '(has(object.spec.activeDeadlineSeconds) ? string(object.spec.activeDeadlineSeconds) : "none"))))';

const wanted = (field: string) =>
  field === 'activeDeadlineSeconds' ? `${ineffective(field)} && !${OWN_DEADLINE}` : raised(field);
const KEPT_KEYS = `${OLD_SPEC}.map(key, key).filter(key, ${changed}) + ${SPEC}.map(key, key).filter(key, ${added})`;

/** The queue writes `Failed`: a manifest that is put again has what was there before the release. */
const TOLD_KEYS =
  `(${KEPT_KEYS}).filter(key, key != "podReplacementPolicy" || ` +
  '!(has(oldObject.spec.podReplacementPolicy) && oldObject.spec.podReplacementPolicy == "Failed"))';

export const JOB_UPDATE_VARIABLES: readonly Variable[] = [
  ...reappliedVariables(OF_JOBS),
  { name: 'started', expression: '!variables.was && !variables.stops' },
  {
    name: 'ignored',
    expression:
      `(variables.overwritten + (!variables.started ? [] : ${GRANTED_FIELDS.map(({ field }) => `(${wanted(field)} ? [${cel(field)}] : [])`).join(' + ')} + ` +
      `(${KEPT_CHANGE} && (${TOLD_KEYS}).size() > 0 ? [string((${TOLD_KEYS}).min())] : []))).join(",")`,
  },
];

const KEPT_PATCH = `
(!variables.started ? []
  : ${OLD_SPEC}.transformList(key, value, ${changed}, JSONPatch{op: "add", path: "/spec/" + key, value: value})
    + ${SPEC}.transformList(key, value, ${added}, JSONPatch{op: "remove", path: "/spec/" + key}))
`.trim();

export const JOB_UPDATE_PATCH = [
  ...GRANTED_FIELDS.map(({ field }) => restoredField(field)),
  KEPT_PATCH,
  reappliedPatch(OF_JOBS),
  kept(ANNOTATIONS, IGNORED_ANNOTATION, 'variables.ignored'),
].join('\n+ ');

/** Validations of the guard of Jobs. */
export const GRANT_STAYS: readonly Validation[] = [
  ...GRANTED_FIELDS.map(({ field, problem, remedy }) => ({
    expression: `oldObject == null || !(${STARTED}) || !${raised(field)}`,
    message: `FLUXQ_RELEASED: spec.${field}: ${problem}; ${remedy}`,
  })),
  {
    expression: `oldObject == null || !(${STARTED}) || !${KEPT_CHANGE}`,
    messageExpression: `"FLUXQ_RELEASED: spec." + (${KEPT_KEYS})[0] + ${cel(`: ${KEPT_PROBLEM}; ${KEPT_REMEDY}`)}`,
  },
];
