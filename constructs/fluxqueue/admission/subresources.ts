/**
 * CEL of what the subresources of Jobs and Pods write into the metadata: the status endpoints take labels, annotations and
 * owners from the request, and a Binding brings its own into the pod. Policies on `jobs` and `pods` see none of these requests.
 */
import { COMPLETION_INDEX_ANNOTATION, JOB_NAME_LABEL, JOB_UID_LABEL } from '../../api/labels';
import { KEY_PREFIX } from '../../api/known-keys';
import type { GuardSpec, ResourceRule } from './guard-policy';
import { cel, celList } from './scope';

const OF_THE_GRANT = [COMPLETION_INDEX_ANNOTATION, JOB_NAME_LABEL, JOB_UID_LABEL];
const isOurs = `(key.startsWith(${cel(KEY_PREFIX)}) || key in ${celList(OF_THE_GRANT)})`;
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

const rule = (
  group: string,
  operations: ResourceRule['operations'],
  ...resources: string[]
): ResourceRule => ({ apiGroups: [group], apiVersions: ['v1'], operations, resources });

/** Applies to everybody: the runtime writes no status of a Job or Pod, and kubelets and controllers write no key of the queue. */
export const SUBRESOURCE_GUARD: Omit<GuardSpec, 'matchConstraints'> & {
  readonly resourceRules: readonly ResourceRule[];
} = {
  resourceRules: [
    rule('batch', ['UPDATE'], 'jobs/status'),
    rule('', ['UPDATE'], 'pods/status'),
    rule('', ['CREATE'], 'bindings', 'pods/binding'),
  ],
  matchConditions: [
    {
      name: 'changes-what-is-the-queues',
      expression: [changes('labels'), changes('annotations'), CHANGES_OWNER].join(' || '),
    },
  ],
  validations: [
    {
      expression: 'false',
      message:
        `FLUXQ_RESERVED: metadata: labels and annotations of the queue (${KEY_PREFIX}…), of a completion index and of the owner ` +
        'cannot be written by a status or a Binding; remove them from this request',
    },
  ],
};
