/**
 * CEL that warns about an update of a started Job or Pod without an effect. Admission has put the fields back before a guard sees
 * the object, so it notes their names in an annotation; the settings are in the object.
 */
import {
  GRANTED_FIELDS,
  grantedSettings,
  KEPT_PROBLEM,
  KEPT_REMEDY,
  POD_OF_JOB_PROBLEM,
  POD_OF_JOB_REMEDY,
  type StartedKind,
  settingKeptProblem,
  settingKeptRemedy,
} from '../../api/granted-fields';
import { KEY_PREFIX } from '../../api/known-keys';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  GROUP_MEMBER_ANNOTATION,
  HOLD,
  IGNORED_ANNOTATION,
  PRIORITY,
  SUSPEND_ANNOTATION,
} from '../../api/labels';
import { GROUP_SETTINGS } from '../../api/settings';
import { annotation, OF_JOBS, WAS_ADMITTED } from './job-reapplied';
import { STARTED } from './job-update';
import { OF_THE_GRANT } from './kinds';
import { mayHavePriority, type ReachGuardProps } from './reach-guard';
import { gated, reserved } from './reserved';
import { cel, celList } from './scope';
import type { Validation } from './settings';

const IGNORED = 'variables.ignored';
/** The update has succeeded: its user has to know that the object is not as it was sent. */
const PUT_BACK = 'was put back as it was: it ';

/** As in runtime/workloads/settings.ts: an annotation says more than a label. */
const setting = (object: string, key: string) =>
  `${object}.metadata.?annotations[?${cel(key)}].orValue(${object}.metadata.?labels[?${cel(key)}].orValue(""))`;

/** Nobody is warned of what another guard refuses: a priority above the right, and another group of a pod that runs in one. */
const isUnchanged = (key: string, props: ReachGuardProps) => {
  const text = setting('object', key);
  const same = `${text} == ${setting('oldObject', key)}`;
  if (key === HOLD) return `${same} || ${text} != "true"`;
  if (key === PRIORITY) return `${same} || !(${mayHavePriority(text, props)})`;
  const isGroup = GROUP_SETTINGS.some((group) => group === key);
  return isGroup ? `${same} || ${annotation('oldObject', GROUP_MEMBER_ANNOTATION)} != ""` : same;
};

const ofFields: readonly Validation[] = GRANTED_FIELDS.map(({ field, problem, remedy }) => ({
  expression: `!(${cel(field)} in ${IGNORED})`,
  message: `FLUXQ_RELEASED: spec.${field}: ${PUT_BACK}${problem}; ${remedy}`,
}));

const isGranted = `(field in ${celList(['', ...GRANTED_FIELDS.map(({ field }) => field)])} || field.startsWith(${cel(KEY_PREFIX)}))`;
const ofOtherFields: Validation = {
  expression: `${IGNORED}.all(field, ${isGranted})`,
  messageExpression: `"FLUXQ_RELEASED: spec." + ${IGNORED}.filter(field, !(${isGranted}))[0] + ${cel(`: ${PUT_BACK}${KEPT_PROBLEM}; ${KEPT_REMEDY}`)}`,
};

/** Of a started workload of this kind. */
export const settingWarnings = (kind: StartedKind, props: ReachGuardProps): readonly Validation[] =>
  grantedSettings(kind).map((key) => ({
    expression: isUnchanged(key, props),
    message: `FLUXQ_RELEASED: ${key}: ${settingKeptProblem(kind)}; ${settingKeptRemedy(key, kind)}`,
  }));

const ENDED =
  'oldObject.status.?conditions.orValue([]).exists(it, it.type in ["Complete", "Failed"] && it.status == "True")';

/** Nobody waits for an effect on a Job that has ended. */
export const ineffectiveChanges = (props: ReachGuardProps) => ({
  matchCondition: { name: 'started', expression: `${STARTED} && !(${ENDED})` },
  variables: [{ name: 'ignored', expression: `${annotation('object', IGNORED_ANNOTATION)}.split(",")` }],
  validations: [...ofFields, ofOtherFields, ...settingWarnings('Job', props)],
});

const PUT_BACK_KEYS = [ADMITTED_LABEL, ...OF_JOBS.kept, ...OF_THE_GRANT, SUSPEND_ANNOTATION];

/** Of a Job or an object of a workload kind, also of one that waits: labels and annotations of the queue that the update has overwritten. */
export const overwrittenKeys = {
  matchCondition: {
    name: 'overwrites-what-is-the-queues',
    expression: `${annotation('object', IGNORED_ANNOTATION)}.contains(${cel(KEY_PREFIX)})`,
  },
  validations: PUT_BACK_KEYS.map((key) => ({
    expression: `!(${cel(key)} in ${annotation('object', IGNORED_ANNOTATION)}.split(","))`,
    message: reserved(key, `${PUT_BACK}can only be set by the queue`, 'remove it'),
  })),
};

/** Pods of a Job have its settings, and no label of admission. */
const IS_OF_JOB = `${annotation('oldObject', ASSIGNMENT_ANNOTATION)} != ""`;
const wasStarted = [
  `(${IS_OF_JOB} || (${WAS_ADMITTED} && !${gated('oldObject')}))`,
  '!(oldObject.status.?phase.orValue("") in ["Succeeded", "Failed"])',
].join(' && ');

export const ineffectivePodChanges = (props: ReachGuardProps) => ({
  matchCondition: { name: 'started', expression: wasStarted },
  validations: settingWarnings('Pod', props).map(({ expression, message = '' }, i) => ({
    expression,
    messageExpression: `${IS_OF_JOB} ? ${cel(`FLUXQ_RELEASED: ${grantedSettings('Pod')[i]}: ${POD_OF_JOB_PROBLEM}; ${POD_OF_JOB_REMEDY}`)} : ${cel(message)}`,
  })),
});
