/** What the server serves: the embedded matcher or the real library. Calls come one at a time. */
import type { Fluxion, MatchPolicy } from './types';

export interface Engine extends Fluxion {
  readonly kind: 'embedded' | 'library';
  /** Empty before the first init. */
  readonly bootId: string;
  /**
   * Starts from a graph in JGF, for callers of the public service.
   * @throws FluxqError FLUXQ_FLUXION_GRAPH
   */
  initJgf(jgf: string, policy: MatchPolicy, now: number): Promise<string>;
  /** A granted allocation as JGF text, as the public service answers it. */
  jgf(jobid: number): Promise<string>;
}

/** What the service reports; pino's Logger is one. */
export interface FluxionLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
