/** JGF, the graph format that flux-sched reads at initialize and writes as an answer. */
import type { GraphNode } from '../types';

export interface JgfVertex {
  readonly id: string;
  readonly metadata: {
    readonly type: string;
    readonly basename?: string;
    readonly name?: string;
    readonly id?: number;
    readonly uniq_id?: number;
    readonly rank?: number;
    /** 0 up, 1 down. @default 0 */
    readonly status?: number;
    readonly exclusive?: boolean;
    readonly unit?: string;
    readonly size?: number;
    readonly properties?: Readonly<Record<string, string>> | null;
    readonly paths: { readonly containment?: string };
  };
}

export interface JgfEdge {
  readonly source: string;
  readonly target: string;
  readonly metadata?: { readonly subsystem?: string };
}

export interface JgfGraph {
  readonly graph: { readonly nodes: readonly JgfVertex[]; readonly edges: readonly JgfEdge[] };
}

/**
 * The graph of these nodes: cluster -> (zone) -> (rack) -> node -> units, in pre-order. Ids are dense per type
 * over the whole graph, unit names count within the node (`core0`...), a node's rank is its position.
 */
export declare function toJgf(nodes: readonly GraphNode[]): JgfGraph;
