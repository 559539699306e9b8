/** Reclaim: evictions for a queue that takes back quota which others of its cohort have borrowed. */
import type { WorkloadRow } from '../../queue/workload';
import { evictable, evictFor, freeFor, type Holder, nodeRoom } from './eviction';
import { TERMINATION_SECONDS } from './planned-end';
import { claimQuota, dropReservation } from './reservation-updates';
import type { Reservation } from './reservations';
import type { Pass } from './state';
import { shownQueue } from './shown-names';
import { match } from './strategies';
import { heldBy, type Usage } from './usage';
import { type Room, victims } from './victims';

export interface Borrower {
  readonly row: Pick<WorkloadRow, 'queue'>;
  /** What the row holds, by dimension. */
  readonly holds: Usage;
}

/**
 * The quota that is missing for a row. What the workloads of a queue hold counts up to what the queue has borrowed: it
 * returns no more than that.
 */
export class QuotaRoom implements Room<Borrower> {
  private readonly queues = new Map<string, { readonly borrowed: Usage; readonly returned: Usage }>();

  /** @param short how much is missing, by dimension */
  constructor(
    private readonly short: Usage,
    private readonly borrowedBy: (queue: string) => Usage,
  ) {}

  /** The sum over dimensions, each in parts of what it lacked at first. */
  get missing(): number {
    let sum = 0;
    for (const [i, amount] of this.short.entries()) {
      if (amount <= 0) continue;
      let left = amount;
      for (const { borrowed, returned } of this.queues.values())
        left -= Math.min(Math.max(0, borrowed[i]!), returned[i]!);
      sum += Math.max(0, left) / amount;
    }
    return sum;
  }

  release(borrower: Borrower): void {
    this.shift(borrower, 1);
  }

  take(borrower: Borrower): void {
    this.shift(borrower, -1);
  }

  private shift({ row: { queue }, holds }: Borrower, sign: 1 | -1): void {
    const known = this.queues.get(queue) ?? {
      borrowed: this.borrowedBy(queue),
      returned: new Float64Array(holds.length),
    };
    this.queues.set(queue, known);
    holds.forEach((amount, i) => {
      known.returned[i]! += sign * amount;
    });
  }
}

type Lent = Holder & Borrower;

/** How often a queue counts nodes in vain in one pass: its workloads that wait for nodes anyway may be thousands. */
const FAILURES = 4;

/** Evicts workloads of other queues that have borrowed the quota which the row needs. */
export async function reclaimQuota(pass: Pass, row: WorkloadRow): Promise<void> {
  const { quotas, failedReclaims, reservations } = pass;
  const failures = failedReclaims.get(row.queue) ?? 0;
  if (failures >= FAILURES) return;
  const at = pass.input.now + TERMINATION_SECONDS;
  // Borrowers that wait behind the owner return what they have planned before any that runs is evicted.
  const planned = plannedBehind(pass, row);
  for (const reservation of planned) quotas.free(reservations.rowOf(reservation));
  const borrowers = borrowersOf(pass, row);
  const quota: Room<Lent> = new QuotaRoom(quotas.shortOf(row, at), (queue) => quotas.borrowedBy(queue, at));
  // Most rows need no look at the nodes: those that leave return enough, or nobody can.
  const isAtNodes = quota.missing > 0 && victims(quota, borrowers) !== undefined;
  const chosen = isAtNodes && victims(both(quota, nodeRoom(await freeFor(pass, row))), borrowers);
  if (chosen && (await evictBorrowers(pass, row, chosen, planned))) return;
  if (isAtNodes) failedReclaims.set(row.queue, failures + 1);
  for (const reservation of planned)
    if (reservations.of(reservation.uid) !== undefined)
      claimQuota(pass, reservations.rowOf(reservation), reservation.allocation);
}

/** Reservations of the other queues of the cohort whose rows come after this row. */
function plannedBehind(pass: Pass, row: WorkloadRow): readonly Reservation[] {
  const { reservations } = pass;
  return reservations.unreached().filter((other) => sharesQuota(pass, row, reservations.rowOf(other)));
}

function borrowersOf(pass: Pass, row: WorkloadRow): readonly Lent[] {
  return evictable(pass)
    .filter((holder) => sharesQuota(pass, row, holder.row))
    .map((holder) => ({ ...holder, holds: heldBy(holder.row, holder.allocation, pass.units) }));
}

/** Whether the two are in different queues of one cohort. */
function sharesQuota({ budgets }: Pass, { queue }: WorkloadRow, other: WorkloadRow): boolean {
  return (
    other.queue !== queue && budgets.get(other.queue)?.settings.cohort === budgets.get(queue)?.settings.cohort
  );
}

/** @returns whether the row can start with what they return */
async function evictBorrowers(
  pass: Pass,
  row: WorkloadRow,
  chosen: readonly Holder[],
  planned: readonly Reservation[],
): Promise<boolean> {
  const message = (victim: WorkloadRow) =>
    `returns quota that it borrowed from ${shownQueue(victim, row.queue)}`;
  const ask = () => match(pass, row, 'allocate_orelse_reserve');
  let answer = await evictFor(pass, row, chosen, message, ask);
  // They are planned again behind the owner.
  for (const reservation of planned) await dropReservation(pass, reservation);
  if (planned.length > 0) answer ??= await evictFor(pass, row, chosen, message, ask);
  if (answer === undefined) return false;
  // The next pass starts it: until then its quota is kept, and its nodes are still in use.
  await pass.input.matcher.cancel(row.jobid);
  return true;
}

function both(first: Room<Lent>, second: Room<Holder>): Room<Lent> {
  return {
    get missing() {
      return first.missing + second.missing;
    },
    release(candidate) {
      first.release(candidate);
      second.release(candidate);
    },
    take(candidate) {
      first.take(candidate);
      second.take(candidate);
    },
  };
}
