/** The rules of the CRD's schema: which fields exist, their types and their values. */
import { isPlain } from '../api/errors';
import { nearest } from '../api/nearest';
import { knownFieldRemedy } from './old-fields';
import type { Schema } from './schema';
import type { ValidationIssue } from './validation-issue';

/** Returns everything that the schema does not allow in a value; paths are relative to the value. */
type Check = (value: unknown) => readonly ValidationIssue[];

/** Compiles a schema to a function that returns what the schema does not allow in a value. */
export function schemaCheck(schema: Schema): (value: unknown, path: string) => readonly ValidationIssue[] {
  const check = checkOf(schema);
  return (value, path) => within(path, check(value)).map(withKnownRemedy);
}

function withKnownRemedy(issue: ValidationIssue): ValidationIssue {
  const remedy = issue.message === UNKNOWN_FIELD ? knownFieldRemedy(issue.path) : undefined;
  return remedy === undefined ? issue : { ...issue, remedy };
}

/**
 * A schema is compiled once, because thousands of values are checked. The beginning of a path is added on the way
 * back: nearly all values are valid, and for those no path is ever written.
 */
function checkOf(schema: Schema): Check {
  if (isIntOrString(schema))
    return scalarCheck(schema, (value) => isString(value) || Number.isInteger(value));
  switch (schema.type) {
    case 'object':
      return objectCheck(schema);
    case 'array':
      return arrayCheck(schema);
    case 'integer':
      return scalarCheck(schema, Number.isInteger);
    case 'boolean':
      return scalarCheck(schema, (value) => typeof value === 'boolean');
    default:
      return scalarCheck(schema, isString);
  }
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

const UNKNOWN_FIELD = 'is not a field of MiniCluster';
const NONE: readonly ValidationIssue[] = [];

function within(path: string, issues: readonly ValidationIssue[]): readonly ValidationIssue[] {
  return issues.map((issue) => ({ ...issue, path: `${path}${issue.path}` }));
}

function isIntOrString(schema: Schema): boolean {
  return schema['x-kubernetes-int-or-string'] === true;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'a boolean',
  integer: 'an integer',
  array: 'an array',
  object: 'an object',
};

function typeIssue(value: unknown, schema: Schema): ValidationIssue {
  const { type = 'string' } = schema;
  const expected = isIntOrString(schema) ? 'an integer or a string' : TYPE_NAMES[type]!;
  const needsQuotes = type === 'string' && ['number', 'boolean'].includes(typeof value);
  const remedy = needsQuotes ? 'put it in quotes' : `set ${expected}`;
  return { path: '', message: `must be ${expected}`, value, remedy, unreadable: true };
}

function arrayCheck(schema: Schema): Check {
  const { items, minItems = 0, maxItems = Infinity } = schema;
  const check = items === undefined ? () => NONE : checkOf(items);
  return (value) => {
    if (!Array.isArray(value)) return [typeIssue(value, schema)];
    if (value.length < minItems)
      return [{ path: '', message: 'must not be empty', value, remedy: 'add at least one item' }];
    const issues: ValidationIssue[] = [];
    if (value.length > maxItems) {
      const message = `must have at most ${maxItems} items`;
      issues.push({ path: '', message, value: value.length, remedy: 'remove items' });
    }
    value.forEach((item, index) => {
      const found = check(item);
      if (found.length > 0) issues.push(...within(`[${index}]`, found));
    });
    return issues;
  };
}

function objectCheck(schema: Schema): Check {
  const { required = [], properties = {}, additionalProperties } = schema;
  const checks = new Map(Object.entries(properties).map(([key, member]) => [key, checkOf(member)]));
  const additional = additionalProperties === undefined ? undefined : checkOf(additionalProperties);
  return (value) => {
    if (!isObject(value)) return [typeIssue(value, schema)];
    const issues = missingIssues(value, required);
    for (const key in value) {
      const member = value[key];
      if (member === undefined) continue;
      const check = checks.get(key) ?? additional;
      const found = check === undefined ? [unknownFieldIssue(key, member, properties)] : check(member);
      if (found.length > 0) issues.push(...within(segment(key), found));
    }
    return issues;
  };
}

function missingIssues(object: JsonObject, required: readonly string[]): ValidationIssue[] {
  const issues: ValidationIssue[] = [];
  for (const key of required)
    if (object[key] === undefined)
      issues.push({
        path: `.${key}`,
        message: 'is required',
        value: undefined,
        remedy: 'set it',
        unreadable: true,
      });
  return issues;
}

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && isPlain(value);
}

function unknownFieldIssue(key: string, value: unknown, known: object): ValidationIssue {
  const similar = key.length > 64 ? undefined : nearest(key, Object.keys(known));
  const remedy =
    similar === undefined
      ? 'remove it; docs/minicluster-fields.md lists every field'
      : `did you mean ${similar}`;
  return { path: '', message: UNKNOWN_FIELD, value, remedy };
}

function segment(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function scalarCheck(schema: Schema, hasType: (value: unknown) => boolean): Check {
  return (value) => {
    if (!hasType(value)) return [typeIssue(value, schema)];
    const issue = isString(value) ? stringIssue(value, schema) : numberIssue(value as number, schema);
    return issue === undefined ? NONE : [issue];
  };
}

/** What a format allows besides the limits of its field. */
const FORMATS: Readonly<Record<string, readonly [number, number]>> = { int32: [-(2 ** 31), 2 ** 31 - 1] };

function numberIssue(value: number, schema: Schema): ValidationIssue | undefined {
  const [least, most] = FORMATS[schema.format ?? ''] ?? [];
  const { minimum = least, maximum = most } = schema;
  if (minimum !== undefined && value < minimum)
    return { path: '', message: `must be at least ${minimum}`, value, remedy: `set ${minimum} or more` };
  if (maximum !== undefined && value > maximum)
    return { path: '', message: `must be at most ${maximum}`, value, remedy: `set ${maximum} or less` };
  return undefined;
}

function stringIssue(value: string, schema: Schema): ValidationIssue | undefined {
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    const values = schema.enum.filter((allowed) => allowed !== '').join(', ');
    return { path: '', message: `must be one of: ${values}`, value, remedy: 'set one of them' };
  }
  if (value.length < minLength)
    return { path: '', message: 'must not be empty', value, remedy: 'set it or remove it' };
  if (value.length > maxLength)
    return { path: '', message: `must have at most ${maxLength} characters`, value, remedy: 'shorten it' };
  if (pattern !== undefined && !compiled(pattern).test(value))
    return {
      path: '',
      message: `does not match the required pattern ${pattern}`,
      value,
      remedy: 'correct it',
    };
  return undefined;
}

/** Patterns are compiled once: the same few are checked for every field of every cluster. */
const COMPILED = new Map<string, RegExp>();

function compiled(pattern: string): RegExp {
  const known = COMPILED.get(pattern) ?? new RegExp(pattern);
  COMPILED.set(pattern, known);
  return known;
}
