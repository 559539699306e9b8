/**
 * One check for the props of every construct: TypeScript refuses a misspelled name or value only in a literal, and a JavaScript program
 * or a value from a file passes it by. A table has a rule for each prop, which the compiler compares with the interface.
 */
import type { Duration, Size } from 'cdk8s';
import type { Cpu } from 'cdk8s-plus-28';
import { PropsError } from './errors';
import { nearest } from './nearest';

/** A mistake in props: the path from the props on, and the error in words. */
export interface PropProblem {
  readonly path: string;
  readonly problem: string;
  readonly value: unknown;
  readonly remedy: string;
}

type Wrong = Pick<PropProblem, 'problem' | 'remedy'> & { readonly path?: string; readonly value?: unknown };
/** What is wrong with a value. */
export type Rule = (value: unknown) => readonly Wrong[];

/** Without it a prop has no effect. */
export interface Need<Props> {
  readonly met: (props: Props) => boolean;
  /** The prop of the group that has no effect. @default - the prop itself */
  readonly member?: string;
  /** `requires scheduler: true` */
  readonly problem: string;
  readonly remedy: string;
}

/** Values of these classes have methods that a construct calls: a prop of one needs the rule of its class. */
interface Classes {
  readonly Duration: Duration;
  readonly Size: Size;
  readonly Cpu: Cpu;
}
type ClassRule<Name extends keyof Classes> = Rule & { readonly of: Name };
/** For objects: a text in place of one would be read as an object without members, and dropped. */
export type ObjectRule = Rule & { readonly ofObjects: true };
const ofObjects = (check: Rule): ObjectRule => Object.assign(check, { ofObjects: true } as const);

type RuleOf<Value> = [Value] extends [Duration]
  ? ClassRule<'Duration'>
  : [Value] extends [Size]
    ? ClassRule<'Size'>
    : [Value] extends [Cpu]
      ? ClassRule<'Cpu'>
      : [Value] extends [string | number | boolean | readonly unknown[]]
        ? Rule
        : ObjectRule;

export type PropRules<Props> = {
  readonly [Name in keyof Required<Props>]:
    | RuleOf<NonNullable<Props[Name]>>
    | readonly [RuleOf<NonNullable<Props[Name]>>, ...Need<Props>[]];
};

const rule =
  (isRight: (value: unknown) => boolean, problem: string, remedy: string): Rule =>
  (value) =>
    isRight(value) ? [] : [{ problem, remedy }];

/** Told by its members: a program can have several copies of cdk8s. */
function ofClass<Name extends keyof Classes>(
  of: Name,
  member: keyof Classes[Name],
  example: string,
): ClassRule<Name> {
  const isRight = (value: unknown) => typeof value === 'object' && value !== null && member in value;
  return Object.assign(rule(isRight, `must be a ${of}`, `give ${example}`), { of });
}

export const duration = ofClass('Duration', 'toMilliseconds', 'Duration.hours(1), for example, from cdk8s');
export const size = ofClass('Size', 'toMebibytes', 'Size.gibibytes(1), for example, from cdk8s');
export const cpu = ofClass('Cpu', 'amount', 'Cpu.units(1), for example, from cdk8s-plus-28');

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * For objects that a construct calls or reads, and whose members have a check of their own.
 * @param member that every such object has, if there is one
 */
export const object = (of: string, example: string, member?: string): ObjectRule =>
  ofObjects(
    rule(
      (value) => isObject(value) && (member === undefined || member in value),
      `must be ${/^[AEIO]/.test(of) ? 'an' : 'a'} ${of}`,
      `give ${example}, for example`,
    ),
  );

/** For objects that are checked as fields of a resource of Kubernetes. */
export const fields = ofObjects(rule(isObject, 'must be an object', 'give its fields'));

/** For an object to which a prop refers, such as a Secret. */
export const reference = (
  kind: string,
  remedy = `give one of your program, or ${kind}.from${kind}Name(…)`,
): ObjectRule =>
  ofObjects(rule((value) => isObject(value) && typeof value.name === 'string', `must be a ${kind}`, remedy));

/** For an object, or a text in its place. */
export const orText = (check: ObjectRule): ObjectRule =>
  ofObjects((value) => (typeof value === 'string' ? [] : check(value)));

/** For objects with keys of their own, each with a value of one kind. */
export const mapOf = (each: Rule): ObjectRule =>
  ofObjects((value) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, item]) =>
          each(item).map((wrong) => within(`.${key}`, wrong, item)),
        )
      : [{ problem: 'must be an object', remedy: 'give its keys and their values' }],
  );

/** For values that have a check of their own. */
export const any: Rule = () => [];
export const flag = rule((value) => typeof value === 'boolean', 'must be true or false', 'give a boolean');
export const text = rule(
  (value) => typeof value === 'string' && value.trim() !== '' && value.trim() === value,
  'must be a text without blanks at its ends',
  'give it, or remove the prop',
);
export const oneOf = (...values: readonly string[]): Rule =>
  rule(
    (value) => typeof value === 'string' && values.includes(value),
    `must be one of: ${values.join(', ')}`,
    'choose one of them',
  );

export const amount = rule(
  (value) => Number.isFinite(value) && Number(value) >= 0,
  'must be a number of 0 or more',
  'give one, or remove it',
);

/** Every item of a list. */
export const listOf =
  (each: Rule): Rule =>
  (value) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => each(item).map((wrong) => within(`[${index}]`, wrong, item)))
      : [{ problem: 'must be a list', remedy: 'give an array' }];

export const port = rule(
  (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535,
  'must be a port',
  'give a whole number from 1 to 65535',
);

const KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Labels or annotations. */
export const keys = ofObjects((value) =>
  isObject(value) ? wrongKeys(value) : [{ problem: 'must be an object', remedy: 'give keys and values' }],
);

const wrongKeys = (value: object): readonly Wrong[] =>
  Object.keys(value)
    .filter((key) => !KEY.test(key))
    .map((key) => ({
      path: `[${JSON.stringify(key)}]`,
      problem: 'is not a key of labels and annotations',
      value: key,
      remedy: 'give at most 63 letters, digits, "-", "_" and ".", after a domain and "/" if you like',
    }));

/** The props of a group, which an object has within other props. */
export const group = <Props extends object>(rules: PropRules<Props>): ObjectRule =>
  ofObjects((value) =>
    isObject(value)
      ? propProblems(value as Props, rules).map(({ path, ...wrong }) => ({ ...wrong, path: `.${path}` }))
      : [{ problem: 'must be an object', remedy: 'give its props' }],
  );

/** Everything that is wrong with some props. */
export function propProblems<Props extends object>(props: Props, rules: PropRules<Props>): PropProblem[] {
  return Object.entries(props).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (!Object.hasOwn(rules, name)) return [unknown(name, value, Object.keys(rules))];
    const given: Rule | readonly [Rule, ...Need<Props>[]] = rules[name as keyof Props];
    const [check, ...needs] = typeof given === 'function' ? [given] : given;
    const wrong = check(value);
    const unmet =
      wrong.length > 0 ? [] : needs.filter(({ met }) => !met(props)).map((need) => ofNeed(need, value));
    return [...wrong, ...unmet].map(({ problem, remedy, ...place }: Wrong) =>
      within(name, { problem, remedy, ...place }, value),
    );
  });
}

/** @throws PropsError where a JavaScript program gives no props */
export function requireProps(construct: string, props: unknown): void {
  if (typeof props === 'object' && props !== null) return;
  throw new PropsError(
    `${construct} props`,
    'must be an object',
    props,
    'give the props, or {} for the defaults',
  );
}

/** @throws PropsError for the first mistake */
export function checkByRules<Props extends object>(
  construct: string,
  props: Props,
  rules: PropRules<Props>,
): void {
  const [first] = propProblems(props, rules);
  if (first === undefined) return;
  throw new PropsError(`${construct}.${first.path}`, first.problem, first.value, first.remedy);
}

function ofNeed<Props>({ member, problem, remedy }: Need<Props>, value: unknown): Wrong {
  if (member === undefined) return { problem, remedy };
  return { problem, remedy, path: `.${member}`, value: (value as Record<string, unknown>)[member] };
}

function within(parent: string, wrong: Wrong, value: unknown): PropProblem {
  return { value, ...wrong, path: `${parent}${wrong.path ?? ''}` };
}

function unknown(name: string, value: unknown, known: readonly string[]): PropProblem {
  const similar = nearest(name, known);
  const remedy = similar === undefined ? 'remove it' : `did you mean ${similar}`;
  return { path: name, problem: 'is not a prop', value, remedy };
}
