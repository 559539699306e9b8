/** What the apiserver finds by the schema alone: fields, types, values. */
import type { Problem } from './problem';
import type { Schema } from './schema';

/** Everything in `value` that the schema does not allow. */
export function schemaProblems(value: unknown, schema: Schema, path: string): readonly Problem[] {
  return within(path, found(value, schema));
}

/**
 * Paths are relative to `value`, and get their beginning on the way back: nearly all
 * values of all clusters are right, and then no path is ever written.
 */
function found(value: unknown, schema: Schema): readonly Problem[] {
  if (!fits(value, schema)) return [typeProblem(value, schema)];
  switch (typeof value) {
    case 'string':
      return alone(textProblem(value, schema));
    case 'number':
      return alone(numberProblem(value, schema));
    case 'object':
      return Array.isArray(value) ? listProblems(value, schema) : objectProblems(value as Mapping, schema);
    default:
      return NONE;
  }
}

type Mapping = Readonly<Record<string, unknown>>;

function alone(problem: Problem | undefined): readonly Problem[] {
  return problem === undefined ? NONE : [problem];
}

const NONE: readonly Problem[] = [];

function within(path: string, problems: readonly Problem[]): readonly Problem[] {
  return problems.map((problem) => ({ ...problem, path: `${path}${problem.path}` }));
}

function fits(value: unknown, schema: Schema): boolean {
  if (isEither(schema)) return typeof value === 'string' || Number.isInteger(value);
  switch (schema.type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return typeof value === 'string';
  }
}

function isEither(schema: Schema): boolean {
  return schema['x-kubernetes-int-or-string'] === true;
}

const NOUN: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
  array: 'a list',
  object: 'a mapping',
};

function typeProblem(value: unknown, schema: Schema): Problem {
  const { type = 'string' } = schema;
  const noun = isEither(schema) ? 'a whole number or a text' : NOUN[type]!;
  const remedy =
    type === 'string' && ['number', 'boolean'].includes(typeof value) ? 'put it in quotes' : `give ${noun}`;
  return { path: '', what: `must be ${noun}`, value, remedy };
}

function listProblems(values: readonly unknown[], schema: Schema): readonly Problem[] {
  const { items, minItems = 0, maxItems = Infinity } = schema;
  const problems: Problem[] = [];
  if (items !== undefined)
    for (let index = 0; index < values.length; index++) {
      const wrong = found(values[index], items);
      if (wrong.length > 0) problems.push(...within(`[${index}]`, wrong));
    }
  if (values.length < minItems)
    problems.unshift({ path: '', what: 'is empty', value: values, remedy: 'give at least one' });
  if (values.length > maxItems)
    problems.unshift({
      path: '',
      what: `has more than ${maxItems} items`,
      value: values.length,
      remedy: 'give fewer',
    });
  return problems;
}

function objectProblems(value: Mapping, schema: Schema): readonly Problem[] {
  const problems: Problem[] = [];
  if (schema.required !== undefined)
    for (const key of schema.required)
      if (value[key] === undefined)
        problems.push({ path: `.${key}`, what: 'is missing', value: undefined, remedy: 'give it' });
  for (const key in value) {
    const wrong = memberProblems(key, value[key], schema);
    if (wrong.length > 0) problems.push(...within(segment(key), wrong));
  }
  return problems;
}

function memberProblems(key: string, value: unknown, schema: Schema): readonly Problem[] {
  if (value === undefined) return NONE;
  const member = schema.properties?.[key] ?? schema.additionalProperties;
  if (member !== undefined) return found(value, member);
  const known = Object.keys(schema.properties ?? {});
  const meant = known.find((name) => name.toLowerCase() === key.toLowerCase());
  const remedy =
    meant === undefined ? 'leave it out, or see docs/minicluster-fields.md' : `did you mean ${meant}`;
  return [{ path: '', what: 'is not a field of MiniCluster', value, remedy }];
}

function segment(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function numberProblem(value: number, schema: Schema): Problem | undefined {
  const { minimum, maximum } = schema;
  if (minimum !== undefined && value < minimum)
    return { path: '', what: `is less than ${minimum}`, value, remedy: `give ${minimum} or more` };
  if (maximum !== undefined && value > maximum)
    return { path: '', what: `is more than ${maximum}`, value, remedy: `give ${maximum} or less` };
  return undefined;
}

function textProblem(value: string, schema: Schema): Problem | undefined {
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    const words = schema.enum.filter((word) => word !== '').join(', ');
    return { path: '', what: 'is none of the values it can have', value, remedy: `give one of ${words}` };
  }
  if (value.length < (schema.minLength ?? 0))
    return { path: '', what: 'is empty', value, remedy: 'give it or leave it out' };
  if (value.length > (schema.maxLength ?? Infinity))
    return {
      path: '',
      what: `is longer than ${schema.maxLength} characters`,
      value,
      remedy: 'make it shorter',
    };
  if (schema.pattern !== undefined && !compiled(schema.pattern).test(value))
    return { path: '', what: 'has not the form it must have', value, remedy: `match ${schema.pattern}` };
  return undefined;
}

/** Compiled once: the same few patterns are asked for every field of every cluster. */
const COMPILED = new Map<string, RegExp>();

function compiled(pattern: string): RegExp {
  const known = COMPILED.get(pattern) ?? new RegExp(pattern);
  COMPILED.set(pattern, known);
  return known;
}
