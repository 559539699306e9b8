/** CEL that warns about settings in the metadata of objects that are no workloads, where the queue does not read them. */
import { KEY_PREFIX } from '../../api/known-keys';
import { USER_ANNOTATION } from '../../api/labels';
import { UNREAD_KINDS, unreadProblem } from '../../api/unread-settings';
import type { GuardSpec } from './guard-policy';
import {
  type AdmissionScopeProps,
  type ControllerUserProps,
  cel,
  namespaceSelector,
  notTheController,
} from './scope';
import { INVALID } from './settings';

const MAPS = ['annotations', 'labels'] as const;
const KIND = 'request.kind.kind';
/** What its template says, too, is read there. */
const TEMPLATES = ['template', 'jobTemplate'];

/** CEL: whether the object has the setting of the map from this request. As isUnreadKey of constructs/api/unread-settings.ts. */
const isNew = (map: (typeof MAPS)[number]) =>
  `key.startsWith(${cel(KEY_PREFIX)}) && !(${KIND} == "MiniCluster" && key == ${cel(USER_ANNOTATION)}) && ` +
  `(oldObject == null || oldObject.metadata.?${map}[?key].orValue("") != object.metadata.${map}[key]) && ` +
  `(${KIND} == "DaemonSet" || (${TEMPLATES.map(
    (path) => `object.spec.?${path}.?metadata.?${map}[?key] != optional.of(object.metadata.${map}[key])`,
  ).join(' && ')}))`;

const hasNew = (map: (typeof MAPS)[number]) =>
  `(has(object.metadata.${map}) && object.metadata.${map}.exists(key, ${isNew(map)}))`;
/** CEL: the new settings of a map, as the subject of a sentence. */
const newIn = (map: (typeof MAPS)[number]) =>
  `(has(object.metadata.${map}) ? [object.metadata.${map}.map(key, key).filter(key, ${isNew(map)})] : [])` +
  `.map(keys, keys.size() == 1 ? keys[0] : "each of " + keys.join(", "))[0]`;

const PROBLEMS = `{${Object.keys(UNREAD_KINDS)
  .map((kind) => `${cel(kind)}: ${cel(unreadProblem(kind))}`)
  .join(', ')}}`;

/** They were accepted without a word, so a manifest with them is not refused. */
export function unreadSettings(props: AdmissionScopeProps & ControllerUserProps): GuardSpec {
  return {
    matchConstraints: {
      namespaceSelector: namespaceSelector(props),
      resourceRules: Object.values(UNREAD_KINDS).map(({ apiVersion, plural }) => ({
        apiGroups: [apiVersion.includes('/') ? apiVersion.split('/')[0]! : ''],
        apiVersions: [apiVersion.split('/').at(-1)!],
        operations: ['CREATE', 'UPDATE'],
        resources: [plural],
      })),
    },
    matchConditions: [
      { name: 'has-settings', expression: MAPS.map(hasNew).join(' || ') },
      notTheController(props),
    ],
    action: 'Warn',
    validations: MAPS.map((map) => ({
      expression: `!${hasNew(map)}`,
      messageExpression: `${cel(`${INVALID}: metadata.${map}: `)} + ${newIn(map)} + " " + ${PROBLEMS}[${KIND}]`,
    })),
  };
}
