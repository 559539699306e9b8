/**
 * CEL of Kueue beside the queue. Without users of Kueue a Job cannot name one of its queues, because its two queues would
 * start and suspend it in turn. With them the Job and its pods are left alone together, and what keeps it from being a way
 * around both queues is here: it is created suspended, only Kueue starts it, and it gets no more pods than Kueue started.
 */
import { GRANTED_FIELDS } from '../../api/granted-fields';
import { ADMITTED_LABEL, KUEUE_QUEUE_LABEL, QUEUED_BY_ANNOTATION } from '../../api/labels';
import type { GuardPart } from './guard-parts';
import { type GuardSpec, resourceRule } from './guard-policy';
import {
  type AdmissionScopeProps,
  allConditions,
  cel,
  celList,
  isInQueue,
  jobConditions,
  namespaceIsEnabled,
  notExcluded,
} from './scope';
import type { Validation } from './settings';

export interface KueueProps {
  /**
   * User names of Kueue at the apiserver, which alone start the Jobs that have its queue label.
   * @default - none: a Job with that label is refused
   */
  readonly kueueUsers?: readonly string[];
}

const FIELD = `metadata.labels["${KUEUE_QUEUE_LABEL}"]`;
const isOfKueue = (object: string) =>
  `(has(${object}.metadata.labels) && ${cel(KUEUE_QUEUE_LABEL)} in ${object}.metadata.labels)`;
const admitted = (object: string) => `${object}.metadata.?labels[?${cel(ADMITTED_LABEL)}].orValue("")`;
const noted = (object: string) =>
  `${object}.spec.template.?metadata.?annotations[?${cel(QUEUED_BY_ANNOTATION)}].orValue("")`;
const other = (field: string, problem: string, remedy: string) =>
  `FLUXQ_OTHER_QUEUE: ${field}: ${problem}; ${remedy}`;

const NOT_ALLOWED = other(
  FIELD,
  'would put the Job into a queue of Kueue beside the one of its namespace',
  'remove it, or ask an administrator to set kueueUsers of FluxQueue',
);
const NOT_SUSPENDED = other(
  'spec.suspend',
  'Kueue does not hold this Job',
  `set it to true, so that Kueue starts it, or remove the label ${KUEUE_QUEUE_LABEL}`,
);
/** A pod without a label of it would stay although Kueue stops the Job (./granted-pods.ts). */
const OWN_SELECTOR = other(
  'spec.manualSelector',
  'would let its pods run after Kueue has stopped the Job',
  'remove it together with spec.selector',
);
const ADDED_LATER = other(
  FIELD,
  'was added after the queue had taken the Job',
  'write the queue of Kueue into the manifest, or have no default queue of Kueue in this namespace',
);

/** New Jobs of enabled namespaces. It has no validation of its own, because few Jobs have the label. */
export function kueuePart({ kueueUsers = [] }: KueueProps): GuardPart {
  return {
    name: 'kueue',
    when: `oldObject == null && ${isOfKueue('object')}`,
    variables: [],
    problem:
      kueueUsers.length === 0
        ? cel(NOT_ALLOWED)
        : `${noted('object')} != "kueue" || ${admitted('object')} != "" ? ${cel(ADDED_LATER)} : ` +
          `object.spec.?manualSelector.orValue(false) ? ${cel(OWN_SELECTOR)} : ` +
          `object.spec.?suspend.orValue(false) ? "" : ${cel(NOT_SUSPENDED)}`,
  };
}

const inLabels = (object: string) =>
  `${cel(KUEUE_QUEUE_LABEL)} in dyn(${object}).spec.?jobLabels.orValue({})`;

/**
 * MiniClusters: the controller creates and changes their Jobs, and no guard of Jobs judges that. Kueue cannot hold such a Job,
 * so it is refused also with users of Kueue.
 */
export function miniClusterOfKueue(scope: AdmissionScopeProps): Validation {
  return {
    expression: `!(${inLabels('object')}) || (oldObject != null && ${inLabels('oldObject')}) || !${isInQueue(scope)}`,
    message: other(
      `spec.jobLabels["${KUEUE_QUEUE_LABEL}"]`,
      'would put the Job of the MiniCluster into a queue of Kueue beside the one of its namespace',
      'remove it',
    ),
  };
}

const LEAVES_PODS =
  'dyn(request.options).?orphanDependents.orValue(false) || ' +
  '!(dyn(request.options).?propagationPolicy.orValue("") in ["Background", "Foreground"])';

/**
 * Kueue forgets a Job that is deleted, and gives its quota to others, so its pods go with it. Kubernetes orphans the pods of a Job
 * whose deletion does not say what becomes of them, and a finalizer that its user adds decides it then, too.
 */
export const KUEUE_DELETION_GUARD = (scope: AdmissionScopeProps): GuardSpec => ({
  matchConstraints: {
    namespaceSelector: notExcluded(scope),
    resourceRules: [resourceRule('batch', ['DELETE'], 'jobs')],
  },
  matchConditions: [{ name: 'of-kueue', expression: `${noted('oldObject')} != ""` }],
  validations: [
    {
      expression: `!(${LEAVES_PODS})`,
      message: other(
        'propagationPolicy',
        'would let the pods of the Job run after Kueue has given their quota to others',
        'set it to Background, as kubectl delete does',
      ),
    },
  ],
});

const isStarted = '!oldObject.spec.?suspend.orValue(false) && !object.spec.?suspend.orValue(false)';
const raised = (field: string) =>
  `(has(oldObject.spec.${field}) && (!has(object.spec.${field}) || object.spec.${field} > oldObject.spec.${field}))`;

/** Validations of the guard of Jobs, which applies in every namespace: one that is enabled later has the Jobs from before. */
export function jobsOfKueue({
  kueueUsers = [],
  ...scope
}: KueueProps & AdmissionScopeProps): readonly Validation[] {
  const byKueue = `request.userInfo.username in ${celList(kueueUsers)}`;
  const ofTheQueue = allConditions(jobConditions(scope));
  const was = `(oldObject != null && ${noted('oldObject')} != "")`;
  return [
    {
      // Where admission does not write it, it is refused: in the template of a Job of the queue as an unknown setting.
      expression:
        `oldObject != null ? ${noted('object')} == ${noted('oldObject')} : ` +
        `${noted('object')} == "" || (${namespaceIsEnabled(scope)} && (${isOfKueue('object')} || ${ofTheQueue}))`,
      message:
        `FLUXQ_RESERVED: spec.template.metadata.annotations["${QUEUED_BY_ANNOTATION}"]: ` +
        'can only be set by the queue; keep its value',
    },
    {
      expression:
        `oldObject == null || (${noted('oldObject')} == "" && ${admitted('oldObject')} == "") || ` +
        `${isOfKueue('object')} == ${isOfKueue('oldObject')}`,
      message: other(
        FIELD,
        'cannot be added or removed after the Job was created',
        'delete the Job, and create it again',
      ),
    },
    {
      expression: `!${was} || ${byKueue} || object.spec.?suspend.orValue(false) || !oldObject.spec.?suspend.orValue(false)`,
      message: 'FLUXQ_HELD: spec.suspend: only Kueue can start this Job; keep its value',
    },
    ...GRANTED_FIELDS.filter(({ field }) => field !== 'activeDeadlineSeconds').map(({ field, remedy }) => ({
      expression: `!${was} || ${byKueue} || !(${isStarted}) || !${raised(field)}`,
      message: `FLUXQ_RELEASED: spec.${field}: cannot be increased after Kueue started the Job; ${remedy}`,
    })),
  ];
}
