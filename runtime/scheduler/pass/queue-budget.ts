import type { QueuePolicy } from '../../../constructs/api/policies';
import type { Jobspec } from '../../jobspec/types';
import type { QueueSettings } from '../../queue/settings';
import { WaitingLimits } from './limits';
import { type Refusals, refusals } from './refusal-cache';
import type { Reservation } from './reservations';

/** What one queue may still do in this pass: matches, reservations, starts. */
export class QueueBudget {
  readonly limits: WaitingLimits;
  /** How often Fluxion may still be asked: the depth of the queue. */
  matchesLeft: number;
  /** How many reservations the queue may still have; those kept from earlier passes count. */
  reservationsLeft: number;
  /**
   * The same for workloads that wait for the limit of their user: else one user with many of them would take the
   * reservations from all others.
   */
  userReservationsLeft: number;
  /** How many workloads may still be planned beside quotas: each costs a look at all nodes. */
  plansLeft = PLANS;
  /** How many reservations may still be planned again only to start earlier: a conservative queue has thousands. */
  improvementsLeft = IMPROVEMENTS;
  granted = false;
  /** The rest of the queue waits: behind the head of a fcfs queue, or because it is too deep for this pass. */
  closed = false;
  /** The depth is used up, but the queue started something: the next pass continues at once. */
  cutShort = false;
  /** A workload was refused while later ones of the queue had reservations of earlier passes. */
  passedOver = false;
  /** Requests that the quota refused on the nodes that are free now, and why it refused the last of them. */
  overQuota: { readonly requests: Refusals; text: string } | undefined;

  constructor(readonly settings: QueueSettings) {
    this.limits = new WaitingLimits(settings.limits);
    this.matchesLeft = settings.depth;
    this.reservationsLeft = RESERVATIONS[settings.policy](settings);
    this.userReservationsLeft = this.reservationsLeft;
  }

  mayKeep({ ofUser, isClaim }: Pick<Reservation, 'ofUser' | 'isClaim'>): boolean {
    return isClaim === true || (ofUser === true ? this.userReservationsLeft : this.reservationsLeft) > 0;
  }

  countReservation({ ofUser, isClaim }: Pick<Reservation, 'ofUser' | 'isClaim'>, sign: 1 | -1): void {
    if (isClaim === true) return;
    if (ofUser === true) this.userReservationsLeft -= sign;
    else this.reservationsLeft -= sign;
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
    if (this.granted) this.cutShort = true;
    else this.closed = true;
  }
}

/** More cost time and gain nothing: replayed traces of 10,000 jobs wait no less with 8, 16, or all. */
const IMPROVEMENTS = 4;

/** Only a conservative queue has more workloads that lack quota and may reserve; the next pass plans more of them. */
const PLANS = 100;

/** How many blocked workloads of a queue get a reservation. */
const RESERVATIONS: Readonly<Record<QueuePolicy, (settings: QueueSettings) => number>> = {
  fcfs: () => 1,
  easy: () => 1,
  hybrid: ({ reservations }) => reservations,
  conservative: ({ depth }) => depth,
};
