/** The engine behind a server: the embedded matcher or flux-sched's library. Callers make one call at a time. */
import type { MatchPolicy } from '../../constructs/api/policies';
import type { Fluxion, MatchRequest, MatchResult } from './types';

/** A grant also lists the containment paths of the exclusively allocated vertices, in the order of Fluxion's answer. */
export type EngineResult =
  | (Extract<MatchResult, { status: 'OK' }> & { held(): readonly string[] })
  | Exclude<MatchResult, { status: 'OK' }>;

export interface JgfInit {
  readonly jgf: string;
  readonly policy: MatchPolicy;
  readonly now: number;
  /** flux-sched's `prune_filters`. @default DEFAULT_PRUNE_FILTERS */
  readonly pruneFilters?: string;
}

/** The first type decides the times at which a reservation is tried, the last type the weights of policy first. */
export const DEFAULT_PRUNE_FILTERS = 'ALL:core,ALL:node,ALL:memory,ALL:gpu';

export interface Engine extends Fluxion {
  readonly kind: 'embedded' | 'library';
  /** Empty before the first init. */
  readonly bootId: string;
  /**
   * Starts from a graph in JGF, which callers of the public service send. setStatus then names nodes by their
   * containment paths; such a graph supports no addNodes, removeNodes, replay or partialCancel.
   * @throws FluxqError FLUXQ_FLUXION_GRAPH
   */
  initJgf(init: JgfInit): Promise<string>;
  match(request: MatchRequest): Promise<EngineResult>;
  /** The JGF of an allocation, as the public service returns it; empty for an unknown job. */
  jgf(jobid: number): Promise<string>;
}

/** The part of pino's Logger that this folder uses. */
export interface FluxionLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
