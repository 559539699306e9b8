/**
 * CEL of what is reserved for the runtime. The conditions of the policies have
 * let the runtime's own users pass already.
 */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  GATE,
  JOBID_ANNOTATION,
  SCHEDULER_NAME,
  USER_ANNOTATION,
} from '../../api/labels';
import {
  type AdmissionScopeProps,
  cel,
  celList,
  HAS_ASSIGNMENT,
  type MatchCondition,
  namespaceTakesPart,
  type Variable,
} from './scope';
import type { Validation } from './settings';

interface Rules {
  readonly variables: readonly Variable[];
  readonly validations: readonly Validation[];
}

/** The Job controller, with credentials of its own or those of the whole controller manager. */
const JOB_CONTROLLER = 'system:serviceaccount:kube-system:job-controller';
const JOB_CONTROLLER_USERS = [JOB_CONTROLLER, 'system:kube-controller-manager'];

const admitted = (object: string) => `${object}.metadata.?labels[?${cel(ADMITTED_LABEL)}].orValue("")`;
const annotation = (key: string) => (object: string) =>
  `${object}.metadata.?annotations[?${cel(key)}].orValue("")`;
const ofTemplate = (key: string) => (object: string) =>
  `${object}.spec.template.?metadata.?annotations[?${cel(key)}].orValue("")`;
const assignment = annotation(ASSIGNMENT_ANNOTATION);
const templateAssignment = ofTemplate(ASSIGNMENT_ANNOTATION);
const jobid = annotation(JOBID_ANNOTATION);
const templateJobid = ofTemplate(JOBID_ANNOTATION);
const user = annotation(USER_ANNOTATION);
const gated = (object: string) =>
  `${object}.spec.?schedulingGates.orValue([]).exists(g, g.name == ${cel(GATE)})`;
/** The value before an UPDATE; `none` on CREATE. */
const before = (value: string, none = '""') => `oldObject == null ? ${none} : ${value}`;

/** On CREATE admission has written it, whatever the object said. */
const USER_STAYS: Validation = {
  expression: `oldObject == null || ${user('object')} == ${user('oldObject')}`,
  message: reserved(
    `metadata.annotations["${USER_ANNOTATION}"]`,
    'says who made the workload',
    'leave it as it is',
  ),
};

export const JOB_GUARD = (props: AdmissionScopeProps): Rules => ({
  variables: [
    { name: 'admitted', expression: admitted('object') },
    { name: 'wasAdmitted', expression: before(admitted('oldObject')) },
    { name: 'suspended', expression: 'object.spec.?suspend.orValue(false)' },
    { name: 'wasSuspended', expression: before('oldObject.spec.?suspend.orValue(false)', 'false') },
  ],
  validations: [
    {
      expression:
        `${assignment('object')} == (${before(assignment('oldObject'))}) && ` +
        `${templateAssignment('object')} == (${before(templateAssignment('oldObject'))})`,
      message: reserved(
        `metadata.annotations["${ASSIGNMENT_ANNOTATION}"]`,
        'is set by the queue only',
        'remove it',
      ),
    },
    {
      // Job ids go on after the highest that is carried: one that somebody made up would spend them.
      expression: `${templateJobid('object')} == (${before(templateJobid('oldObject'))})`,
      message: reserved(
        `spec.template.metadata.annotations["${JOBID_ANNOTATION}"]`,
        'is set by the queue only',
        'remove it',
      ),
    },
    admittedLabel(props, 'variables.suspended'),
    USER_STAYS,
    {
      expression: 'variables.wasAdmitted != "true" || !variables.wasSuspended || variables.suspended',
      message:
        'FLUXQ_HELD: spec.suspend: the queue starts this Job when its turn comes; leave it, and remove its hold if it has one',
    },
    {
      expression:
        'variables.wasAdmitted != "true" || variables.wasSuspended || variables.suspended || ' +
        'object.spec.?parallelism.orValue(1) <= oldObject.spec.?parallelism.orValue(1)',
      message:
        'FLUXQ_RELEASED: spec.parallelism: a started Job keeps to what the queue gave it; submit another Job for more',
    },
  ],
});

/**
 * What most requests about pods are, and need no judging: the Job controller creates a pod of a released Job (only the
 * runtime writes that Job's assignment), or an update that touches none of ours takes a finalizer away.
 */
export const TOUCHES_RESERVED: MatchCondition = {
  name: 'touches-what-is-reserved',
  expression:
    `oldObject == null ? request.userInfo.username != ${cel(JOB_CONTROLLER)} || !(${HAS_ASSIGNMENT}) || ` +
    `(has(object.metadata.labels) && ${cel(ADMITTED_LABEL)} in object.metadata.labels) : ` +
    'object.metadata.?labels != oldObject.metadata.?labels || ' +
    'object.metadata.?annotations != oldObject.metadata.?annotations || ' +
    'object.spec.?schedulingGates != oldObject.spec.?schedulingGates',
};

export const POD_GUARD = (props: AdmissionScopeProps): Rules => ({
  variables: [
    { name: 'admitted', expression: admitted('object') },
    { name: 'wasAdmitted', expression: before(admitted('oldObject')) },
    { name: 'assignment', expression: assignment('object') },
    { name: 'gated', expression: gated('object') },
    {
      name: 'fromJob',
      expression:
        `request.userInfo.username in ${celList(JOB_CONTROLLER_USERS)} && ` +
        'object.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false) && ' +
        'owner.kind == "Job" && owner.apiVersion.startsWith("batch/"))',
    },
  ],
  validations: [
    {
      // A pod of a released Job carries both from the Job's template, which only the runtime writes.
      expression: `variables.assignment == (${before(assignment('oldObject'))}) || (oldObject == null && variables.fromJob)`,
      message: reserved(
        `metadata.annotations["${ASSIGNMENT_ANNOTATION}"]`,
        'is set by the queue only',
        'remove it',
      ),
    },
    {
      expression: `${jobid('object')} == (${before(jobid('oldObject'))}) || (oldObject == null && variables.fromJob)`,
      message: reserved(
        `metadata.annotations["${JOBID_ANNOTATION}"]`,
        'is set by the queue only',
        'remove it',
      ),
    },
    admittedLabel(props, '(variables.gated || variables.assignment != "")'),
    USER_STAYS,
    {
      expression: `oldObject == null || variables.gated || !(${gated('oldObject')})`,
      message: `FLUXQ_HELD: spec.schedulingGates: the queue removes "${GATE}" when this pod's turn comes; leave it`,
    },
    {
      expression:
        `object.spec.?schedulerName.orValue("") != ${cel(SCHEDULER_NAME)} || oldObject != null || ` +
        'variables.gated || variables.assignment != ""',
      message: reserved('spec.schedulerName', `${SCHEDULER_NAME} is for pods of the queue`, 'remove it'),
    },
  ],
});

/** @param takenIn CEL: admission has done its part, so this object did not just claim to be taken in */
function admittedLabel(props: AdmissionScopeProps, takenIn: string): Validation {
  return {
    expression:
      `oldObject != null ? variables.admitted == variables.wasAdmitted : ` +
      `variables.admitted == "" || (${takenIn} && ${namespaceTakesPart(props)})`,
    message: reserved(
      `metadata.labels["${ADMITTED_LABEL}"]`,
      'is set by the queue only',
      'leave it as it is',
    ),
  };
}

function reserved(field: string, what: string, remedy: string): string {
  return `FLUXQ_RESERVED: ${field}: ${what}; ${remedy}`;
}
