import type { QueuePolicy } from '../../../constructs/api/policies';
import type { QueueSettings } from '../../queue/settings';
import type { WorkloadRow } from '../../queue/workload';
import { LimitCounts } from './limits';

/** What one queue may still do in this pass: matches, reservations, starts. */
export class QueueBudget {
  readonly limits: LimitCounts;
  /** How often Fluxion may still be asked: the depth of the queue. */
  matchesLeft: number;
  /** How many reservations the queue may still have; those kept from earlier passes count. */
  reservationsLeft: number;
  /** How many reservations may still be planned again only to start earlier: a conservative queue has thousands. */
  improvementsLeft = IMPROVEMENTS;
  granted = false;
  /** The rest of the queue waits: behind the head of a fcfs queue, or because it is too deep for this pass. */
  closed = false;
  /** The depth is used up, but the queue started something: the next pass continues at once. */
  cutShort = false;
  /** A workload was refused while later ones of the queue had reservations of earlier passes. */
  passedOver = false;
  /** Quota is kept free for the first workload that lacks it. */
  keepsQuota = false;

  constructor(
    readonly settings: QueueSettings,
    rows: readonly WorkloadRow[],
  ) {
    this.limits = new LimitCounts(
      settings.limits,
      rows.filter(({ allocation }) => allocation !== null),
    );
    this.matchesLeft = settings.depth;
    this.reservationsLeft = RESERVATIONS[settings.policy](settings);
  }

  /** First come, first served: a workload that can't start blocks the rest of its queue. */
  get isStrict(): boolean {
    return this.settings.policy === 'fcfs';
  }

  /** The depth of the queue is used up. */
  markExhausted(): void {
    if (this.granted) this.cutShort = true;
    else this.closed = true;
  }
}

/** More cost time and gain nothing: replayed traces of 10,000 jobs wait no less with 8, 16, or all. */
const IMPROVEMENTS = 4;

/** How many blocked workloads of a queue get a reservation. */
const RESERVATIONS: Readonly<Record<QueuePolicy, (settings: QueueSettings) => number>> = {
  fcfs: () => 0,
  easy: () => 1,
  hybrid: ({ reservations }) => reservations,
  conservative: ({ depth }) => depth,
};
