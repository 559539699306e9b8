/**
 * CEL that refuses wrong values of the users' labels and annotations: the syntax of constructs/api/settings.ts with the
 * messages of runtime/workloads/settings.ts. test/admission/forms.test.ts compares the two on a real apiserver.
 */
import { DURATION_UNITS } from '../../api/durations';
import {
  AFTER,
  EXCLUSIVE,
  GROUP,
  GROUP_SIZE,
  HOLD,
  PREEMPTIBLE,
  PRIORITY,
  QUEUE,
  WALLTIME,
} from '../../api/labels';
import {
  MAX_DEPENDENCIES,
  MAX_WALLTIME_SECONDS,
  PRIORITY_RANGE,
  SETTING_REMEDY,
  SETTING_SYNTAX,
  type Setting,
  UNSUPPORTED_PROBLEM,
  UNSUPPORTED_REMEDY,
  UNSUPPORTED_SETTINGS,
} from '../../api/settings';
import { cel, celList, type MatchCondition, type Variable } from './scope';

/** One entry of a ValidatingAdmissionPolicy's validations. */
export interface Validation {
  readonly expression: string;
  readonly messageExpression?: string;
  readonly message?: string;
}

interface SettingRule {
  readonly key: Setting;
  /** Name of its CEL variables. */
  readonly variable: string;
  /** CEL over the value `v` for limits that a pattern cannot express. */
  readonly range?: (v: string) => string;
}

const RULES: readonly SettingRule[] = [
  { key: QUEUE, variable: 'queue' },
  {
    key: PRIORITY,
    variable: 'priority',
    range: (v) => `int(${v}) >= ${PRIORITY_RANGE.min} && int(${v}) <= ${PRIORITY_RANGE.max}`,
  },
  {
    key: WALLTIME,
    variable: 'walltime',
    range: (v) => `${seconds(v)} > 0.0 && ${seconds(v)} <= ${celDouble(MAX_WALLTIME_SECONDS)}`,
  },
  { key: HOLD, variable: 'hold' },
  { key: EXCLUSIVE, variable: 'exclusive' },
  { key: PREEMPTIBLE, variable: 'preemptible' },
  { key: AFTER, variable: 'after', range: (v) => `${v}.split(",").size() <= ${MAX_DEPENDENCIES}` },
];

const UNSUPPORTED_VARIABLES = { [GROUP]: 'group', [GROUP_SIZE]: 'groupSize' };
const UNSUPPORTED = UNSUPPORTED_SETTINGS.map((key) => ({ key, variable: UNSUPPORTED_VARIABLES[key] }));

export const INVALID = 'FLUXQ_SETTING_INVALID';

/** CEL's own duration() fails for a long text instead of refusing it, so the expression adds the parts up. */
function seconds(v: string): string {
  const factors = Object.entries(DURATION_UNITS).map(
    ([unit, factor]) => `${cel(unit)}: ${celDouble(factor)}`,
  );
  const part = `double(part.find("[0-9.]+")) * {${factors.join(', ')}}[part.find("[a-zµμ]+")]`;
  const parts = `${v}.findAll("[0-9.]+[a-zµμ]+").map(part, ${part})`;
  return `(${v}.matches("[a-z]$") ? ${parts}.sum() : double(${v}))`;
}

/** A number as a CEL double: CEL does not compare doubles with literals that look like integers. */
function celDouble(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : value.toExponential();
}

const settingIn = (map: string) =>
  `has(object.metadata.${map}) && object.metadata.${map}.exists(key, key.startsWith("fluxqueue/") && ` +
  `key in ${celList([...UNSUPPORTED, ...RULES].map(({ key }) => key))})`;

/**
 * Most objects have no setting, and most updates change none: for them the apiserver only reads the keys of the two maps
 * and evaluates none of the expressions below.
 */
export const SETTING_CONDITIONS: readonly MatchCondition[] = [
  { name: 'has-a-setting', expression: `(${settingIn('labels')}) || (${settingIn('annotations')})` },
  {
    name: 'changes-its-maps',
    expression:
      'oldObject == null || object.metadata.?labels != oldObject.metadata.?labels || ' +
      'object.metadata.?annotations != oldObject.metadata.?annotations',
  },
];

/**
 * The labels and annotations of the object and, on UPDATE, of the old object. For each setting: its text (the annotation
 * takes precedence over the label), `Given`, and `New`. Only new values are validated: an unchanged value may be older
 * than its rule.
 */
export const SETTING_VARIABLES: readonly Variable[] = [
  { name: 'labels', expression: 'object.metadata.?labels.orValue({})' },
  { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
  { name: 'oldLabels', expression: 'oldObject == null ? {} : oldObject.metadata.?labels.orValue({})' },
  {
    name: 'oldAnnotations',
    expression: 'oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})',
  },
  ...[...UNSUPPORTED, ...RULES].flatMap(({ key, variable }) => [
    { name: variable, expression: textIn('labels', 'annotations', key) },
    { name: `${variable}Given`, expression: givenIn('labels', 'annotations', key) },
    {
      name: `${variable}New`,
      expression:
        `variables.${variable}Given && (!(${givenIn('oldLabels', 'oldAnnotations', key)}) || ` +
        `${textIn('oldLabels', 'oldAnnotations', key)} != variables.${variable})`,
    },
  ]),
];

export const SETTING_VALIDATIONS: readonly Validation[] = [
  ...UNSUPPORTED.map(
    ({ key, variable }): Validation => ({
      expression: `!variables.${variable}New`,
      messageExpression: sentence(key, `variables.${variable}`, UNSUPPORTED_PROBLEM, UNSUPPORTED_REMEDY),
    }),
  ),
  ...RULES.map(({ key, variable, range }): Validation => {
    const text = `variables.${variable}`;
    const { pattern, requirement } = SETTING_SYNTAX[key];
    const valid = `${text}.matches(${cel(pattern)})${range === undefined ? '' : ` && ${range(text)}`}`;
    return {
      expression: `!variables.${variable}New || (${valid})`,
      messageExpression: sentence(key, text, requirement, SETTING_REMEDY),
    };
  }),
];

function textIn(labels: string, annotations: string, key: string): string {
  return `variables.${annotations}[?${cel(key)}].orValue(variables.${labels}[?${cel(key)}].orValue(""))`;
}

function givenIn(labels: string, annotations: string, key: string): string {
  return `${cel(key)} in variables.${annotations} || ${cel(key)} in variables.${labels}`;
}

/** The sentence of a CodedError. */
function sentence(key: string, v: string, problem: string, remedy: string): string {
  const where = `(${cel(key)} in variables.annotations ? "annotations" : "labels")`;
  const shown = `strings.quote(${v}.size() > 80 ? ${v}.substring(0, 80) + "…" : ${v})`;
  return (
    `${cel(`${INVALID}: metadata.`)} + ${where} + ${cel(`["${key}"]: ${problem} (got `)} + ${shown} + ` +
    `${cel(`); ${remedy}`)}`
  );
}
