/**
 * The schema of the CRD for callers without an apiserver (constructs, `fluxqueue render`): the same defaults and the
 * same rules from the same source. The rules in CEL are in validate-*.ts.
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
  readonly format?: string;
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

/** A spec with a value for every field that has a default, as the apiserver returns it. */
export type DefaultedSpec = MiniClusterSpec & Required<Pick<MiniClusterSpec, Defaulted>>;
type Defaulted = 'size' | 'tasks' | 'network' | 'logging' | 'flux' | 'pod' | 'workload';

/** Fills in the defaults; a spec that has a value for each of them is returned unchanged. */
export function withDefaults(spec: MiniClusterSpec): DefaultedSpec {
  return (DEFAULTS === undefined ? spec : filled(spec, DEFAULTS)) as DefaultedSpec;
}

/**
 * The fields of a schema that have defaults, or that contain fields with defaults. They are a hundredth of the schema,
 * and every MiniCluster needs them.
 */
interface Defaults {
  /** Default of the field, with the defaults of its own fields; frozen, because all clusters share it. */
  readonly value?: unknown;
  readonly fields?: readonly { readonly key: string; readonly defaults: Defaults }[];
  /** Defaults of the items of a list or the values of a map. */
  readonly member?: Defaults;
}

const DEFAULTS = defaultsOf(SPEC_SCHEMA);

function defaultsOf(schema: Schema): Defaults | undefined {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([key, member]) => {
    const defaults = defaultsOf(member);
    return defaults === undefined ? [] : [{ key, defaults }];
  });
  const memberSchema = schema.items ?? schema.additionalProperties;
  const member = memberSchema === undefined ? undefined : defaultsOf(memberSchema);
  if (schema.default === undefined && fields.length === 0 && member === undefined) return undefined;
  const within = { ...(fields.length === 0 ? {} : { fields }), ...(member === undefined ? {} : { member }) };
  if (schema.default === undefined) return within;
  return { ...within, value: Object.freeze(filled(schema.default, within)) };
}

function filled(value: unknown, { fields = [], member }: Defaults): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return member === undefined ? value : value.map((item) => filled(item, member));
  const before = value as Readonly<Record<string, unknown>>;
  if (member !== undefined)
    return Object.fromEntries(Object.entries(before).map(([key, item]) => [key, filled(item, member)]));
  let after: Record<string, unknown> | undefined;
  for (const { key, defaults } of fields) {
    const given = before[key] ?? undefined;
    const complete = given === undefined ? defaults.value : filled(given, defaults);
    if (complete === undefined || complete === given) continue;
    after ??= { ...before };
    after[key] = complete;
  }
  return after ?? value;
}
