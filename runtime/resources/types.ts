/**
 * Nodes and allocations as the whole runtime uses them. A *unit* is one allocatable vertex of Fluxion's graph: a core, a
 * chunk of memory, a gpu. A node has a number of units of each type, numbered from 0; an allocation holds some of them.
 */

/** Number of units by type, e.g. `{ core: 8, memory: 32, gpu: 2 }`. */
export type UnitCounts = Readonly<Record<string, number>>;

/** Units of one node by type, as idsets (RFC 22) of their numbers, e.g. `{ core: "0-3,7" }`. */
export type UnitIds = Readonly<Record<string, string>>;

/** A node of the cluster as Fluxion's graph has it. */
export interface GraphNode {
  /** Unique name: that of the Node in Kubernetes. */
  readonly name: string;
  readonly units: UnitCounts;
  /** Properties for constraints (RFC 31), e.g. `zone=a`. @default [] */
  readonly properties?: readonly string[];
  /** Level above the rack or the node. @default - no zone */
  readonly zone?: string;
  /** Level above the node. @default - no rack */
  readonly rack?: string;
  /** A node that is down keeps its allocations and accepts no new ones. @default true */
  readonly up?: boolean;
}

/** The part of an allocation on one node. */
export interface AllocatedNode {
  readonly name: string;
  readonly units: UnitIds;
  /** Whether the allocation has the whole node. @default false */
  readonly exclusive?: boolean;
  /** Pods of each pod set on the node, by name, of a gang of several. @default - the workload has one pod set */
  readonly podSets?: Readonly<Record<string, number>>;
}

/** Units of nodes for a span of time: the one format in which allocations are stored in Postgres, replayed and read. */
export interface Allocation {
  readonly jobid: number;
  /** Unix seconds. */
  readonly start: number;
  /** Unix seconds, exclusive. */
  readonly end: number;
  /** In the order of Fluxion's answer. */
  readonly nodes: readonly AllocatedNode[];
}

/** What is charged to the queue of a workload beside its grant. */
export interface Surplus {
  readonly pods: number;
  readonly units: UnitCounts;
}
