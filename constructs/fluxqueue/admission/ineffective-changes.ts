/**
 * CEL that warns about an update of a started Job or Pod without an effect. Admission has put the fields back before a guard sees
 * the object, so it notes their names in an annotation; the settings are in the object.
 */
import {
  GRANTED_FIELDS,
  GRANTED_SETTINGS,
  KEPT_PROBLEM,
  KEPT_REMEDY,
  type StartedKind,
  settingKeptProblem,
  settingKeptRemedy,
} from '../../api/granted-fields';
import { HOLD, IGNORED_ANNOTATION } from '../../api/labels';
import { annotation, WAS_ADMITTED } from './job-reapplied';
import { STARTED } from './job-update';
import { gated } from './reserved';
import { cel, celList } from './scope';
import type { Validation } from './settings';

const IGNORED = 'variables.ignored';
/** The update has succeeded: its user has to know that the object is not as it was sent. */
const PUT_BACK = 'was put back as it was: it ';

/** As in runtime/workloads/settings.ts: an annotation says more than a label. */
const setting = (object: string, key: string) =>
  `${object}.metadata.?annotations[?${cel(key)}].orValue(${object}.metadata.?labels[?${cel(key)}].orValue(""))`;

const isUnchanged = (key: string) => {
  const same = `${setting('object', key)} == ${setting('oldObject', key)}`;
  return key === HOLD ? `${same} || ${setting('object', key)} != "true"` : same;
};

const ofFields: readonly Validation[] = GRANTED_FIELDS.map(({ field, problem, remedy }) => ({
  expression: `!(${cel(field)} in ${IGNORED})`,
  message: `FLUXQ_RELEASED: spec.${field}: ${PUT_BACK}${problem}; ${remedy}`,
}));

const isGranted = `field in ${celList(['', ...GRANTED_FIELDS.map(({ field }) => field)])}`;
const ofOtherFields: Validation = {
  expression: `${IGNORED}.all(field, ${isGranted})`,
  messageExpression: `"FLUXQ_RELEASED: spec." + ${IGNORED}.filter(field, !(${isGranted}))[0] + ${cel(`: ${PUT_BACK}${KEPT_PROBLEM}; ${KEPT_REMEDY}`)}`,
};

/** Of a started workload of this kind. */
export const settingWarnings = (kind: StartedKind): readonly Validation[] =>
  GRANTED_SETTINGS.map((key) => ({
    expression: isUnchanged(key),
    message: `FLUXQ_RELEASED: ${key}: ${settingKeptProblem(kind)}; ${settingKeptRemedy(key, kind)}`,
  }));

const ENDED =
  'oldObject.status.?conditions.orValue([]).exists(it, it.type in ["Complete", "Failed"] && it.status == "True")';

/** Nobody waits for an effect on a Job that has ended. */
export const INEFFECTIVE_CHANGES = {
  matchCondition: { name: 'started', expression: `${STARTED} && !(${ENDED})` },
  variables: [{ name: 'ignored', expression: `${annotation('object', IGNORED_ANNOTATION)}.split(",")` }],
  validations: [...ofFields, ofOtherFields, ...settingWarnings('Job')],
};

const wasStarted = [
  WAS_ADMITTED,
  `!${gated('oldObject')}`,
  '!(oldObject.status.?phase.orValue("") in ["Succeeded", "Failed"])',
].join(' && ');

/** Pods of a Job have its settings, and no label of admission. */
export const INEFFECTIVE_POD_CHANGES = {
  matchCondition: { name: 'started', expression: wasStarted },
  validations: settingWarnings('Pod'),
};
