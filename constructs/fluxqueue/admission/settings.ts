/**
 * CEL that refuses wrong values of the users' labels and annotations: the syntax of constructs/api/settings.ts with the
 * messages of runtime/workloads/settings.ts. test/admission/forms.test.ts compares the two on a real apiserver.
 */
import { DURATION_UNITS } from '../../api/durations';
import { AFTER, CHECKPOINT_INTERVAL, GROUP, GROUP_SIZE, PRIORITY, WALLTIME } from '../../api/labels';
import {
  GROUP_PAIR_PROBLEM,
  GROUP_PAIR_REMEDY,
  GROUP_SETTINGS,
  GROUP_SYNTAX,
  MAX_DEPENDENCIES,
  MAX_GROUP_SIZE,
  MAX_WALLTIME_SECONDS,
  NOT_OF_JOBS_PROBLEM,
  NOT_OF_JOBS_REMEDY,
  PRIORITY_RANGE,
  SETTING_REMEDY,
  SETTING_SYNTAX,
  type SettingSyntax,
} from '../../api/settings';
import { cel, type Variable } from './scope';

/** One entry of a ValidatingAdmissionPolicy's validations. */
export interface Validation {
  readonly expression: string;
  readonly messageExpression?: string;
  readonly message?: string;
}

const DURATION_RANGE = `[${seconds('v')}].all(sum, sum > 0.0 && sum <= ${celDouble(MAX_WALLTIME_SECONDS)})`;

/** CEL over the text `v` for limits that a pattern cannot express. */
const RANGES: Readonly<Record<string, string | undefined>> = {
  [GROUP_SIZE]: `int(v) <= ${MAX_GROUP_SIZE}`,
  [PRIORITY]: `int(v) >= ${PRIORITY_RANGE.min} && int(v) <= ${PRIORITY_RANGE.max}`,
  [WALLTIME]: DURATION_RANGE,
  [CHECKPOINT_INTERVAL]: DURATION_RANGE,
  [AFTER]: `v.split(",").size() <= ${MAX_DEPENDENCIES}`,
};

export const INVALID = 'FLUXQ_SETTING_INVALID';

/** CEL's own duration() fails for a long text instead of refusing it, so the expression adds the parts up. */
function seconds(v: string): string {
  const factors = Object.entries(DURATION_UNITS).map(
    ([unit, factor]) => `${cel(unit)}: ${celDouble(factor)}`,
  );
  const part = `double(part.find("[0-9.]+")) * {${factors.join(', ')}}[part.find("[a-zµμ]+")]`;
  const parts = `${v}.findAll("[0-9.]+[a-zµμ]+").map(part, ${part})`;
  return `(${v}.matches("[:-]") ? ${slurmSeconds(v)} : ${v}.matches("[a-z]$") ? ${parts}.sum() : double(${v}))`;
}

/** As in constructs/api/durations.ts: days, hours, minutes and seconds, of which those that are not given are 0. */
function slurmSeconds(v: string): string {
  const withoutDays = `(${v}.matches(":.*:") ? "0:" : "0:0:") + ${v}`;
  const parts = `(${v}.contains("-") ? ${v}.replace("-", ":") + ":0:0" : ${withoutDays}).split(":")`;
  const factors = [DURATION_UNITS.d, DURATION_UNITS.h, DURATION_UNITS.m, DURATION_UNITS.s];
  const sum = factors.map((factor, i) => `double(parts[${i}]) * ${celDouble(factor)}`).join(' + ');
  return `[${parts}].map(parts, ${sum}).sum()`;
}

/** A number as a CEL double: CEL does not compare doubles with literals that look like integers. */
function celDouble(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : value.toExponential();
}

/**
 * The labels and annotations of the object and, on UPDATE, of the old object, and what is wrong with each setting. Only new
 * values are validated: an unchanged value may be older than its rule.
 */
export const settingVariables = (kind: 'Job' | 'Pod'): readonly Variable[] => [
  { name: 'labels', expression: 'object.metadata.?labels.orValue({})' },
  { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
  { name: 'oldLabels', expression: 'oldObject == null ? {} : oldObject.metadata.?labels.orValue({})' },
  {
    name: 'oldAnnotations',
    expression: 'oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})',
  },
  ...problemVariables([...(kind === 'Job' ? ofOtherKinds() : ofGroups()), ...syntaxProblems(SETTING_SYNTAX)]),
];

/** A variable for each list of problems, and one for all of them: the apiserver takes far longer to compile one long text. */
function problemVariables(lists: readonly string[]): readonly Variable[] {
  const each = lists.map((expression, i) => ({ name: `settingProblems${i}`, expression }));
  const all = each.map(({ name }) => `variables.${name}`).join(' + ');
  return [...each, { name: 'settingProblems', expression: all }];
}

function syntaxProblems(settings: Readonly<Record<string, SettingSyntax>>): readonly string[] {
  return Object.entries(settings).map(([key, { pattern, requirement }]) => {
    const range = RANGES[key] === undefined ? '' : ` && ${RANGES[key]}`;
    const isWrong = `!(v.matches(${cel(pattern)})${range})`;
    return problemsOf(key, isWrong, sentence(key, requirement, SETTING_REMEDY));
  });
}

function ofOtherKinds(): readonly string[] {
  return GROUP_SETTINGS.map((key) =>
    problemsOf(key, 'true', sentence(key, NOT_OF_JOBS_PROBLEM, NOT_OF_JOBS_REMEDY)),
  );
}

/** Of each of the two settings of groups that it is valid, then that the other one is there. */
function ofGroups(): readonly string[] {
  const others = { [GROUP]: GROUP_SIZE, [GROUP_SIZE]: GROUP } as const;
  const pairs = GROUP_SETTINGS.map((key) => {
    const isAlone = `!(${givenIn('labels', 'annotations', others[key])})`;
    return problemsOf(key, isAlone, sentence(key, GROUP_PAIR_PROBLEM[key], GROUP_PAIR_REMEDY));
  });
  return [...syntaxProblems(GROUP_SYNTAX), ...pairs];
}

/** CEL: the sentence about the first setting that is wrong, or "". It needs the variables. */
export const SETTING_PROBLEM = 'variables.settingProblems.size() > 0 ? variables.settingProblems[0] : ""';

/**
 * CEL: the sentence in a list if the setting is given, new and wrong; else an empty list.
 * @param isWrong CEL over the text `v`, as the sentence
 */
function problemsOf(key: string, isWrong: string, text: string): string {
  return `(${givenIn('labels', 'annotations', key)} ? [${textOf(key)}].filter(v, ${isNew(key, 'v')} && ${isWrong}).map(v, ${text}) : [])`;
}

/** CEL: the text of a setting; the annotation takes precedence over the label. */
export function textOf(key: string): string {
  return textIn('labels', 'annotations', key);
}

/** CEL: whether the text `v` of a setting is not what the object had before. */
export function isNew(key: string, v: string): string {
  return `(!(${givenIn('oldLabels', 'oldAnnotations', key)}) || ${textIn('oldLabels', 'oldAnnotations', key)} != ${v})`;
}

function textIn(labels: string, annotations: string, key: string): string {
  return `variables.${annotations}[?${cel(key)}].orValue(variables.${labels}[?${cel(key)}].orValue(""))`;
}

function givenIn(labels: string, annotations: string, key: string): string {
  return `${cel(key)} in variables.${annotations} || ${cel(key)} in variables.${labels}`;
}

/** The sentence of a CodedError about the text `v`. */
function sentence(key: string, problem: string, remedy: string): string {
  const where = `(${cel(key)} in variables.annotations ? "annotations" : "labels")`;
  const shown = 'strings.quote(v.size() > 80 ? v.substring(0, 80) + "…" : v)';
  return (
    `${cel(`${INVALID}: metadata.`)} + ${where} + ${cel(`["${key}"]: ${problem} (got `)} + ${shown} + ` +
    `${cel(`); ${remedy}`)}`
  );
}
