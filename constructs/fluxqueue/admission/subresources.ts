/**
 * CEL of what the subresources of Jobs and Pods write into the metadata: the status endpoints take labels, annotations and
 * owners from the request, and a Binding brings its own into the pod. Policies on `jobs` and `pods` see none of these requests.
 */
import { KEY_PREFIX } from '../../api/known-keys';
import {
  ADMITTED_LABEL,
  COMPLETION_INDEX_ANNOTATION,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  JOBID_ANNOTATION,
  KUEUE_QUEUE_LABEL,
} from '../../api/labels';
import { POD_SET_LABELS } from '../../api/workload-kinds';
import { ENDS_TRACKING } from './granted-pods';
import { type GuardSpec, type ResourceRule, resourceRule } from './guard-policy';
import { BY_KUBERNETES, cel, celList } from './scope';

const OF_OTHERS = [
  COMPLETION_INDEX_ANNOTATION,
  JOB_NAME_LABEL,
  JOB_UID_LABEL,
  KUEUE_QUEUE_LABEL,
  ...POD_SET_LABELS,
];
const isOurs = `(key.startsWith(${cel(KEY_PREFIX)}) || key in ${celList(OF_OTHERS)})`;
/** Whether a map of the metadata has other keys of the queue than before; a Binding has no before. */
const changes = (map: string) => {
  const now = `dyn(object.metadata.?${map}.orValue({}))`;
  const old = `(oldObject == null ? dyn({}) : dyn(oldObject.metadata.?${map}.orValue({})))`;
  return (
    `(${now} != ${old} && (${now}.exists(key, ${isOurs} && (!(key in ${old}) || ${now}[key] != ${old}[key])) || ` +
    `${old}.exists(key, ${isOurs} && !(key in ${now}))))`
  );
};
const CHANGES_OWNER =
  '(oldObject != null && object.metadata.?ownerReferences != oldObject.metadata.?ownerReferences)';

const admitted = `oldObject.metadata.?labels[?${cel(ADMITTED_LABEL)}].orValue("") == "true"`;
const granted = `${cel(JOBID_ANNOTATION)} in oldObject.metadata.?annotations.orValue({})`;
const isOver = (object: string) => `dyn(${object}).?status.?phase.orValue("") in ["Failed", "Succeeded"]`;
/** Its units are free then for Kubernetes and the queue, whatever its containers do. */
const ENDS_POD = `(request.kind.kind == "Pod" && ${isOver('object')} && !(${isOver('oldObject')}) && (${admitted} || ${granted}))`;
/** Kubelets, also virtual ones, report their node; the controllers of Kubernetes end the pods of a node that is gone. */
const SPEAKS_FOR_NODES =
  `((${BY_KUBERNETES}) || authorizer.group("").resource("nodes").subresource("status").check("patch").allowed() || ` +
  'authorizer.group("").resource("nodes").subresource("status").check("update").allowed())';

const CHANGES_METADATA = `(${[changes('labels'), changes('annotations'), CHANGES_OWNER, ENDS_TRACKING].join(' || ')})`;

/** Of everybody: the runtime writes no metadata by a status, and kubelets and controllers write no key of the queue. */
export const SUBRESOURCE_GUARD: Omit<GuardSpec, 'matchConstraints'> & {
  readonly resourceRules: readonly ResourceRule[];
} = {
  resourceRules: [
    resourceRule('batch', ['UPDATE'], 'jobs/status'),
    resourceRule('', ['UPDATE'], 'pods/status'),
    resourceRule('', ['CREATE'], 'bindings', 'pods/binding'),
  ],
  matchConditions: [
    {
      name: 'changes-what-is-the-queues',
      expression: `${CHANGES_METADATA} || ${ENDS_POD}`,
    },
  ],
  validations: [
    {
      expression: `!${CHANGES_METADATA}`,
      message:
        `FLUXQ_RESERVED: metadata: labels and annotations of the queue (${KEY_PREFIX}…), of a completion index, of a pod set, of Kueue and of the owner, ` +
        'and the finalizer of a Job cannot be written by a status or a Binding; remove them from this request',
    },
    {
      expression: `!${ENDS_POD} || ${SPEAKS_FOR_NODES}`,
      message:
        'FLUXQ_RESERVED: status.phase: only who reports for nodes (the right to patch nodes/status) ends a pod of the queue; delete the pod',
    },
  ],
};
