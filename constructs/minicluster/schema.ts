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
  return (DEFAULTS === undefined ? spec : filled(spec, DEFAULTS)) as DefaultedSpec;
}

/** A schema's fields that have defaults, or have fields that do: a hundredth of it, and every render asks. */
interface Defaults {
  /** With the defaults of its own fields; frozen, because all clusters share it. */
  readonly value?: unknown;
  readonly fields?: readonly { readonly key: string; readonly defaults: Defaults }[];
  /** Of each item of a list, or each value of a map. */
  readonly each?: Defaults;
}

const DEFAULTS = defaultsOf(SPEC_SCHEMA);

function defaultsOf(schema: Schema): Defaults | undefined {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
    const defaults = defaultsOf(member);
    return defaults === undefined ? [] : [{ key, defaults }];
  });
  const member = schema.items ?? schema.additionalProperties;
  const each = member === undefined ? undefined : defaultsOf(member);
  if (schema.default === undefined && fields.length === 0 && each === undefined) return undefined;
  const within = { ...(fields.length === 0 ? {} : { fields }), ...(each === undefined ? {} : { each }) };
  if (schema.default === undefined) return within;
  return { ...within, value: Object.freeze(filled(schema.default, within)) };
}

function filled(value: unknown, { fields = [], each }: Defaults): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return each === undefined ? value : value.map((item) => filled(item, each));
  const before = value as Readonly<Record<string, unknown>>;
  if (each !== undefined)
    return Object.fromEntries(Object.entries(before).map(([key, member]) => [key, filled(member, each)]));
  let after: Record<string, unknown> | undefined;
  for (const { key, defaults } of fields) {
    const said = before[key] ?? undefined;
    const known = said === undefined ? defaults.value : filled(said, defaults);
    if (known === undefined || known === said) continue;
    after ??= { ...before };
    after[key] = known;
  }
  return after ?? value;
}
