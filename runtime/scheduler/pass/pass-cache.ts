/** What passes learn of the cluster, kept from pass to pass for as long as it is true. */
import type { EndlessUsage } from './endless-usage';
import { type Refusals, refusals } from './refusal-cache';
import type { Reservation } from './reservations';

export interface Beneficiary {
  /** Uids of those that were evicted for it. */
  readonly victims: ReadonlySet<string>;
  /** Its shape when the last of them was: its user may have changed it since. */
  readonly shape: string;
}

/** When those of a shape are tried again. */
export interface CostlyRetry {
  /** Unix seconds. */
  readonly at: number;
  /** How long they wait until then. */
  readonly seconds: number;
}

export interface PassCache {
  /** Requests that do not fit now. */
  readonly busy: Refusals;
  /** Requests that can't be reserved either. */
  readonly unplannable: Refusals;
  /** Requests that need nodes which are down. */
  readonly down: Refusals;
  /** Requests that never fit the nodes of the cluster. */
  readonly never: Refusals;
  /** Requests that could start only behind something that has no end. */
  readonly endless: Refusals;
  /** By priority and queue: requests for which nobody's eviction helps. Forgotten also when something starts: it may be what could leave. */
  readonly vain: Map<string, Refusals>;
  /** What services and pods outside the queue take from the nodes. */
  readonly endlessUsage: EndlessUsage | undefined;
  /** The starts that the pass promised with reservations, by uid. */
  readonly promised: ReadonlyMap<string, number>;
  /** The reservations that it returned, by uid. */
  readonly reserved: ReadonlyMap<string, Reservation>;
  /** The planned ends of all that held units, by job id. */
  readonly ends: ReadonlyMap<number, number>;
  /** By uid of a waiting workload: the second at which workloads that it may preempt have run for the minimum time. */
  readonly preemptAt: ReadonlyMap<string, number>;
  /** By uid of a waiting workload: who was evicted for it. Kept until nobody has to leave. */
  readonly beneficiaries: ReadonlyMap<string, Beneficiary>;
  /** By shape of waiting workloads that cost too much to plan. Kept when units become free. */
  readonly costly: ReadonlyMap<string, CostlyRetry>;
  /**
   * By node: how many pods outside the queue there were when pods, and not units, kept a workload from starting. What is refused holds
   * until one of them has ended. Undefined: only units have.
   */
  readonly crowding: ReadonlyMap<string, number> | undefined;
  /** Uids of waiting workloads whose promised start is a claim. */
  readonly claims: ReadonlySet<string>;
  /** Whether the pass ended before all reservations were tried on units that had become free. */
  readonly freed: boolean;
  /** Whether the pass started something. */
  readonly granted: boolean;
  /** The settings of all queues, as text: after a change workloads may start earlier than planned. */
  readonly settings: string;
}

export function newPassCache(): PassCache {
  return {
    busy: refusals({ compareWalltime: true }),
    unplannable: refusals({ compareWalltime: true }),
    down: refusals({ compareWalltime: false }),
    never: refusals({ compareWalltime: false }),
    // A shorter one may end before the reservation of a service begins.
    endless: refusals({ compareWalltime: true }),
    vain: new Map(),
    endlessUsage: undefined,
    promised: new Map(),
    reserved: new Map(),
    ends: new Map(),
    preemptAt: new Map(),
    beneficiaries: new Map(),
    costly: new Map(),
    crowding: undefined,
    claims: new Set(),
    freed: false,
    granted: false,
    settings: '',
  };
}
