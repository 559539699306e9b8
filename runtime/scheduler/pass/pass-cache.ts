/** What passes learn of the cluster, kept from one to the next for as long as it holds. */
import { type Refusals, refusals } from './refusal-cache';

export interface PassCache {
  /** Does not fit now. */
  readonly busy: Refusals;
  /** Can't be planned either. */
  readonly unplannable: Refusals;
  /** Needs nodes that are down. */
  readonly down: Refusals;
  /** Never fits these nodes. */
  readonly never: Refusals;
  /** Reservations that came due and could not start because something has overrun: uid -> when it was due. */
  readonly overdue: ReadonlyMap<string, number>;
}

export function newPassCache(): PassCache {
  return {
    busy: refusals(true),
    unplannable: refusals(true),
    down: refusals(false),
    never: refusals(false),
    overdue: new Map(),
  };
}
