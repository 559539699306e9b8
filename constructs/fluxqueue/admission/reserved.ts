/**
 * CEL of the labels, annotations, gates and fields that are reserved for the runtime. The match conditions of the policies
 * already exclude requests of the runtime.
 */
import { JOB_CONTROLLER } from '../../api/job-controller';
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
  DEADLINE_ANNOTATION,
  GATE,
  GROUP,
  GROUP_MEMBER_ANNOTATION,
  GROUP_SIZE,
  JOBID_ANNOTATION,
  OWNER_ANNOTATION,
  PRIORITY_CLASS,
  QUEUED_BY_ANNOTATION,
  SCHEDULER_NAME,
  USER_ANNOTATION,
} from '../../api/labels';
import { BY_JOB_CONTROLLER, ENDS_TRACKING, POD_KEEPS_ITS_GRANT } from './granted-pods';
import type { GuardPart } from './guard-parts';
import { GRANT_STAYS } from './job-update';
import { jobsOfKueue, type KueueProps } from './kueue';
import {
  type AdmissionScopeProps,
  allConditions,
  type ControllerUserProps,
  cel,
  celList,
  FROM_JOB,
  HAS_ASSIGNMENT,
  isOfJudgedOwner,
  jobConditions,
  type MatchCondition,
  namespaceIsEnabled,
  ownerOfKind,
  type Variable,
} from './scope';
import type { Validation } from './settings';
import { userVariable } from './user-mutation';

interface Rules {
  readonly variables: readonly Variable[];
  readonly validations: readonly Validation[];
}

const admitted = (object: string) => `${object}.metadata.?labels[?${cel(ADMITTED_LABEL)}].orValue("")`;
const annotation = (key: string) => (object: string) =>
  `${object}.metadata.?annotations[?${cel(key)}].orValue("")`;
const ofTemplate = (key: string) => (object: string) =>
  `${object}.spec.template.?metadata.?annotations[?${cel(key)}].orValue("")`;
const assignment = annotation(ASSIGNMENT_ANNOTATION);
const jobid = annotation(JOBID_ANNOTATION);
const member = annotation(GROUP_MEMBER_ANNOTATION);
const deadline = annotation(DEADLINE_ANNOTATION);
const queuedBy = annotation(QUEUED_BY_ANNOTATION);
const owner = annotation(OWNER_ANNOTATION);
const templateOwner = ofTemplate(OWNER_ANNOTATION);
const user = annotation(USER_ANNOTATION);
const templateUser = ofTemplate(USER_ANNOTATION);
/** CEL: whether a pod waits for the queue. */
export const gated = (object: string) =>
  `${object}.spec.?schedulingGates.orValue([]).exists(g, g.name == ${cel(GATE)})`;
const annotationsOf = (object: string) => `${object}.metadata.?annotations.orValue({})`;
const templateAnnotationsOf = (object: string) =>
  `${object}.spec.template.?metadata.?annotations.orValue({})`;

/**
 * A key that only the queue sets, without a value: rules that compare values take it for none, and whoever asks for the key finds it.
 * @param of CEL of the annotations of an object
 * @param field where they are
 */
export function withoutValue(
  keys: readonly string[],
  of: (object: string) => string,
  field: string,
): Validation {
  const isEmpty = `key in ${of('object')} && ${of('object')}[key] == "" && (oldObject == null || !(key in ${of('oldObject')}))`;
  const found = `${celList(keys)}.filter(key, ${isEmpty})`;
  return {
    expression: `${found}.size() == 0`,
    messageExpression: `${cel(`FLUXQ_RESERVED: ${field}["`)} + ${found}[0] + ${cel('"]: can only be set by the queue; remove it')}`,
  };
}

/** The value before an UPDATE; `none` on CREATE. */
const before = (value: string, none = '""') => `oldObject == null ? ${none} : ${value}`;

/** Only UPDATE is checked: on CREATE, admission overwrites the annotation. */
export const USER_STAYS: Validation = {
  expression: `oldObject == null || ${user('object')} == ${user('oldObject')}`,
  message: reserved(
    `metadata.annotations["${USER_ANNOTATION}"]`,
    'can only be set by the queue',
    'keep its value',
  ),
};

/**
 * What the queue writes of a grant. New job ids follow the highest id in the cluster: an invented id could exhaust them. Whose place a pod
 * has in a group, and what of its deadline is for the start, no template says.
 */
const OF_ITS_PODS = [JOBID_ANNOTATION, GROUP_MEMBER_ANNOTATION, DEADLINE_ANNOTATION];
/** Annotations of pods and of templates that only the queue sets. */
const SET_BY_QUEUE = [ASSIGNMENT_ANNOTATION, ...OF_ITS_PODS, OWNER_ANNOTATION, QUEUED_BY_ANNOTATION];

/** Of a Job they are in its template. What it has from before can be removed; the deadline is put back (job-reapplied.ts). */
const NEVER_OF_JOBS = SET_BY_QUEUE.filter((key) => key !== DEADLINE_ANNOTATION);

function unchanged(keys: readonly string[]): Validation {
  const value = (object: string) => `${annotationsOf(object)}[?key].orValue("")`;
  const isOther = `key in ${annotationsOf('object')} && (oldObject == null || !(key in ${annotationsOf('oldObject')}) || ${value('object')} != ${value('oldObject')})`;
  const found = `${celList(keys)}.filter(key, ${isOther})`;
  return {
    expression: `${found}.size() == 0`,
    messageExpression: `${cel('FLUXQ_RESERVED: metadata.annotations["')} + ${found}[0] + ${cel('"]: can only be set by the queue; remove it')}`,
  };
}

const ofTheQueue = (props: AdmissionScopeProps) => allConditions(jobConditions(props));

export const JOB_GUARD = (props: AdmissionScopeProps & ControllerUserProps & KueueProps): Rules => ({
  variables: [
    { name: 'admitted', expression: admitted('object') },
    { name: 'wasAdmitted', expression: before(admitted('oldObject')) },
    { name: 'suspended', expression: 'object.spec.?suspend.orValue(false)' },
    { name: 'wasSuspended', expression: before('oldObject.spec.?suspend.orValue(false)', 'false') },
  ],
  validations: [
    unchanged(NEVER_OF_JOBS),
    ...[ASSIGNMENT_ANNOTATION, ...OF_ITS_PODS].map((key) => ({
      expression: `${ofTemplate(key)('object')} == (${before(ofTemplate(key)('oldObject'))})`,
      message: setByQueue(`spec.template.metadata.annotations["${key}"]`),
    })),
    withoutValue(SET_BY_QUEUE, templateAnnotationsOf, 'spec.template.metadata.annotations'),
    // The queue has no Job that admission left alone.
    admittedLabel(props, `variables.suspended && ${ofTheQueue(props)}`),
    USER_STAYS,
    {
      // The pods of the Job have places in the grant of that object.
      expression:
        `oldObject != null ? ${templateOwner('object')} == ${templateOwner('oldObject')} : ` +
        `${templateOwner('object')} == "" || (${namespaceIsEnabled(props)} && ${templateOwner('object')} == ${ownerOfKind(props)})`,
      message: setByQueue(`spec.template.metadata.annotations["${OWNER_ANNOTATION}"]`),
    },
    {
      // Admission writes it for the pods of Jobs that are not of the queue. It refuses it in others (unknown-keys.ts).
      expression:
        `oldObject != null ? ${templateUser('object')} == ${templateUser('oldObject')} : ` +
        `(${ofTheQueue(props)} && ${namespaceIsEnabled(props)}) || ` +
        `${templateUser('object')} in ["", ${userVariable(props).expression}] || ${isOfJudgedOwner(props)}`,
      message: reserved(
        `spec.template.metadata.annotations["${USER_ANNOTATION}"]`,
        'can only be set by the queue',
        'keep its value',
      ),
    },
    {
      expression: 'variables.wasAdmitted != "true" || !variables.wasSuspended || variables.suspended',
      message:
        'FLUXQ_HELD: spec.suspend: only the queue can start this Job; keep its value, and remove the hold of the Job if it has one',
    },
    ...GRANT_STAYS,
    ...jobsOfKueue(props),
  ],
});

const INDEX = cel(COMPLETION_INDEX_ANNOTATION);
const inTemplate = (object: string) => `${INDEX} in ${templateAnnotationsOf(object)}`;

/**
 * Without indexes all pods would have the one of the template, and so the node of that index. Whose Job it is does not matter: one
 * that is not of the queue can become one of it.
 */
export const TEMPLATE_INDEX_PART: GuardPart = {
  name: 'templateIndex',
  when:
    `${inTemplate('object')} && object.spec.?completionMode.orValue("NonIndexed") != "Indexed" && ` +
    `(oldObject == null || !(${inTemplate('oldObject')}))`,
  variables: [],
  problem: cel(
    reserved(
      `spec.template.metadata.annotations["${COMPLETION_INDEX_ANNOTATION}"]`,
      'only the Job controller gives pods an index',
      'remove it, or set spec.completionMode: Indexed',
    ),
  ),
};

/** Excludes new Jobs without anything reserved, which are those outside the queue. */
export const JOB_TOUCHES_RESERVED: MatchCondition = {
  name: 'touches-what-is-reserved',
  expression: [
    'oldObject != null',
    `(has(object.metadata.labels) && ${cel(ADMITTED_LABEL)} in object.metadata.labels)`,
    `(${HAS_ASSIGNMENT})`,
    ...[...SET_BY_QUEUE, USER_ANNOTATION].map((key) => `${cel(key)} in ${templateAnnotationsOf('object')}`),
    ...NEVER_OF_JOBS.map((key) => `${cel(key)} in ${annotationsOf('object')}`),
  ].join(' || '),
};

/**
 * Excludes most requests for pods, which need no validation: the Job controller creates a pod of a released Job, whose
 * assignment only the runtime writes, or an update changes no reserved field; that controller removes a finalizer of each.
 */
export const TOUCHES_RESERVED: MatchCondition = {
  name: 'touches-what-is-reserved',
  expression:
    `oldObject == null ? request.userInfo.username != ${cel(JOB_CONTROLLER)} || !(${HAS_ASSIGNMENT}) || ` +
    `(has(object.metadata.labels) && ${cel(ADMITTED_LABEL)} in object.metadata.labels) : ` +
    'object.metadata.?labels != oldObject.metadata.?labels || ' +
    'object.metadata.?annotations != oldObject.metadata.?annotations || ' +
    'object.metadata.?ownerReferences != oldObject.metadata.?ownerReferences || ' +
    `(${ENDS_TRACKING} && !(${BY_JOB_CONTROLLER})) || ` +
    'object.spec.?schedulingGates != oldObject.spec.?schedulingGates',
};

const settingOf = (object: string, key: string) =>
  `${object}.metadata.?annotations[?${cel(key)}].orValue(${object}.metadata.?labels[?${cel(key)}].orValue(""))`;

/** A pod that leaves its group after its release would use units that the group gives to another one. */
const GROUP_STAYS: readonly Validation[] = [GROUP, GROUP_SIZE].map((key) => ({
  expression: `oldObject == null || ${member('oldObject')} == "" || ${settingOf('object', key)} == ${settingOf('oldObject', key)}`,
  message: `FLUXQ_RESERVED: ${key}: cannot be changed in a pod that the queue released; keep its value`,
}));

export const POD_GUARD = (props: AdmissionScopeProps): Rules => ({
  variables: [
    { name: 'admitted', expression: admitted('object') },
    { name: 'wasAdmitted', expression: before(admitted('oldObject')) },
    { name: 'assignment', expression: assignment('object') },
    { name: 'gated', expression: gated('object') },
    { name: 'fromJob', expression: FROM_JOB },
  ],
  validations: [
    {
      // A pod of a released Job has both annotations from the Job's template, where only the runtime writes them.
      expression: `variables.assignment == (${before(assignment('oldObject'))}) || (oldObject == null && variables.fromJob)`,
      message: setByQueue(`metadata.annotations["${ASSIGNMENT_ANNOTATION}"]`),
    },
    {
      expression: `${jobid('object')} == (${before(jobid('oldObject'))}) || (oldObject == null && variables.fromJob)`,
      message: setByQueue(`metadata.annotations["${JOBID_ANNOTATION}"]`),
    },
    {
      // A pod of a Job that another queue has, from the template, where only admission writes it.
      expression: `${queuedBy('object')} == (${before(queuedBy('oldObject'))}) || (oldObject == null && variables.fromJob)`,
      message: setByQueue(`metadata.annotations["${QUEUED_BY_ANNOTATION}"]`),
    },
    {
      // For whom it was made: of a Job from its template, else from its owners.
      expression:
        `oldObject != null ? ${owner('object')} == ${owner('oldObject')} : variables.fromJob || ${owner('object')} == "" || ` +
        `(${namespaceIsEnabled(props)} && ${owner('object')} == ${ownerOfKind(props)})`,
      message: setByQueue(`metadata.annotations["${OWNER_ANNOTATION}"]`),
    },
    {
      // Whose place a pod has in which group: no owner writes it into a template either.
      expression: `${member('object')} == (${before(member('oldObject'))})`,
      message: setByQueue(`metadata.annotations["${GROUP_MEMBER_ANNOTATION}"]`),
    },
    {
      // What of the deadline is for the start, and what its user asked for: nobody can extend the deadline itself.
      expression: `${deadline('object')} == (${before(deadline('oldObject'))})`,
      message: setByQueue(`metadata.annotations["${DEADLINE_ANNOTATION}"]`),
    },
    withoutValue(SET_BY_QUEUE, annotationsOf, 'metadata.annotations'),
    ...GROUP_STAYS,
    admittedLabel(props, '(variables.gated || variables.assignment != "")'),
    USER_STAYS,
    {
      expression: `oldObject == null || variables.gated || !(${gated('oldObject')})`,
      message: `FLUXQ_HELD: spec.schedulingGates: only the queue can remove "${GATE}" from this pod; keep it`,
    },
    ...POD_KEEPS_ITS_GRANT,
    {
      expression:
        `object.spec.?schedulerName.orValue("") != ${cel(SCHEDULER_NAME)} || oldObject != null || ` +
        'variables.gated || variables.assignment != ""',
      message: reserved('spec.schedulerName', `${SCHEDULER_NAME} is only for pods of the queue`, 'remove it'),
    },
  ],
});

/** The stack's pods preempt others. No other pod may, so this applies in every other namespace. */
export const PRIORITY_CLASS_GUARD = {
  matchConditions: [
    {
      name: 'has-the-class-of-the-stack',
      expression: `has(object.spec.priorityClassName) && object.spec.priorityClassName == ${cel(PRIORITY_CLASS)}`,
    },
  ],
  validations: [
    {
      expression: 'false',
      message: reserved(
        'spec.priorityClassName',
        `${PRIORITY_CLASS} is only for pods of the queue itself`,
        'choose another PriorityClass',
      ),
    },
  ],
};

/** @param isAdmitted CEL: whether admission suspended or gated the object, so that the label is not the user's claim */
export function admittedLabel(props: AdmissionScopeProps, isAdmitted: string): Validation {
  return {
    expression:
      `oldObject != null ? variables.admitted == variables.wasAdmitted : ` +
      `variables.admitted == "" || (${isAdmitted} && ${namespaceIsEnabled(props)})`,
    message: reserved(
      `metadata.labels["${ADMITTED_LABEL}"]`,
      'can only be set by the queue',
      'keep its value',
    ),
  };
}

/** The sentence of a refusal. */
export function reserved(field: string, problem: string, remedy: string): string {
  return `FLUXQ_RESERVED: ${field}: ${problem}; ${remedy}`;
}

/** Of what a user cannot write. */
export function setByQueue(field: string): string {
  return reserved(field, 'can only be set by the queue', 'remove it');
}
