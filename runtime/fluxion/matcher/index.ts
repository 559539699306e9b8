/** The embedded matcher: the same answers as flux-sched 0.54's C library, without I/O or a clock of its own. */
import type { Jobspec } from '../../jobspec/types';
import type { Allocation, FluxionState, GraphNode, MatchOperation } from '../types';
import type { JgfGraph } from './jgf';

export interface MatcherOptions {
  /** One of MATCH_POLICIES, or flux-sched's custom form `policy=low node_centric=true`. */
  readonly policy: string;
  /** flux-sched's `prune_filters`. @default "ALL:core,ALL:node,ALL:memory,ALL:gpu" */
  readonly pruneFilters?: string;
}

export interface MatchCall {
  /** Unique among the jobs that hold something. */
  readonly jobid: number;
  readonly jobspec: Jobspec;
  readonly operation: MatchOperation;
  /** Whole second, never goes back. Constant 0 is the C library's axis. */
  readonly now: number;
}

export interface Granted {
  readonly status: 'OK';
  readonly start: number;
  readonly end: number;
  /** It starts later than `now`. */
  readonly reserved: boolean;
  /** Containment paths of the vertices given exclusively, in the order of the answer. */
  readonly held: readonly string[];
  readonly allocation: Allocation;
}

export interface Refused {
  readonly status: 'BUSY' | 'UNSATISFIABLE' | 'INVALID';
  readonly text: string;
}

export type MatchOutcome = Granted | Refused;

export declare class Matcher {
  /** Throws FLUXQ_FLUXION_GRAPH or FLUXQ_FLUXION_POLICY for what `reapi_cli_initialize` refuses. */
  static fromJgf(jgf: JgfGraph | string, options: MatcherOptions): Matcher;
  /** Equal to `fromJgf(toJgf(nodes))`, without building the JGF. */
  static fromNodes(nodes: readonly GraphNode[], options: MatcherOptions): Matcher;
  match(call: MatchCall): MatchOutcome;
  satisfiable(jobspec: Jobspec): { readonly satisfiable: boolean; readonly text: string };
  /** Whether there was such a job. */
  cancel(jobid: number): boolean;
  /** True when nothing is left of the job. */
  partialCancel(jobid: number, nodeNames: readonly string[]): boolean;
  /** Throws FLUXQ_FLUXION_REPLAY, with nothing of this allocation held. */
  replay(allocation: Allocation, now: number): void;
  setStatus(nameOrPath: string, up: boolean): void;
  addNodes(nodes: readonly GraphNode[]): void;
  /** Frees what is on them first. The ids of the jobs that lost something. */
  removeNodes(names: readonly string[]): readonly number[];
  state(now: number): Omit<FluxionState, 'bootId'>;
  /** The job's allocation as flux-sched's `match_format: jgf` writes it. */
  jgfOf(jobid: number): string | undefined;
  clone(): Matcher;
}

export { toJgf, type JgfGraph } from './jgf';
