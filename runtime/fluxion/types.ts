/**
 * Words of this folder: the *graph* is what Fluxion knows of the cluster; a
 * *unit* is one allocatable vertex (a core, a memory chunk, a gpu); an
 * *allocation* is what Fluxion gave, a *reservation* one that starts later;
 * *replay* gives an allocation back to a Fluxion that lost it; the *boot id*
 * changes whenever a server has lost its graph.
 *
 * All times are absolute seconds (Unix time; in the simulator whatever its
 * clock says). A job id is chosen by the caller, unique for ever, 1..2^53-1.
 */
import type { MatchPolicy } from '../../constructs/api/policies';
import type { Jobspec } from '../jobspec/types';
import type { Allocation, GraphNode, UnitCounts } from '../resources/types';

export type MatchOperation =
  /** Now or not at all; answers BUSY even for the impossible. */
  | 'allocate'
  /** Now; tells BUSY from UNSATISFIABLE. */
  | 'allocate_with_satisfiability'
  /** Now, else at the earliest possible start. */
  | 'allocate_orelse_reserve'
  /** Whether it would fit now; nothing is held. */
  | 'without_allocating'
  /** The earliest start; nothing is held. */
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
    /** Where it stands in the graph and what it says of itself, as it was given. */
    readonly properties: readonly string[];
    readonly zone?: string;
    readonly rack?: string;
  }[];
}

export interface InitRequest {
  readonly nodes: readonly GraphNode[];
  readonly policy: MatchPolicy;
  readonly now: number;
  /** Leader's fencing number: a server refuses callers with a lower one than it has seen. @default 0 */
  readonly fence?: number;
}

/**
 * What the queue needs of Fluxion, whichever server is behind it. Calls are
 * serial. A call that timed out or broke throws FluxqError `FLUXQ_FLUXION_IN_DOUBT`:
 * the caller must `init` and `replay` before it goes on.
 */
export interface Fluxion {
  /** Starts from nothing with these nodes; all state before is gone. Resolves to the boot id. */
  init(request: InitRequest): Promise<string>;
  match(request: MatchRequest): Promise<MatchResult>;
  /** Whether it fits the empty graph, whatever is down or busy. */
  satisfiable(jobspec: Jobspec): Promise<{ readonly satisfiable: boolean; readonly text: string }>;
  /** Gives back exactly these allocations. Throws `FLUXQ_FLUXION_REPLAY` naming the first that can't be. */
  replay(allocations: readonly Allocation[], now: number): Promise<void>;
  /** Frees an allocation or reservation; an unknown id is no error. */
  cancel(jobid: number): Promise<void>;
  /** Frees part of an allocation: whole nodes by name. Resolves to true when nothing is left. */
  partialCancel(jobid: number, nodes: readonly string[]): Promise<boolean>;
  addNodes(nodes: readonly GraphNode[]): Promise<void>;
  /** Frees what is on them, then removes them. Resolves to the job ids that lost units. */
  removeNodes(names: readonly string[]): Promise<readonly number[]>;
  setStatus(names: readonly string[], up: boolean): Promise<void>;
  state(): Promise<FluxionState>;
  close(): Promise<void>;
}
