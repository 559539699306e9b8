/** CEL that refuses keys of constructs/api/known-keys.ts that are misspelled or in the wrong place. */
import {
  KEY_PREFIX,
  KNOWN_KEYS,
  LEAST_NEARNESS,
  QUEUE_KEYS,
  SUGGESTIONS,
  TEMPLATE_KEYS,
  TEMPLATE_PROBLEM,
  TEMPLATE_REMEDY,
  UNKNOWN_KEY_PROBLEM,
  unknownKeyRemedy,
} from '../../api/known-keys';
import type { GuardPart } from './guard-parts';
import { cel, celList, type Variable } from './scope';
import { INVALID } from './settings';

const MAPS = ['annotations', 'labels'] as const;

/** Whether `key` has our prefix, is not among these, and is not what the object had before. */
function isNewKey(path: string, map: (typeof MAPS)[number], known: readonly string[]): string {
  const before = `(oldObject != null && key in oldObject.${path}.?${map}.orValue({}))`;
  return `key.startsWith(${cel(KEY_PREFIX)}) && !(key in ${celList(known)}) && !${before}`;
}

function newKeys(path: string, map: (typeof MAPS)[number], known: readonly string[]): string {
  return `object.${path}.?${map}.orValue({}).map(key, key).filter(key, ${isNewKey(path, map, known)})`;
}

/** CEL: whether there is a new key. Most objects have none of our keys but known ones, so this builds no list. */
function hasNewKeys(path: string, known: readonly string[]): string {
  return MAPS.map(
    (map) => `object.${path}.?${map}.orValue({}).exists(key, ${isNewKey(path, map, known)})`,
  ).join(' || ');
}

const hasUserKeys = (map: (typeof MAPS)[number]) =>
  `(has(object.metadata.${map}) && object.metadata.${map}.exists(key, key.startsWith(${cel(KEY_PREFIX)}) && ` +
  `!(key in ${celList(QUEUE_KEYS)})))`;

/** CEL: false unless the object has keys of a user with our prefix, and an update changes the maps. */
export const TOUCHES_USER_KEYS =
  `(oldObject == null || ${MAPS.map((map) => `object.metadata.?${map} != oldObject.metadata.?${map}`).join(' || ')}) && ` +
  `(${MAPS.map(hasUserKeys).join(' || ')})`;

/** The new keys of each map, and the first one by name, of the annotations before the labels: the variables NAME, NAMEAnnotations, NAMELabels. */
function newKeyVariables(name: string, path: string, known: readonly string[]): readonly Variable[] {
  const [annotations, labels] = [`variables.${name}Annotations`, `variables.${name}Labels`];
  return [
    { name: `${name}Annotations`, expression: newKeys(path, 'annotations', known) },
    { name: `${name}Labels`, expression: newKeys(path, 'labels', known) },
    {
      name,
      expression: `${annotations}.size() > 0 ? ${annotations}.min() : ${labels}.size() > 0 ? ${labels}.min() : ""`,
    },
  ];
}

const NAME = `variables.key.substring(${KEY_PREFIX.length})`;
const SCORES = `[${SUGGESTIONS.map(
  ({ pairs }) =>
    `${celList(pairs)}.filter(pair, ${NAME}.contains(pair)).size() * 1000 / (${pairs.length} + ${NAME}.size())`,
).join(', ')}]`;
const REMEDIES = celList(SUGGESTIONS.map(({ key }) => unknownKeyRemedy(key)));
const REMEDY = `variables.scores.max() < ${LEAST_NEARNESS} ? ${cel(unknownKeyRemedy(undefined))} : ${REMEDIES}[variables.scores.indexOf(variables.scores.max())]`;

/** The sentence of a CodedError about the key in a variable, or "". */
function problemOf(variable: string, path: string, problem: string, remedy: string) {
  const map = `(variables.${variable}Annotations.size() > 0 ? "annotations" : "labels")`;
  return (
    `variables.${variable} == "" ? "" : ${cel(`${INVALID}: ${path.replaceAll('?', '')}.`)} + ${map} + ${cel('["')} + ` +
    `variables.${variable} + ${cel(`"]: ${problem}; `)} + (${remedy})`
  );
}

export const KEY_VARIABLES: readonly Variable[] = [
  ...newKeyVariables('key', 'metadata', KNOWN_KEYS),
  { name: 'scores', expression: SCORES },
];

/** CEL: the sentence about the first key of the metadata that is no setting, or "". It needs the variables. */
export const KEY_PROBLEM = problemOf('key', 'metadata', UNKNOWN_KEY_PROBLEM, REMEDY);

const TEMPLATE = 'spec.template.?metadata';

/** Settings in the template of a Job, where they would be ignored. */
export const TEMPLATE_KEY_PART: GuardPart = {
  name: 'template',
  when: hasNewKeys(TEMPLATE, TEMPLATE_KEYS),
  variables: newKeyVariables('templateKey', TEMPLATE, TEMPLATE_KEYS),
  problem: problemOf('templateKey', TEMPLATE, TEMPLATE_PROBLEM, cel(TEMPLATE_REMEDY)),
};
