/** The rules of the values of props, for the tables of prop-rules.ts. */
import { isIP } from 'node:net';
import { amountOf } from './amounts';
import { isPlain } from './errors';
import { isObject, type Kind, type Rule, rule, type Wrong, within } from './prop-rules';

const ruleOf = <Of extends Kind>(
  kind: Of,
  isRight: (value: unknown) => boolean,
  problem: string,
  remedy: string,
): Rule<Of> => rule(kind, (value) => (isRight(value) ? [] : [{ problem, remedy }]));

const withArticle = (noun: string): string => `${/^[AEIO]/.test(noun) ? 'an' : 'a'} ${noun}`;
const isText = (value: unknown): value is string => typeof value === 'string';
const isTrimmed = (value: unknown): boolean => isText(value) && value.trim() === value;
/** As Kubernetes reads it: the length without leading zeros, at most that of the family. */
const isCidr = (value: string): boolean => {
  const [, address = '', length = ''] = /^([^/%]+)\/(0|[1-9]\d{0,2})$/.exec(value) ?? [];
  return Number(length) <= { 4: 32, 6: 128, 0: -1 }[isIP(address)]!;
};

export const flag = ruleOf(
  'flag',
  (value) => typeof value === 'boolean',
  'must be true or false',
  'give a boolean',
);
/** For numbers whose range another check knows. */
export const number = ruleOf('number', Number.isFinite, 'must be a number', 'give a number');
export const amount = ruleOf(
  'number',
  (value) => Number.isFinite(value) && Number(value) >= 0,
  'must be a number of 0 or more',
  'give a number',
);
export const whole = ruleOf('number', Number.isInteger, 'must be a whole number', 'give a number');
export const atLeast = (least: number): Rule<'number'> =>
  ruleOf(
    'number',
    (value) => Number.isInteger(value) && Number(value) >= least,
    `must be a whole number, ${least} or more`,
    `give ${least} or more`,
  );
export const port = ruleOf(
  'number',
  (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535,
  'must be a port',
  'give a whole number from 1 to 65535',
);

export const cidr = ruleOf(
  'text',
  (value) => isText(value) && isCidr(value),
  'must be a range of addresses in CIDR notation',
  "give an address and a length, such as '10.0.0.0/28' or 'fd00::/64'",
);

export const text = ruleOf(
  'text',
  (value) => isTrimmed(value) && value !== '',
  'must be a text without blanks at its ends',
  'give a text',
);
/** For texts that Kubernetes, or another program, reads as they are, empty ones too. */
export const anyText = ruleOf('text', isText, 'must be a text', 'give a text');
/** For texts of several lines, such as a certificate. */
export const lines = ruleOf(
  'text',
  (value) => isText(value) && value.trim() !== '',
  'must be a text',
  'give a text',
);
/** For names that are empty where nothing is named. */
export const textOrEmpty = ruleOf(
  'text',
  isTrimmed,
  'must be a text without blanks at its ends',
  'give a text',
);
export const oneOf = <Text extends string>(...values: readonly Text[]): Rule<'text'> =>
  ruleOf(
    'text',
    (value) => isText(value) && (values as readonly string[]).includes(value),
    `must be one of: ${values.filter((each) => each !== '').join(', ')}`,
    'choose one of them',
  );

/** Told by what a construct reads of it: a program can have several copies of cdk8s. */
const ofClass = <Of extends Kind>(
  kind: Of,
  isRight: (value: Readonly<Record<string, unknown>>) => boolean,
  example: string,
): Rule<Of> =>
  ruleOf(
    kind,
    (value) => isObject(value) && isRight(value),
    `must be ${withArticle(kind)}`,
    `give ${example}`,
  );

export const duration = ofClass(
  'Duration',
  ({ toMilliseconds }) => typeof toMilliseconds === 'function',
  'Duration.hours(1), for example, from cdk8s',
);
export const size = ofClass(
  'Size',
  ({ toMebibytes }) => typeof toMebibytes === 'function',
  'Size.gibibytes(1), for example, from cdk8s',
);
export const cpu = ofClass(
  'Cpu',
  (value) => !isPlain(value) && isText(value.amount),
  'Cpu.units(1), for example, from cdk8s-plus-28',
);
const isAmount = (value: unknown): boolean =>
  (isText(value) || typeof value === 'number') && amountOf(value) !== undefined;
const isQuantity = (value: unknown): boolean => isObject(value) && !isPlain(value) && isAmount(value.value);
export const quantity = ofClass(
  'Quantity',
  isQuantity,
  "k8s.Quantity.fromString('1Mi'), for example, from cdk8s-plus-28",
);
/** A quantity of Kubernetes in any form. */
export const amountOrQuantity = ruleOf(
  'amount',
  (value) => isAmount(value) || isQuantity(value),
  'is not a quantity',
  'write 2, 500m or 16Gi',
);
/** A number of pods, or a percentage of them. */
export const podCount = ruleOf(
  'amount',
  (value) => (isText(value) ? /^\d{1,3}%$/.test(value) : Number.isInteger(value) && Number(value) >= 0),
  'must be a number of pods or a percentage',
  'write 1 or 50%',
);

/** For instances of a class of this package, which no literal is. @param isOne whether the value has what a construct reads of it */
export const instance = (
  of: string,
  example: string,
  isOne: (value: Readonly<Record<string, unknown>>) => boolean,
): Rule<'object'> =>
  ruleOf(
    'object',
    (value) => isObject(value) && !isPlain(value) && isOne(value),
    `must be ${withArticle(of)}`,
    `give ${example}, for example`,
  );

/** For objects that are checked as fields of a resource of Kubernetes. */
export const fields = ruleOf('object', isMap, 'must be an object', 'give its fields');

/** A class is no map: its members would be read as entries. */
function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && isPlain(value);
}

/**
 * For an object to which a prop refers, such as a Secret: a construct of that kind, or a literal with its name.
 * @param canBeLazy whether its name may be known at synth only
 */
export const reference = (
  kind: string,
  { factory = `from${kind}Name`, canBeLazy = false } = {},
): Rule<'object'> =>
  rule('object', (value) => {
    if (!isObject(value) || !isOfKind(value, kind))
      return [
        {
          problem: `must be ${withArticle(kind)}`,
          remedy: `give one of your program, or ${kind}.${factory}(…)`,
        },
      ];
    if ((isText(value.name) && value.name !== '') || (canBeLazy && isObject(value.name))) return [];
    return [
      {
        problem: `must be ${withArticle(kind)} with a name that is known now, not lazy`,
        remedy: 'give it a text as name',
      },
    ];
  });

/** Constructs of cdk8s-plus tell their kind, also those that stand for an existing object. */
function isOfKind(value: Readonly<Record<string, unknown>>, kind: string): boolean {
  return 'kind' in value ? value.kind === kind : 'name' in value && !('node' in value);
}

/** For an object, or a text in its place. */
export const orText = (each: Rule<'object'>): Rule<'object'> =>
  rule('object', (value) => (isText(value) ? text(value) : each(value)));

const NO_MAP: readonly Wrong[] = [{ problem: 'must be an object', remedy: 'give its keys and their values' }];

/** For objects with keys of their own, each with a value of one kind. */
export const mapOf = (each: Rule, key: (key: string) => readonly Wrong[] = () => []): Rule<'object'> =>
  rule('object', (value) =>
    isMap(value)
      ? Object.entries(value).flatMap(([name, item]) => [
          ...key(name).map((wrong) => ({ ...wrong, path: inBrackets(name), value: name })),
          ...(item === undefined ? [] : each(item).map((wrong) => within(`.${name}`, wrong, item))),
        ])
      : NO_MAP,
  );

const inBrackets = (key: string): string => `[${JSON.stringify(key)}]`;

/** Every item of a list. @param least number of its items */
export const listOf = (each: Rule, least = 0): Rule<'list'> =>
  rule('list', (value) => {
    if (!Array.isArray(value)) return [{ problem: 'must be a list', remedy: 'give an array' }];
    if (value.length < least) return [{ problem: 'must not be empty', remedy: 'give an item, or remove it' }];
    return value.flatMap((item: unknown, index) =>
      each(item).map((wrong) => within(`[${index}]`, wrong, item)),
    );
  });

const KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

const metadata = (isValue: (value: unknown) => boolean, wrong: Wrong): Rule<'object'> =>
  rule('object', (value) =>
    isMap(value)
      ? Object.entries(value).flatMap(([key, item]) => [
          ...(KEY.test(key) ? [] : [{ ...WRONG_KEY, path: inBrackets(key), value: key }]),
          ...(item === undefined || isValue(item) ? [] : [{ ...wrong, path: inBrackets(key), value: item }]),
        ])
      : NO_MAP,
  );

const WRONG_KEY: Wrong = {
  problem: 'is not a key of labels and annotations',
  remedy: 'give at most 63 letters, digits, "-", "_" and ".", after a domain and "/" if you like',
};

export const labels = metadata((value) => isText(value) && LABEL_VALUE.test(value), {
  problem: 'is not the value of a label',
  remedy: 'give at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends',
});
export const annotations = metadata(isText, {
  problem: 'is not the value of an annotation',
  remedy: 'give a text; JSON.stringify makes one of anything else',
});

const ENV_NAME = /^[ -<>-~]+$/;
/** Of an environment variable, as the apiserver has them (RelaxedEnvironmentVariableValidation). */
export const envName = ruleOf(
  'text',
  (value) => isText(value) && ENV_NAME.test(value),
  'is not the name of an environment variable',
  'give letters, digits and "_", for example',
);
