/** What the schema of a small CRD does not allow. MiniClusters have their own, faster check with remedies (constructs/minicluster). */
import type { Place } from './manifest';

export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minProperties?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string }[];
}

/** Every field below a place that the schema does not allow. */
export function schemaProblems(place: Place, schema: Schema): string[] {
  if (!place.exists) return [];
  const { value, path } = place;
  if (!hasType(value, schema))
    return [`${path}: must be ${schema.type ?? 'an integer or a string'} (got ${JSON.stringify(value)})`];
  if (schema.type === 'object') return objectProblems(place, schema);
  const problem = scalarProblem(value, schema);
  return problem === undefined ? [] : [`${path}: ${problem} (got ${JSON.stringify(value)})`];
}

function hasType(value: unknown, schema: Schema): boolean {
  if (schema['x-kubernetes-int-or-string']) return typeof value === 'string' || Number.isInteger(value);
  if (schema.type === 'integer') return Number.isInteger(value);
  if (schema.type === 'object') return typeof value === 'object' && !Array.isArray(value);
  return typeof value === schema.type;
}

function objectProblems(place: Place, { properties = {}, minProperties = 0 }: Schema): string[] {
  const entries = place.entries();
  const few = entries.length < minProperties ? [`${place.path}: must have at least one field`] : [];
  return [
    ...few,
    ...entries.flatMap(([key, member]) => {
      const schema = properties[key];
      return schema === undefined ? [`${member.path}: is not a field`] : schemaProblems(member, schema);
    }),
  ];
}

function scalarProblem(value: unknown, schema: Schema): string | undefined {
  const { minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity, pattern } = schema;
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return `must be one of: ${schema.enum.join(', ')}`;
  if (typeof value === 'number')
    return value < minimum || value > maximum ? `must be from ${minimum} to ${maximum}` : undefined;
  const text = String(value);
  if (text.length < minLength || text.length > maxLength)
    return `must have from ${minLength} to ${maxLength} characters`;
  if (pattern !== undefined && !new RegExp(pattern).test(text))
    return `does not match the pattern ${pattern}`;
  return wordsFor(text, schema);
}

/** Rules that say in words what a pattern asks for: the apiserver prints a `pattern` itself. */
const SYNTAX_RULE = /^(?:type\(self\) == int \|\| )?self\.matches\('([^']*)'\)$/;

function wordsFor(text: string, { 'x-kubernetes-validations': rules = [] }: Schema): string | undefined {
  return rules.find(({ rule }) => {
    const pattern = SYNTAX_RULE.exec(rule)?.[1];
    return pattern !== undefined && !new RegExp(pattern).test(text);
  })?.message;
}
