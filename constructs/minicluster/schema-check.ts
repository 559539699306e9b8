/** What the apiserver finds by the schema alone: fields, types, values. */
import type { Problem } from './problem';
import type { Schema } from './schema';

/** Everything in `value` that the schema does not allow. */
export function schemaProblems(value: unknown, schema: Schema, path: string): Problem[] {
  const wrong = typeProblem(value, schema, path);
  if (wrong !== undefined) return [wrong];
  if (Array.isArray(value)) return listProblems(value, schema, path);
  if (typeof value === 'object' && value !== null)
    return objectProblems(value as Readonly<Record<string, unknown>>, schema, path);
  const problem =
    typeof value === 'number' ? numberProblem(value, schema, path) : textProblem(value, schema, path);
  return problem === undefined ? [] : [problem];
}

const IS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: (value) => Number.isInteger(value),
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};
const NOUN: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
  array: 'a list',
  object: 'a mapping',
};

function typeProblem(value: unknown, schema: Schema, path: string): Problem | undefined {
  const either = schema['x-kubernetes-int-or-string'] === true;
  const type = schema.type ?? 'string';
  if (either ? IS.string!(value) || IS.integer!(value) : IS[type]!(value)) return undefined;
  const noun = either ? 'a whole number or a text' : NOUN[type]!;
  const remedy =
    type === 'string' && ['number', 'boolean'].includes(typeof value) ? 'put it in quotes' : `give ${noun}`;
  return { path, what: `must be ${noun}`, value, remedy };
}

function listProblems(values: readonly unknown[], schema: Schema, path: string): Problem[] {
  const { items, minItems = 0, maxItems = Infinity } = schema;
  const problems = values.flatMap((value, index) =>
    items === undefined ? [] : schemaProblems(value, items, `${path}[${index}]`),
  );
  if (values.length < minItems)
    problems.unshift({ path, what: 'is empty', value: values, remedy: 'give at least one' });
  if (values.length > maxItems)
    problems.unshift({
      path,
      what: `has more than ${maxItems} items`,
      value: values.length,
      remedy: 'give fewer',
    });
  return problems;
}

function objectProblems(value: Readonly<Record<string, unknown>>, schema: Schema, path: string): Problem[] {
  const missing = (schema.required ?? []).filter((key) => value[key] === undefined);
  return [
    ...missing.map((key) => ({
      path: `${path}.${key}`,
      what: 'is missing',
      value: undefined,
      remedy: 'give it',
    })),
    ...Object.entries(value).flatMap(([key, each]) => memberProblems(key, each, schema, path)),
  ];
}

function memberProblems(key: string, value: unknown, schema: Schema, path: string): Problem[] {
  if (value === undefined) return [];
  const member = schema.properties?.[key] ?? schema.additionalProperties;
  if (member !== undefined) return schemaProblems(value, member, join(path, key));
  const known = Object.keys(schema.properties ?? {});
  const meant = known.find((name) => name.toLowerCase() === key.toLowerCase());
  const remedy =
    meant === undefined ? 'leave it out, or see docs/minicluster-fields.md' : `did you mean ${meant}`;
  return [{ path: join(path, key), what: 'is not a field of MiniCluster', value, remedy }];
}

function join(path: string, key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

function numberProblem(value: number, schema: Schema, path: string): Problem | undefined {
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (value < minimum)
    return { path, what: `is less than ${minimum}`, value, remedy: `give ${minimum} or more` };
  if (value > maximum)
    return { path, what: `is more than ${maximum}`, value, remedy: `give ${maximum} or less` };
  return undefined;
}

function textProblem(value: unknown, schema: Schema, path: string): Problem | undefined {
  if (typeof value !== 'string') return undefined;
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    const words = schema.enum.filter((word) => word !== '').join(', ');
    return { path, what: 'is none of the values it can have', value, remedy: `give one of ${words}` };
  }
  if (value.length < (schema.minLength ?? 0))
    return { path, what: 'is empty', value, remedy: 'give it or leave it out' };
  if (value.length > (schema.maxLength ?? Infinity))
    return { path, what: `is longer than ${schema.maxLength} characters`, value, remedy: 'make it shorter' };
  if (schema.pattern !== undefined && !compiled(schema.pattern).test(value))
    return { path, what: 'has not the form it must have', value, remedy: `match ${schema.pattern}` };
  return undefined;
}

/** Compiled once: the same few patterns are asked for every field of every cluster. */
const COMPILED = new Map<string, RegExp>();

function compiled(pattern: string): RegExp {
  const known = COMPILED.get(pattern) ?? new RegExp(pattern);
  COMPILED.set(pattern, known);
  return known;
}
