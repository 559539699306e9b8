/**
 * CEL for pods that a queue released: what ties a pod of a Job to its grant stays, so that the Job controller makes no second
 * pod beside it, its units are counted until it ends, and its requests do not grow beyond the grant.
 */
import {
  GARBAGE_COLLECTOR_USERS,
  JOB_CONTROLLER_USERS,
  JOB_TRACKING_FINALIZER,
} from '../../api/job-controller';
import {
  ADMITTED_LABEL,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
  GROUP_MEMBER_ANNOTATION,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
  QUEUED_BY_ANNOTATION,
} from '../../api/labels';
import { POD_SET_LABELS } from '../../api/workload-kinds';
import { annotation, label } from './job-reapplied';
import { BY_KUBERNETES, cel, celList, HAS_ASSIGNMENT, isOfJob, type MatchCondition } from './scope';
import type { Validation } from './settings';

const annotated = (key: string) => `(${annotation('oldObject', key)} != "")`;
/** Pods of a grant of this queue, and of a Job that Kueue started: nobody but the queue writes either annotation. */
const IS_GRANTED = `(oldObject != null && (${annotated(JOBID_ANNOTATION)} || ${annotated(QUEUED_BY_ANNOTATION)}))`;
/** The owner that is the controller, in a list. Under another kind or name of the same uid its Job would not find the pod. */
const controllersOf = (object: string) =>
  `${object}.metadata.?ownerReferences.orValue([]).filter(owner, owner.?controller.orValue(false))` +
  '.map(owner, [owner.apiVersion, owner.kind, owner.name, owner.uid])';

const isTracked = (object: string) =>
  `${cel(JOB_TRACKING_FINALIZER)} in ${object}.metadata.?finalizers.orValue([])`;
/** CEL: an update of a pod removes the finalizer of its Job. */
export const ENDS_TRACKING = `(oldObject != null && ${isTracked('oldObject')} && !(${isTracked('object')}))`;
/** CEL: the Job controller or the controller manager sends the request. */
export const BY_JOB_CONTROLLER = `request.userInfo.username in ${celList(JOB_CONTROLLER_USERS)}`;

/**
 * The Job controller gives its name to the pods of each Job but one with `manualSelector`. Which labels that selects is not known
 * here, so such a pod keeps them all: one that its Job no longer selects would be neither counted nor ever free of the finalizer.
 */
const IS_SELECTED_BY_USER = `(${isTracked('oldObject')} && ${label('oldObject', JOB_NAME_LABEL)} == "")`;
/**
 * The Job controller releases a pod that has lost a label of its selector, and makes another one; both would run. A user may
 * have written the name of a Job into the template of a `manualSelector`, so the release is refused for as long as the pod may
 * run, and after that until the Job controller has counted its end: the queue has counted it, so its units are free, and the
 * other pod would run on them.
 * Under one account for all controllers the finalizer tells it from the garbage collector, which leaves it.
 * The refusal must be Forbidden: the Job controller takes Invalid for a pod that has gone.
 */
const IS_ORPHANED = `(request.userInfo.username in ${celList(GARBAGE_COLLECTOR_USERS)} && !${ENDS_TRACKING})`;
const IS_OVER = '(oldObject.?status.?phase.orValue("") in ["Failed", "Succeeded"])';
const IS_COUNTED = `(${IS_OVER} && !(${isTracked('oldObject')}))`;
const MAY_ORPHAN = `(${isOfJob('oldObject')} && !${IS_COUNTED} ? ${IS_ORPHANED} : (${BY_KUBERNETES}))`;
/** Only its own Job may adopt the orphan of a Job: another one would have it beside its grant. */
const isOfItsOwn = `(${label('oldObject', JOB_UID_LABEL)} == "" ? !owner[0].startsWith("batch/") : owner[3] == ${label('oldObject', JOB_UID_LABEL)})`;
const IS_ADOPTED = `((${BY_KUBERNETES}) && ${controllersOf('object')}.all(owner, ${isOfItsOwn}))`;
const MAY_CHANGE_OWNER = `(${controllersOf('object')}.size() > 0 ? ${IS_ADOPTED} : ${MAY_ORPHAN})`;

const problem = (field: string, remedy: string) =>
  `FLUXQ_RESERVED: ${field}: cannot be changed in a pod that a queue released; ${remedy}`;

/** Validations of the guard of pods. */
export const POD_KEEPS_ITS_GRANT: readonly Validation[] = [
  // A pod that would change its pod set left a free place in it, and ran on beside the one that gets that.
  ...[JOB_UID_LABEL, JOB_NAME_LABEL, ...POD_SET_LABELS].map((key) => ({
    expression: `!${IS_GRANTED} || ${label('object', key)} == ${label('oldObject', key)}`,
    message: problem(`metadata.labels["${key}"]`, 'keep its value'),
  })),
  {
    expression: `!${IS_GRANTED} || !${IS_SELECTED_BY_USER} || object.metadata.?labels == oldObject.metadata.?labels`,
    message: problem(
      'metadata.labels',
      'its Job selects its pods by itself (manualSelector): keep its labels',
    ),
  },
  {
    // The Job controller reads the index of a pod from it: a second pod of an index leaves a hole, which a third one fills.
    expression: `!${IS_GRANTED} || ${annotation('object', COMPLETION_INDEX_ANNOTATION)} == ${annotation('oldObject', COMPLETION_INDEX_ANNOTATION)}`,
    message: problem(`metadata.annotations["${COMPLETION_INDEX_ANNOTATION}"]`, 'keep its value'),
  },
  {
    expression: `!${IS_GRANTED} || ${controllersOf('object')} == ${controllersOf('oldObject')} || ${MAY_CHANGE_OWNER}`,
    message: problem('metadata.ownerReferences', 'keep its owner, and the labels that its Job selects'),
  },
  {
    // Another owner would keep the pod when its Job is deleted, which ends the grant of Kueue.
    expression: `oldObject == null || !${annotated(QUEUED_BY_ANNOTATION)} || (${BY_KUBERNETES}) || object.metadata.?ownerReferences == oldObject.metadata.?ownerReferences`,
    message: problem('metadata.ownerReferences', 'keep its owners'),
  },
  {
    // Without it a deletion by force takes the pod from the API while it runs, and its Job makes another one. A pod of a group has none.
    expression: `!${IS_GRANTED} || ${annotated(GROUP_MEMBER_ANNOTATION)} || !${ENDS_TRACKING} || ${BY_JOB_CONTROLLER}`,
    message: problem(
      `metadata.finalizers["${JOB_TRACKING_FINALIZER}"]`,
      'the Job controller removes it once the pod has ended',
    ),
  },
];

const quantityOf = (value: string) => `quantity(string(${value}))`;
/** Whether one of the requests in `now` is more than in `before`. */
const grows = (now: string, before: string) =>
  `${now}.?resources.?requests.orValue({}).exists(r, !(r in ${before}.?resources.?requests.orValue({})) || ` +
  `${quantityOf(`${now}.resources.requests[r]`)}.compareTo(${quantityOf(`${before}.resources.requests[r]`)}) > 0)`;
const containersGrow = (list: string) =>
  `object.spec.?${list}.orValue([]).exists(c, oldObject.spec.?${list}.orValue([]).exists(o, o.name == c.name && ${grows('c', 'o')}))`;

const IS_GATED = `object.spec.?schedulingGates.orValue([]).exists(g, g.name == ${cel(GATE)})`;

/**
 * In-place resizes of pods with a grant. A gated pod is judged anew before its release, but not one of a Job: its Job asked for
 * all its pods alike.
 */
export const RESIZE_GUARD: {
  matchConditions: readonly MatchCondition[];
  validations: readonly Validation[];
} = {
  matchConditions: [
    {
      name: 'of-the-queue',
      expression: `${label('object', ADMITTED_LABEL)} == "true" || (${HAS_ASSIGNMENT})`,
    },
    {
      name: 'released',
      expression: `!(${IS_GATED}) || ${isOfJob('object')}`,
    },
  ],
  validations: [
    {
      expression:
        `!${containersGrow('containers')} && !${containersGrow('initContainers')} && ` +
        `!(${grows('object.spec', 'oldObject.spec')})`,
      messageExpression:
        `(${IS_GATED}) ? ${cel('FLUXQ_RELEASED: resources.requests: cannot be increased in a pod of a Job; submit another Job')} : ` +
        cel(
          'FLUXQ_RELEASED: resources.requests: cannot be increased after the queue released the pod; submit another workload',
        ),
    },
  ],
};
