import type { QueuePolicy } from '../../../constructs/api/policies';
import type { Jobspec } from '../../jobspec/types';
import type { QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import { WaitingLimits } from './limits';
import { type Refusals, refusals } from './refusal-cache';
import type { Reservation } from './reservations';

/** What one queue may still do in this pass: matches, reservations, starts. */
export class QueueBudget {
  readonly limits: WaitingLimits;
  /** How often Fluxion may still be asked: the depth of the queue. */
  matchesLeft: number;
  /** How many reservations the queue may have. */
  readonly mostReservations: number;
  /** How many of them are left; those kept from earlier passes count. */
  reservationsLeft: number;
  /**
   * The same for workloads that wait for the limit of their user: else one user with many of them would take the
   * reservations from all others.
   */
  userReservationsLeft: number;
  /** How many workloads may still be planned beside quotas: each costs a look at all nodes. */
  plansLeft = PLANS;
  /** How many workloads with a reservation may be asked for again, because an eviction may start them earlier: each costs a look at all nodes. */
  lateEvictionsLeft = LATE_EVICTIONS;
  /** How often workloads behind the next in its queue may still look in vain for who could leave: each look counts the nodes. */
  evictionsLeft = BEHIND;
  /** How often it may still look in vain for who could leave or give up a plan: thousands may wait for nodes anyway. */
  reclaimsLeft = RECLAIMS;
  /**
   * Workloads without a reservation that were refused: they are next, and nobody behind them, and later ones may have reservations of
   * earlier passes.
   */
  refusedFirst = 0;
  /**
   * Users of a fcfs queue of whom an earlier workload waits for their limit without a reservation, with that limit: their later ones wait
   * behind it.
   */
  readonly limitedUsers = new Map<string, string>();
  /** Those that start in this pass. */
  readonly started: WorkloadRow[] = [];
  /** The rest of the queue waits: behind the head of a fcfs queue, or because it is too deep for this pass. */
  closed = false;
  /** When the last one of a fcfs queue for whom others leave or end soon starts: those behind it may not start before. @default - nobody */
  follows: number | undefined;
  /** The depth is used up, but the queue started something: the next pass continues at once. */
  cutShort = false;
  /** Requests that the quota refused on the nodes that are free now, and why it refused the last of them. */
  overQuota: { readonly requests: Refusals; text: string } | undefined;

  constructor(readonly settings: QueueSettings) {
    this.limits = new WaitingLimits(settings.limits);
    this.matchesLeft = settings.depth;
    this.mostReservations = RESERVATIONS[settings.policy](settings);
    this.reservationsLeft = this.mostReservations;
    this.userReservationsLeft = this.reservationsLeft;
  }

  mayKeep({ ofUser, isClaim }: Pick<Reservation, 'ofUser' | 'isClaim'>): boolean {
    return isClaim === true || (ofUser === true ? this.userReservationsLeft : this.reservationsLeft) > 0;
  }

  /** Whether a new reservation is one of those for the limit of a user. One that was not is counted so only where there is room. */
  isOfUser(before: Pick<Reservation, 'ofUser'> | undefined, ofUser: boolean): boolean {
    return (before?.ofUser ?? ofUser) || (ofUser && this.userReservationsLeft > 0);
  }

  countReservation({ ofUser, isClaim }: Pick<Reservation, 'ofUser' | 'isClaim'>, sign: 1 | -1): void {
    if (isClaim === true) return;
    if (ofUser === true) this.userReservationsLeft -= sign;
    else this.reservationsLeft -= sign;
  }

  /** Those whose first workloads are protected together: all queues of a policy, or one queue. */
  get line(): string {
    const { policy, name } = this.settings;
    return SHARED.has(policy) ? policy : name;
  }

  /** First come, first served: a workload that can't start blocks the rest of its queue. */
  get isStrict(): boolean {
    return this.settings.policy === 'fcfs';
  }

  refuseOverQuota(jobspec: Jobspec, text: string): void {
    this.overQuota ??= { requests: refusals({ compareWalltime: true }), text };
    this.overQuota.requests.add(jobspec);
    this.overQuota.text = text;
  }

  /** The depth of the queue is used up. */
  markExhausted(): void {
    if (this.started.length > 0) this.cutShort = true;
    else this.closed = true;
  }
}

/**
 * The head of a fcfs queue has a promise because all of its queue waits behind it, and a conservative queue promises a start to
 * each workload: both are rules of one queue.
 */
const SHARED: ReadonlySet<QueuePolicy> = new Set(['easy', 'hybrid']);

/** Each counts the nodes. */
const RECLAIMS = 4;
const LATE_EVICTIONS = RECLAIMS;
const BEHIND = 8;

/** Only a conservative queue has more workloads that lack quota and may reserve; the next pass plans more of them. */
const PLANS = 100;

/** How many blocked workloads of a queue get a reservation. */
const RESERVATIONS: Readonly<Record<QueuePolicy, (settings: QueueSettings) => number>> = {
  fcfs: () => 1,
  easy: () => 1,
  hybrid: ({ reservations }) => reservations,
  conservative: ({ depth }) => depth,
};
