/**
 * Conformance scenarios: sequences of calls with the answers that every Fluxion server gives. Times are absolute seconds;
 * a grant is `[start, end, { node: { type: idset } }]`.
 */

import type { MatchPolicy } from '../../../constructs/api/policies';
import type { MatchOperation } from '../../../runtime/fluxion/types';
import type { Jobspec } from '../../../runtime/jobspec/types';
import type { Allocation, GraphNode, UnitCounts, UnitIds } from '../../../runtime/resources/types';

export type Grant = readonly [start: number, end: number, nodes: Readonly<Record<string, UnitIds>>];

export type Step =
  /** Moves the time of all later steps. */
  | { readonly now: number }
  | {
      readonly match: number;
      readonly jobspec: Jobspec;
      /** @default "allocate_with_satisfiability" */
      readonly operation?: MatchOperation;
      readonly expected: Grant | 'BUSY' | 'UNSATISFIABLE' | 'INVALID';
    }
  | { readonly satisfiable: Jobspec; readonly expected: boolean }
  | { readonly cancel: number }
  | { readonly partialCancel: number; readonly nodes: readonly string[]; readonly empty: boolean }
  | { readonly replay: readonly Allocation[]; readonly fails?: number }
  | { readonly down: readonly string[] }
  | { readonly up: readonly string[] }
  | { readonly add: readonly GraphNode[] }
  | { readonly remove: readonly string[]; readonly affected: readonly number[] }
  | { readonly init: readonly GraphNode[] }
  | { readonly jobs: readonly number[] }
  | { readonly free: Readonly<Record<string, UnitCounts>> };

export interface Scenario {
  readonly name: string;
  /** @default - two nodes a and b with 4 cores each */
  readonly nodes?: readonly GraphNode[];
  /** @default "lonode" */
  readonly policy?: MatchPolicy;
  /** Uses features that a public three-RPC server does not have. @default false */
  readonly beyondPublic?: boolean;
  readonly steps: readonly Step[];
}

export const START = 1000;

export const node = (
  name: string,
  counts: UnitCounts = { core: 4 },
  more: Partial<GraphNode> = {},
): GraphNode => ({
  name,
  units: counts,
  ...more,
});

export const TWO_NODES = [node('a'), node('b')];
export const reserve: MatchOperation = 'allocate_orelse_reserve';
