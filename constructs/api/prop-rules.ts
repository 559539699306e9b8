/**
 * One check for the props of every construct and the arguments of every factory: TypeScript refuses a misspelled name or value only in a
 * literal, and a JavaScript program or a value from a file passes it by. A table has a rule for each prop, which the compiler compares
 * with the interface: the kind of its values, and whether it must be given. rules.ts has the rules.
 */
import type { Duration, Size } from 'cdk8s';
import type { Cpu, k8s } from 'cdk8s-plus-28';
import { isPlain, PropsError } from './errors';
import { nearest } from './nearest';

/** A mistake in props: the path from the props on, and the error in words. */
export interface PropProblem {
  readonly path: string;
  readonly problem: string;
  readonly value: unknown;
  readonly remedy: string;
}

/** What is wrong with a value; without a path, the value as a whole. */
export type Wrong = Pick<PropProblem, 'problem' | 'remedy'> & {
  readonly path?: string;
  readonly value?: unknown;
};

/** The kind of a type: a value of another kind would be dropped, or a construct would call what it does not have. */
type KindOf<Value> = [Value] extends [Duration]
  ? 'Duration'
  : [Value] extends [Size]
    ? 'Size'
    : [Value] extends [Cpu]
      ? 'Cpu'
      : [Value] extends [k8s.Quantity]
        ? 'Quantity'
        : [Value] extends [string]
          ? 'text'
          : [Value] extends [number]
            ? 'number'
            : [Value] extends [boolean]
              ? 'flag'
              : [Value] extends [readonly unknown[]]
                ? 'list'
                : [Value] extends [string | number | k8s.Quantity]
                  ? 'amount'
                  : 'object';
/** `schema`: of a value that becomes a field of a resource as it is, whose schema checks it. */
export type Kind = 'object' | 'Duration' | 'Size' | 'Cpu' | 'Quantity' | 'amount' | Plain | 'schema';
/** Kinds that a resource has as well. */
type Plain = 'text' | 'number' | 'flag' | 'list';

/** What is wrong with a value that is given. */
type Check = (value: unknown) => readonly Wrong[];
export type Rule<Of extends Kind = Kind> = Check & { readonly kind: Of };
/** Of a prop that has no default. */
type RequiredRule<Each extends Rule> = Each & { readonly isRequired: true };

/** Without it a prop has no effect. */
export interface Need<Props> {
  readonly met: (props: Props) => boolean;
  /** The prop of the group that has no effect. @default - the prop itself */
  readonly member?: string;
  /** `requires scheduler: true` */
  readonly problem: string;
  readonly remedy: string;
}

/** @template Other rule that a prop of a plain kind can have instead */
type RuleOf<Of extends Kind, Other extends Rule> = Rule<Of> | (Of extends Plain ? Other : never);

type Entry<Props, Name extends keyof Props, Each extends Rule> =
  Partial<Pick<Props, Name>> extends Pick<Props, Name>
    ? Each | readonly [Each, ...Need<Props>[]]
    : RequiredRule<Each>;

export type PropRules<Props, Other extends Rule = never> = {
  readonly [Name in keyof Props]-?: Entry<Props, Name, RuleOf<KindOf<NonNullable<Props[Name]>>, Other>>;
};

/** Why props of a group that others of its kind have are refused. */
export interface Refusals {
  /** For any other name. @default is not a prop */
  readonly unknown?: string;
  /** For single names. */
  readonly named?: Readonly<Record<string, Wrong>>;
}

export const rule = <Of extends Kind>(kind: Of, check: Check): Rule<Of> => Object.assign(check, { kind });

export const required = <Of extends Kind>(each: Rule<Of>): RequiredRule<Rule<Of>> =>
  Object.assign((value: unknown) => each(value), { kind: each.kind, isRequired: true } as const);

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An instance of a class of the user can have the props; a construct has none, nor has a Date, or another object without members. */
const isProps = (value: unknown): value is object =>
  isObject(value) && (isPlain(value) || (Object.keys(value).length > 0 && !('node' in value)));

/** The props of a group, which an object has within other props. */
export const group = <Props extends object, Other extends Rule = never>(
  rules: PropRules<Props, Other>,
  refusals: Refusals = {},
): Rule<'object'> =>
  rule('object', (value) =>
    isProps(value)
      ? problems(value, rules, refusals).map(({ path, ...wrong }) => ({ ...wrong, path: `.${path}` }))
      : [{ problem: 'must be an object', remedy: 'give its props' }],
  );

/** Everything that is wrong with some props. */
export function propProblems<Props extends object, Other extends Rule = never>(
  props: Props,
  rules: PropRules<Props, Other>,
): PropProblem[] {
  return isProps(props) ? problems(props, rules, {}) : [];
}

/** @throws PropsError for the first mistake */
export function checkByRules<Props extends object>(
  construct: string,
  props: Props,
  rules: PropRules<Props>,
): void {
  requireProps(construct, props);
  const [first] = propProblems(props, rules);
  if (first !== undefined) throw propsError(construct, first);
}

export function propsError(construct: string, { path, problem, value, remedy }: PropProblem): PropsError {
  return new PropsError(`${construct}.${path}`, problem, value, remedy);
}

/** @throws PropsError where a JavaScript program gives no props */
export function requireProps(construct: string, props: unknown): void {
  if (isProps(props)) return;
  throw new PropsError(
    `${construct} props`,
    'must be an object',
    props,
    'give the props, or {} for the defaults',
  );
}

type Table = Readonly<Record<string, Rule | readonly [Rule, ...Need<object>[]]>>;

function problems(props: object, rules: object, refusals: Refusals): PropProblem[] {
  const table = rules as Table;
  const values = props as Readonly<Record<string, unknown>>;
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const isKnown = (name: string) => Object.hasOwn(table, name);
  return [
    ...given.flatMap(([name, value]) =>
      isKnown(name) ? valueProblems(props, name, value, table[name]!) : [],
    ),
    ...given.flatMap(([name, value]) =>
      isKnown(name) ? [] : [unknown(name, value, Object.keys(table), refusals)],
    ),
    ...Object.entries(table).flatMap(([name, each]) =>
      values[name] === undefined && 'isRequired' in each ? [missing(name, each)] : [],
    ),
  ];
}

function valueProblems(props: object, name: string, value: unknown, given: Table[string]): PropProblem[] {
  const [check, ...needs] = typeof given === 'function' ? [given] : given;
  const wrong = check(value);
  const unmet =
    wrong.length > 0 ? [] : needs.filter(({ met }) => !met(props)).map((need) => ofNeed(need, value));
  return [...wrong, ...unmet].map(({ problem, remedy, ...place }) =>
    within(name, { problem, remedy, ...place }, value),
  );
}

function ofNeed<Props>({ member, problem, remedy }: Need<Props>, value: unknown): Wrong {
  if (member === undefined) return { problem, remedy };
  return { problem, remedy, path: `.${member}`, value: (value as Record<string, unknown>)[member] };
}

/** A mistake of a member as one of the object around it. */
export function within(parent: string, wrong: Wrong, value: unknown): PropProblem {
  return { value, ...wrong, path: `${parent}${wrong.path ?? ''}` };
}

function missing(name: string, check: Table[string]): PropProblem {
  const [wrong] = typeof check === 'function' ? check(undefined) : [];
  return { path: name, problem: 'is required', value: undefined, remedy: wrong?.remedy ?? 'give it' };
}

function unknown(name: string, value: unknown, known: readonly string[], refusals: Refusals): PropProblem {
  const named = refusals.named?.[name];
  if (named !== undefined) return within(name, named, value);
  const similar = nearest(name, known);
  const remedy = similar === undefined ? 'remove it' : `did you mean ${similar}`;
  return { path: name, problem: refusals.unknown ?? 'is not a prop', value, remedy };
}
