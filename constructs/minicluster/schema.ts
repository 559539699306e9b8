/**
 * The CRD's schema for those who don't go through an apiserver (constructs,
 * `fluxqueue render`): the same defaults and the same checks, from the same
 * source. What CEL checks is in check.ts.
 */
import schemaJson from '../../imports/flux-framework.org-schema.json';
import type { MiniClusterSpec } from './resource';

export interface Schema {
  readonly type?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

export const SPEC_SCHEMA = schemaJson as Schema;

/** A spec in which every field that has a default has a value, as the apiserver gives it back. */
export type DefaultedSpec = MiniClusterSpec & Required<Pick<MiniClusterSpec, Defaulted>>;
type Defaulted = 'size' | 'tasks' | 'network' | 'logging' | 'flux' | 'pod' | 'deadlineSeconds' | 'workload';

/** Fills in the defaults; what has them all already comes back as it is. */
export function withDefaults(spec: MiniClusterSpec): DefaultedSpec {
  return defaulted(spec, SPEC_SCHEMA) as DefaultedSpec;
}

function defaulted(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return schema.items === undefined ? value : each(value, schema.items);
  if (typeof value !== 'object' || value === null) return value;
  const given = value as Readonly<Record<string, unknown>>;
  const changes: Record<string, unknown> = {};
  for (const [key, member] of members(given, schema)) {
    const before = given[key] ?? member.default;
    const after = before === undefined ? undefined : defaulted(before, member);
    if (after !== given[key]) changes[key] = after;
  }
  return Object.keys(changes).length === 0 ? value : { ...given, ...changes };
}

/** The fields an object may have, or, of a map, those it has. */
function members(given: Readonly<Record<string, unknown>>, schema: Schema): (readonly [string, Schema])[] {
  const { additionalProperties } = schema;
  // Values of other maps are plain: nothing in them has a default.
  if (additionalProperties?.properties !== undefined)
    return Object.keys(given).map((key) => [key, additionalProperties] as const);
  return Object.entries(schema.properties ?? {});
}

function each(values: readonly unknown[], schema: Schema): readonly unknown[] {
  const after = values.map((value) => defaulted(value, schema));
  return after.every((value, index) => value === values[index]) ? values : after;
}
