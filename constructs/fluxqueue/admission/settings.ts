/**
 * CEL that refuses wrong values of the users' labels and annotations: the same
 * patterns and sentences as runtime/workloads/settings.ts (constructs/ doesn't
 * import runtime/; a test holds the two together).
 */
import {
  AFTER,
  EXCLUSIVE,
  GROUP,
  GROUP_SIZE,
  HOLD,
  PREEMPTIBLE,
  PRIORITY,
  QUEUE,
  QUEUE_NAME_PATTERN,
  QUEUE_NAME_SYNTAX,
  WALLTIME,
} from '../../api/labels';
import { cel, celList, type MatchCondition, type Variable } from './scope';

/** One entry of a ValidatingAdmissionPolicy's validations. */
export interface Validation {
  readonly expression: string;
  readonly messageExpression?: string;
  readonly message?: string;
}

interface Setting {
  readonly key: string;
  /** Name of its CEL variables. */
  readonly variable: string;
  readonly pattern: string;
  readonly must: string;
  /** CEL over the value `v` for what the pattern can't say. */
  readonly range?: (v: string) => string;
}

const NUMBER = '([0-9]{1,12}([.][0-9]{0,9})?|[.][0-9]{1,9})';
const UNIT = '(ms|us|µs|μs|ns|h|m|s)';
const DEPENDENCY = '((afterok|afterany|afternotok):)?[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?';
const BOOLEAN = { pattern: '^(true|false)$', must: 'must be "true" or "false"' };

export const SETTINGS: readonly Setting[] = [
  {
    key: QUEUE,
    variable: 'queue',
    pattern: QUEUE_NAME_PATTERN,
    must: `must be the name of a queue: ${QUEUE_NAME_SYNTAX}`,
  },
  {
    key: PRIORITY,
    variable: 'priority',
    pattern: '^-?[0-9]{1,10}$',
    must: 'must be a whole number from -2147483648 to 2147483647',
    range: (v) => `int(${v}) >= -2147483648 && int(${v}) <= 2147483647`,
  },
  {
    key: WALLTIME,
    variable: 'walltime',
    pattern: `^[+]?(${NUMBER}|(${NUMBER}${UNIT})+)$`,
    must: 'must be a duration like "1h30m" or seconds like "5400", more than 0 and at most 2147483647 seconds',
    range: (v) => `${seconds(v)} > 0.0 && ${seconds(v)} <= 2147483647.0`,
  },
  { key: HOLD, variable: 'hold', ...BOOLEAN },
  { key: EXCLUSIVE, variable: 'exclusive', ...BOOLEAN },
  { key: PREEMPTIBLE, variable: 'preemptible', ...BOOLEAN },
  {
    key: AFTER,
    variable: 'after',
    pattern: `^ *${DEPENDENCY} *(, *${DEPENDENCY} *)*$`,
    must: 'must be names of workloads in this namespace, separated by commas, each with "afterok:", "afterany:", "afternotok:" or nothing before it',
  },
  {
    key: GROUP,
    variable: 'group',
    pattern: '^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$',
    must: 'must be a name: at most 63 letters, digits, "-", "_" and "."',
  },
  {
    key: GROUP_SIZE,
    variable: 'groupSize',
    pattern: '^[0-9]{1,6}$',
    must: 'must be a whole number from 1 to 100000',
    range: (v) => `int(${v}) >= 1 && int(${v}) <= 100000`,
  },
];

const INVALID = 'FLUXQ_SETTING_INVALID';

/** CEL's own duration() fails, instead of saying no, for what is too long: so the parts are added up. */
function seconds(v: string): string {
  const factors =
    '{"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9}';
  const parts = `${v}.findAll("[0-9.]+[a-zµμ]+").map(part, double(part.find("[0-9.]+")) * ${factors}[part.find("[a-zµμ]+")])`;
  return `(${v}.matches("[a-z]$") ? ${parts}.sum() : double(${v}))`;
}

const settingIn = (map: string) =>
  `has(object.metadata.${map}) && object.metadata.${map}.exists(key, key.startsWith("fluxqueue/") && ` +
  `key in ${celList(SETTINGS.map(({ key }) => key))})`;

/**
 * Most objects give no setting, and most updates change none: they cost the
 * apiserver a look at their keys instead of every expression below.
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
 * The maps of the object and, on UPDATE, of what it was; of each setting its text (an annotation wins
 * over a label), whether it is there, and whether it is to be judged: what an UPDATE leaves as it was
 * is not, because objects may be older than the rule.
 */
export const SETTING_VARIABLES: readonly Variable[] = [
  { name: 'labels', expression: 'object.metadata.?labels.orValue({})' },
  { name: 'annotations', expression: 'object.metadata.?annotations.orValue({})' },
  { name: 'oldLabels', expression: 'oldObject == null ? {} : oldObject.metadata.?labels.orValue({})' },
  {
    name: 'oldAnnotations',
    expression: 'oldObject == null ? {} : oldObject.metadata.?annotations.orValue({})',
  },
  ...SETTINGS.flatMap(({ key, variable }) => [
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
  ...SETTINGS.map(({ key, variable, pattern, must, range }): Validation => {
    const text = `variables.${variable}`;
    const valid = `${text}.matches(${cel(pattern)})${range === undefined ? '' : ` && ${range(text)}`}`;
    return {
      expression: `!variables.${variable}New || (${valid})`,
      messageExpression: sentence(key, text, must, 'correct or remove it'),
    };
  }),
  halfGroup(GROUP, 'group', GROUP_SIZE, 'groupSize'),
  halfGroup(GROUP_SIZE, 'groupSize', GROUP, 'group'),
];

function halfGroup(key: string, variable: string, missing: string, other: string): Validation {
  const had = givenIn('oldLabels', 'oldAnnotations', missing);
  return {
    expression: `!variables.${variable}Given || variables.${other}Given || !(variables.${variable}New || ${had})`,
    messageExpression: sentence(
      key,
      `variables.${variable}`,
      `needs ${missing} beside it`,
      'set both or none',
    ),
  };
}

function textIn(labels: string, annotations: string, key: string): string {
  return `variables.${annotations}[?${cel(key)}].orValue(variables.${labels}[?${cel(key)}].orValue(""))`;
}

function givenIn(labels: string, annotations: string, key: string): string {
  return `${cel(key)} in variables.${annotations} || ${cel(key)} in variables.${labels}`;
}

/** As FluxqError says it. */
function sentence(key: string, v: string, what: string, remedy: string): string {
  const where = `(${cel(key)} in variables.annotations ? "annotations" : "labels")`;
  const shown = `strings.quote(${v}.size() > 80 ? ${v}.substring(0, 80) + "…" : ${v})`;
  return (
    `${cel(`${INVALID}: metadata.`)} + ${where} + ${cel(`["${key}"]: ${what} (got `)} + ${shown} + ` +
    `${cel(`); ${remedy}`)}`
  );
}
