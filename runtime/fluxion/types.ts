/**
 * The words of this folder. The *graph* is Fluxion's model of the cluster. A *unit* is one allocatable vertex: a core,
 * a chunk of memory, a gpu. An *allocation* is the set of units that Fluxion granted to a job; a *reservation* is an
 * allocation that starts in the future. *Replay* restores an allocation in a Fluxion that lost it. The *boot id*
 * changes whenever a server loses its graph.
 *
 * All times are absolute seconds: Unix time, or the time of the simulator's clock. The caller chooses job ids from
 * 1..2^53-1 and never uses one twice.
 */
import type { MatchPolicy } from '../../constructs/api/policies';
import type { Jobspec } from '../jobspec/types';
import type { Allocation, GraphNode, UnitCounts } from '../resources/types';

export type MatchOperation =
  /** Start now or fail; also an unsatisfiable request is BUSY. */
  | 'allocate'
  /** Start now or fail; tells BUSY from UNSATISFIABLE. */
  | 'allocate_with_satisfiability'
  /** Start now, else reserve the earliest possible start. */
  | 'allocate_orelse_reserve'
  /** Whether the request fits now; allocates nothing. */
  | 'without_allocating'
  /** The earliest possible start; allocates nothing. */
  | 'without_allocating_future';

export interface MatchRequest {
  readonly jobid: number;
  readonly jobspec: Jobspec;
  readonly operation: MatchOperation;
  readonly now: number;
}

export type MatchResult =
  | { readonly status: 'OK'; readonly allocation: Allocation; readonly reserved: boolean }
  | { readonly status: 'BUSY' | 'UNSATISFIABLE' | 'INVALID' | 'NOT_READY'; readonly text: string };

export interface FluxionState {
  readonly bootId: string;
  readonly jobs: readonly Allocation[];
  readonly nodes: readonly {
    readonly name: string;
    readonly up: boolean;
    readonly total: UnitCounts;
    readonly free: UnitCounts;
    /** Properties, zone and rack as given in {@link GraphNode}. */
    readonly properties: readonly string[];
    readonly zone?: string;
    readonly rack?: string;
  }[];
}

export interface InitRequest {
  readonly nodes: readonly GraphNode[];
  readonly policy: MatchPolicy;
  readonly now: number;
  /** The leader's fencing number: a server refuses callers with a lower one than it has seen. @default 0 */
  readonly fence?: number;
  /**
   * The server may keep a graph that is equal, and the allocations that are replayed next as it holds them. The result is the
   * same. A caller that has doubts about the server leaves it out. @default false
   */
  readonly warm?: boolean;
}

/**
 * The interface of the queue to Fluxion, whichever server is behind it. Calls are serial. A call that times out or
 * loses its connection throws FluxqError `FLUXQ_FLUXION_IN_DOUBT`: the caller must `init` and `replay` before the next
 * call.
 */
export interface Fluxion {
  /** Starts with these nodes and no jobs; drops all earlier state. Resolves to the boot id. */
  init(request: InitRequest): Promise<string>;
  match(request: MatchRequest): Promise<MatchResult>;
  /** Whether the jobspec fits the empty graph, whatever is down or busy. */
  satisfiable(jobspec: Jobspec): Promise<{ readonly satisfiable: boolean; readonly text: string }>;
  /** Restores exactly these allocations. Throws `FLUXQ_FLUXION_REPLAY` with the first one that can't be restored. */
  replay(allocations: readonly Allocation[], now: number): Promise<void>;
  /** Frees an allocation or a reservation; an unknown id is no error. */
  cancel(jobid: number): Promise<void>;
  /** Frees the units of an allocation on these nodes. Resolves to true when no unit is left. */
  partialCancel(jobid: number, nodes: readonly string[]): Promise<boolean>;
  addNodes(nodes: readonly GraphNode[]): Promise<void>;
  /** Frees the units on these nodes, then removes the nodes. Resolves to the ids of the jobs that lost units. */
  removeNodes(names: readonly string[]): Promise<readonly number[]>;
  setStatus(names: readonly string[], up: boolean): Promise<void>;
  state(): Promise<FluxionState>;
  close(): Promise<void>;
}
