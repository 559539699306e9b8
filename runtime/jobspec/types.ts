/**
 * Terms of this folder: a *jobspec* (Flux RFC 14 and 25) is the request that Fluxion matches; a *slot* is the part of it
 * that is replicated (here one pod); a *constraint* (RFC 31) restricts the nodes.
 */

/** Count of a resource: exact, or a range in which Fluxion takes the most it finds. */
type Count =
  | number
  | {
      readonly min: number;
      readonly max?: number;
      readonly operator?: '+' | '*' | '^';
      readonly operand?: number;
    };

export interface JobspecResource {
  /** `node`, `slot`, `core`, `memory`, `gpu`, or any leaf type of the graph. */
  readonly type: string;
  readonly count: Count;
  readonly unit?: string;
  /** Required on a slot. */
  readonly label?: string;
  readonly exclusive?: boolean;
  readonly with?: readonly JobspecResource[];
}

/** RFC 31. `{}` matches every node. */
export type Constraint =
  | { readonly properties: readonly string[] }
  | { readonly hostlist: readonly string[] }
  | { readonly ranks: readonly string[] }
  | { readonly not: readonly Constraint[] }
  | { readonly or: readonly Constraint[] }
  | { readonly and: readonly Constraint[] }
  | Readonly<Record<string, never>>;

/** Canonical jobspec (RFC 14); plain JSON. */
export interface Jobspec {
  readonly version: number;
  readonly resources: readonly JobspecResource[];
  readonly tasks: readonly {
    readonly command: readonly string[];
    readonly slot: string;
    readonly count: { readonly per_slot: number } | { readonly total: number };
  }[];
  readonly attributes: {
    readonly system: {
      /** Walltime in seconds, always above 0: Fluxion takes 0 for 100 years. */
      readonly duration: number;
      readonly constraints?: Constraint;
    };
  };
}
