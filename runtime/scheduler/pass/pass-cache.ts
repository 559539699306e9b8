/** What passes learn of the cluster, kept from pass to pass for as long as it is true. */
import { type Refusals, refusals } from './refusal-cache';

export interface PassCache {
  /** Requests that do not fit now. */
  readonly busy: Refusals;
  /** Requests that can't be reserved either. */
  readonly unplannable: Refusals;
  /** Requests that need nodes which are down. */
  readonly down: Refusals;
  /** Requests that never fit the nodes of the cluster. */
  readonly never: Refusals;
  /**
   * Reservations that were due and could not start because a workload ran past its end: uid -> the second at which
   * they were due.
   */
  readonly overdue: ReadonlyMap<string, number>;
}

export function newPassCache(): PassCache {
  return {
    busy: refusals({ compareWalltime: true }),
    unplannable: refusals({ compareWalltime: true }),
    down: refusals({ compareWalltime: false }),
    never: refusals({ compareWalltime: false }),
    overdue: new Map(),
  };
}
