/** What the apiserver finds by the schema alone: fields, types, values. */

import type { Schema } from './schema';
import type { Problem } from './validation-issue';

/** Everything in a value that its schema does not allow; paths are relative to the value. */
type Check = (value: unknown) => readonly Problem[];

/** Says what the schema does not allow in a value. */
export function schemaCheck(schema: Schema): (value: unknown, path: string) => readonly Problem[] {
  const check = checkOf(schema);
  return (value, path) => within(path, check(value));
}

/**
 * Made of a schema once, because thousands of values are asked. Paths get their beginning
 * on the way back: nearly all values are right, and then no path is ever written.
 */
function checkOf(schema: Schema): Check {
  if (isEither(schema)) return scalarCheck(schema, (value) => isText(value) || Number.isInteger(value));
  switch (schema.type) {
    case 'object':
      return objectCheck(schema);
    case 'array':
      return listCheck(schema);
    case 'integer':
      return scalarCheck(schema, Number.isInteger);
    case 'boolean':
      return scalarCheck(schema, (value) => typeof value === 'boolean');
    default:
      return scalarCheck(schema, isText);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

const NONE: readonly Problem[] = [];

function within(path: string, problems: readonly Problem[]): readonly Problem[] {
  return problems.map((problem) => ({ ...problem, path: `${path}${problem.path}` }));
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
  return { path: '', what: `must be ${noun}`, value, remedy, unreadable: true };
}

function listCheck(schema: Schema): Check {
  const { items, minItems = 0, maxItems = Infinity } = schema;
  const check = items === undefined ? () => NONE : checkOf(items);
  return (value) => {
    if (!Array.isArray(value)) return [typeProblem(value, schema)];
    if (value.length < minItems) return [{ path: '', what: 'is empty', value, remedy: 'give at least one' }];
    const problems: Problem[] = [];
    if (value.length > maxItems) {
      const what = `has more than ${maxItems} items`;
      problems.push({ path: '', what, value: value.length, remedy: 'give fewer' });
    }
    value.forEach((item, index) => {
      const wrong = check(item);
      if (wrong.length > 0) problems.push(...within(`[${index}]`, wrong));
    });
    return problems;
  };
}

function objectCheck(schema: Schema): Check {
  const { required = [], properties = {}, additionalProperties } = schema;
  const checks = new Map(Object.entries(properties).map(([key, member]) => [key, checkOf(member)]));
  const other = additionalProperties === undefined ? undefined : checkOf(additionalProperties);
  return (value) => {
    if (!isMapping(value)) return [typeProblem(value, schema)];
    const problems = missing(value, required);
    for (const key in value) {
      const member = value[key];
      if (member === undefined) continue;
      const check = checks.get(key) ?? other;
      const wrong = check === undefined ? [unknownProblem(key, member, properties)] : check(member);
      if (wrong.length > 0) problems.push(...within(segment(key), wrong));
    }
    return problems;
  };
}

function missing(value: Mapping, required: readonly string[]): Problem[] {
  const problems: Problem[] = [];
  for (const key of required)
    if (value[key] === undefined)
      problems.push({
        path: `.${key}`,
        what: 'is missing',
        value: undefined,
        remedy: 'give it',
        unreadable: true,
      });
  return problems;
}

type Mapping = Readonly<Record<string, unknown>>;

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknownProblem(key: string, value: unknown, known: object): Problem {
  const meant = Object.keys(known).find((name) => name.toLowerCase() === key.toLowerCase());
  const remedy =
    meant === undefined ? 'leave it out, or see docs/minicluster-fields.md' : `did you mean ${meant}`;
  return { path: '', what: 'is not a field of MiniCluster', value, remedy };
}

function segment(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function scalarCheck(schema: Schema, fits: (value: unknown) => boolean): Check {
  return (value) => {
    if (!fits(value)) return [typeProblem(value, schema)];
    const problem = isText(value) ? textProblem(value, schema) : numberProblem(value as number, schema);
    return problem === undefined ? NONE : [problem];
  };
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
