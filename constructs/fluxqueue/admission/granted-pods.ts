/**
 * CEL for pods that the queue released: what ties a pod of a Job to its grant stays, so that its units are counted until it
 * ends, and its requests do not grow beyond the grant.
 */
import {
  ADMITTED_LABEL,
  COMPLETION_INDEX_ANNOTATION,
  GATE,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
} from '../../api/labels';
import { annotation, label } from './job-reapplied';
import { BY_KUBERNETES, cel, HAS_ASSIGNMENT, type MatchCondition } from './scope';
import type { Validation } from './settings';

const HAS_GRANT = `oldObject != null && ${cel(JOBID_ANNOTATION)} in oldObject.metadata.?annotations.orValue({})`;
/** The uid of the owner that is the controller, in a list. */
const controllerOf = (object: string) =>
  `${object}.metadata.?ownerReferences.orValue([]).filter(owner, owner.?controller.orValue(false)).map(owner, owner.uid)`;

const problem = (field: string, remedy: string) =>
  `FLUXQ_RESERVED: ${field}: cannot be changed in a pod that the queue released; ${remedy}`;

/** Validations of the guard of pods. */
export const POD_KEEPS_ITS_GRANT: readonly Validation[] = [
  ...[JOB_UID_LABEL, JOB_NAME_LABEL].map((key) => ({
    expression: `!(${HAS_GRANT}) || ${label('object', key)} == ${label('oldObject', key)}`,
    message: problem(`metadata.labels["${key}"]`, 'keep its value'),
  })),
  {
    // The Job controller reads the index of a pod from it: a second pod of an index leaves a hole, which a third one fills.
    expression: `!(${HAS_GRANT}) || ${annotation('object', COMPLETION_INDEX_ANNOTATION)} == ${annotation('oldObject', COMPLETION_INDEX_ANNOTATION)}`,
    message: problem(`metadata.annotations["${COMPLETION_INDEX_ANNOTATION}"]`, 'keep its value'),
  },
  {
    // The garbage collector orphans a pod, and only its own Job may adopt it again: another Job would have it beside its grant.
    expression:
      `!(${HAS_GRANT}) || ${controllerOf('object')} == ${controllerOf('oldObject')} || ((${BY_KUBERNETES}) && ` +
      `${controllerOf('object')}.all(uid, uid == ${label('oldObject', JOB_UID_LABEL)}))`,
    message: problem('metadata.ownerReferences', 'keep its owner'),
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
const OF_JOB =
  'object.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false) && owner.kind == "Job" && ' +
  'owner.apiVersion.startsWith("batch/"))';

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
      expression: `!(${IS_GATED}) || ${OF_JOB}`,
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
