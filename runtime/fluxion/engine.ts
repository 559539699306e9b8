/** What the server serves: the embedded matcher or the real library. Calls come one at a time. */

import type { MatchPolicy } from '../../constructs/api/policies';
import type { Fluxion, MatchRequest, MatchResult } from './types';

/** A grant also tells the paths of the vertices given exclusively, in the order of Fluxion's answer. */
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

/** The first type drives the candidate times of a reservation, the last the weights of policy first. */
export const DEFAULT_PRUNE_FILTERS = 'ALL:core,ALL:node,ALL:memory,ALL:gpu';

export interface Engine extends Fluxion {
  readonly kind: 'embedded' | 'library';
  /** Empty before the first init. */
  readonly bootId: string;
  /**
   * Starts from a graph in JGF, as callers of the public service give it; nodes are then named by their paths
   * in setStatus, and neither added, removed, replayed nor partly freed.
   * @throws FluxqError FLUXQ_FLUXION_GRAPH
   */
  initJgf(init: JgfInit): Promise<string>;
  match(request: MatchRequest): Promise<EngineResult>;
  /** A granted allocation as JGF text, as the public service answers it. */
  jgf(jobid: number): Promise<string>;
}

/** What the service reports; pino's Logger is one. */
export interface FluxionLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
