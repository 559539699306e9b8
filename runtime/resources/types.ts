/** Unit type -> how many vertices of it, each of size 1. E.g. `{ core: 8, memory: 32, gpu: 2 }`. */
export type UnitCounts = Readonly<Record<string, number>>;

/** Unit type -> RFC 22 idset of unit numbers within the node, e.g. `{ core: "0-3,7" }`. */
export type UnitIds = Readonly<Record<string, string>>;

export interface GraphNode {
  /** Name of the Kubernetes node; unique. */
  readonly name: string;
  readonly units: UnitCounts;
  /** RFC 31 properties, e.g. `zone=a`. @default [] */
  readonly properties?: readonly string[];
  /** Levels above the node. @default - directly under the cluster */
  readonly zone?: string;
  readonly rack?: string;
  /** A node that is down keeps its allocations and gets nothing new. @default true */
  readonly up?: boolean;
}

/** One node's part of an allocation. */
export interface AllocatedNode {
  readonly name: string;
  readonly units: UnitIds;
  /** The node vertex itself was given exclusively. @default false */
  readonly exclusive?: boolean;
}

/**
 * The one format in which an allocation is stored (Postgres), replayed and
 * read. Nodes are in the order of Fluxion's answer. `end` is exclusive.
 */
export interface Allocation {
  readonly jobid: number;
  readonly start: number;
  readonly end: number;
  readonly nodes: readonly AllocatedNode[];
}
