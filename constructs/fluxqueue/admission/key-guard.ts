/** CEL that refuses keys of constructs/api/known-keys.ts that are misspelled or in the wrong place. */
import { Construct } from 'constructs';
import {
  KEY_PREFIX,
  KNOWN_KEYS,
  SUGGESTIONS,
  TEMPLATE_KEYS,
  TEMPLATE_PROBLEM,
  TEMPLATE_REMEDY,
  UNKNOWN_KEY_PROBLEM,
  unknownKeyRemedy,
} from '../../api/known-keys';
import { addGuard } from './guard-policy';
import {
  type AdmissionScopeProps,
  cel,
  celList,
  HAS_ASSIGNMENT,
  JOB_CONDITIONS,
  type MatchCondition,
  namespaceSelector,
  POD_CONDITIONS,
} from './scope';
import { INVALID, type Validation } from './settings';

const MAPS = ['annotations', 'labels'] as const;

/** Whether `key` has our prefix, is not among these, and is not what the object had before. */
function isNewKey(path: string, map: (typeof MAPS)[number], known: readonly string[]): string {
  const before = `(oldObject != null && key in oldObject.${path}.?${map}.orValue({}))`;
  return `key.startsWith(${cel(KEY_PREFIX)}) && !(key in ${celList(known)}) && !${before}`;
}

function newKeys(path: string, map: (typeof MAPS)[number], known: readonly string[]): string {
  return `object.${path}.?${map}.orValue({}).map(key, key).filter(key, ${isNewKey(path, map, known)})`;
}

/** Most objects have none of our keys but known ones, so this builds no list. */
function hasNewKeys(path: string, known: readonly string[]): string {
  return MAPS.map(
    (map) => `object.${path}.?${map}.orValue({}).exists(key, ${isNewKey(path, map, known)})`,
  ).join(' || ');
}

/** The first key by name, of the annotations before the labels. */
const firstOf = (path: string, known: readonly string[]) => {
  const [annotations, labels] = MAPS.map((map) => newKeys(path, map, known));
  return `${annotations}.size() > 0 ? ${annotations}.min() : ${labels}.size() > 0 ? ${labels}.min() : ""`;
};
const mapOf = (path: string, known: readonly string[]) =>
  `${newKeys(path, 'annotations', known)}.size() > 0 ? "annotations" : "labels"`;

const NAME = `variables.key.substring(${KEY_PREFIX.length})`;
const SCORES = `[${SUGGESTIONS.map(
  ({ pairs }) =>
    `${celList(pairs)}.filter(pair, ${NAME}.contains(pair)).size() * 1000 / (${pairs.length} + ${NAME}.size())`,
).join(', ')}]`;
const REMEDIES = celList(SUGGESTIONS.map(({ key }) => unknownKeyRemedy(key)));
const REMEDY = `variables.scores.max() == 0 ? ${cel(unknownKeyRemedy(undefined))} : ${REMEDIES}[variables.scores.indexOf(variables.scores.max())]`;

/** The sentence of a CodedError. */
function sentence(path: string, problem: string, remedy: string): string {
  return (
    `${cel(`${INVALID}: ${path}.`)} + variables.map + ${cel('["')} + variables.key + ` +
    `${cel(`"]: ${problem}; `)} + (${remedy})`
  );
}

interface Rules {
  readonly matchConditions: readonly MatchCondition[];
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly Validation[];
}

function unknownKeys(conditions: readonly MatchCondition[]): Rules {
  return {
    matchConditions: [
      ...conditions,
      { name: 'has-unknown-keys', expression: hasNewKeys('metadata', KNOWN_KEYS) },
    ],
    variables: [
      { name: 'key', expression: firstOf('metadata', KNOWN_KEYS) },
      { name: 'map', expression: mapOf('metadata', KNOWN_KEYS) },
      { name: 'scores', expression: SCORES },
    ],
    validations: [
      { expression: 'false', messageExpression: sentence('metadata', UNKNOWN_KEY_PROBLEM, REMEDY) },
    ],
  };
}

const TEMPLATE = 'spec.template.?metadata';
/** `object.spec.template.?metadata.?labels` needs no second `?` after the first. */
const TEMPLATE_RULES: Rules = {
  matchConditions: [
    ...JOB_CONDITIONS,
    { name: 'has-settings-in-its-template', expression: hasNewKeys(TEMPLATE, TEMPLATE_KEYS) },
  ],
  variables: [
    { name: 'key', expression: firstOf(TEMPLATE, TEMPLATE_KEYS) },
    { name: 'map', expression: mapOf(TEMPLATE, TEMPLATE_KEYS) },
  ],
  validations: [
    {
      expression: 'false',
      messageExpression: sentence('spec.template.metadata', TEMPLATE_PROBLEM, cel(TEMPLATE_REMEDY)),
    },
  ],
};

/** Denies settings that would be ignored, in both forms of admission. */
export class KeyGuard extends Construct {
  constructor(scope: Construct, id: string, props: AdmissionScopeProps = {}) {
    super(scope, id);
    // A pod with an assignment has the metadata of its Job's template, which is already checked.
    const podConditions = [{ name: 'no-assignment', expression: `!(${HAS_ASSIGNMENT})` }, ...POD_CONDITIONS];
    const guard = (name: string, apiGroup: string, resource: string, rules: Rules) =>
      addGuard(this, name, props, {
        ...rules,
        matchConstraints: {
          namespaceSelector: namespaceSelector(props),
          resourceRules: [
            {
              apiGroups: [apiGroup],
              apiVersions: ['v1'],
              operations: ['CREATE', 'UPDATE'],
              resources: [resource],
            },
          ],
        },
      });
    guard('job-keys', 'batch', 'jobs', unknownKeys(JOB_CONDITIONS));
    guard('job-template', 'batch', 'jobs', TEMPLATE_RULES);
    guard('pod-keys', '', 'pods', unknownKeys(podConditions));
  }
}
