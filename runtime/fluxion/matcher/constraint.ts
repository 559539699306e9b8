/**
 * RFC 31 constraints with the semantics of Fluxion, which deviates from the RFC in one point: `{or: []}` matches no
 * vertex.
 */
import { FluxqError } from '../../errors';
import { parseHostlist } from '../../resources/hostlist';
import { parseIdset } from '../../resources/idset';

/** The attributes of a vertex that constraints compare. */
export interface Candidate {
  readonly name: string;
  readonly rank: number;
  readonly properties: ReadonlySet<string>;
}

export interface Matches<T = Candidate> {
  (candidate: T): boolean;
  /** No vertex with another name matches. @default - not restricted by name */
  readonly names?: ReadonlySet<string>;
}

/** An invalid jobspec; the text is that of flux-sched. */
export class JobspecError extends Error {}

const OPERATORS: Readonly<Record<string, (values: readonly unknown[]) => Matches>> = {
  properties,
  hostlist,
  ranks,
  and: (values) => {
    const all = values.map(parseConstraint);
    const matches: Matches = (candidate) => all.every((part) => part(candidate));
    const named = all.flatMap(({ names }) => (names === undefined ? [] : [names]));
    return withNames(matches, named.sort((a, b) => a.size - b.size)[0]);
  },
  or: (values) => {
    const any = values.map(parseConstraint);
    return (candidate) => any.some((matches) => matches(candidate));
  },
  not: (values) => {
    const all = values.map(parseConstraint);
    return (candidate) => !all.every((matches) => matches(candidate));
  },
};

/** @throws JobspecError */
export function parseConstraint(constraint: unknown): Matches {
  if (typeof constraint !== 'object' || constraint === null || Array.isArray(constraint)) {
    throw new JobspecError('constraint is not a mapping');
  }
  const entries = Object.entries(constraint);
  if (entries.length > 1) throw new JobspecError('constraint map may not contain > 1 operation');
  const [entry] = entries;
  if (entry === undefined) return () => true;
  const [name, values] = entry;
  const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
  if (operator === undefined) throw new JobspecError(`unknown constraint operator: ${name}`);
  if (!Array.isArray(values)) throw new JobspecError(`${name} operator value must be an array`);
  return operator(values);
}

function properties(values: readonly unknown[]): Matches {
  const wanted: string[] = [];
  const unwanted: string[] = [];
  for (const value of values) {
    if (typeof value !== 'string') throw new JobspecError('non-string property specified');
    const negated = value.startsWith('^');
    const name = negated ? value.slice(1) : value;
    if (/[!&'"^`|()]/.test(name)) throw new JobspecError(`${value} is invalid`);
    (negated ? unwanted : wanted).push(name);
  }
  return (candidate) =>
    wanted.every((name) => candidate.properties.has(name)) &&
    !unwanted.some((name) => candidate.properties.has(name));
}

/** Of one constraint: more than any cluster has. */
const MOST_HOSTS = 1_000_000;

function hostlist(values: readonly unknown[]): Matches {
  const names = new Set<string>();
  for (const value of values) {
    const parsed = typeof value === 'string' ? parseHostlist(value) : undefined;
    if (parsed === undefined) throw new JobspecError(`Invalid hostlist \`${value}'`);
    if (names.size + parsed.length > MOST_HOSTS)
      throw new JobspecError(`Too many hosts in hostlist \`${value}'`);
    for (const name of parsed) names.add(name);
  }
  return withNames((candidate) => names.has(candidate.name), names);
}

/** @param names undefined: not restricted by name */
export function withNames<T>(matches: Matches<T>, names: ReadonlySet<string> | undefined): Matches<T> {
  return names === undefined ? matches : Object.assign(matches, { names });
}

function ranks(values: readonly unknown[]): Matches {
  const numbers = new Set<number>();
  for (const value of values) {
    for (const rank of idset(value)) numbers.add(rank);
  }
  return (candidate) => numbers.has(candidate.rank);
}

function idset(value: unknown): readonly number[] {
  if (typeof value !== 'string' && typeof value !== 'number') throw invalidIdset(value);
  try {
    return parseIdset(`${value}`);
  } catch (error) {
    if (error instanceof FluxqError) throw invalidIdset(value);
    throw error;
  }
}

function invalidIdset(value: unknown): JobspecError {
  return new JobspecError(`Invalid idset \`${value}'`);
}
