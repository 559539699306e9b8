/**
 * Evictions for a workload that lacks quota: of other queues that have borrowed its queue's own quota (reclaim), and of
 * workloads of lower priority that use up the quotas which it is charged to (preemption).
 */
import type { MatchResult } from '../../fluxion/types';
import type { WorkloadRow } from '../../queue/workload';
import { isOwed } from './claims';
import { ownQuotaFor } from './entitlement';
import {
  evictableFor,
  evicted,
  evictFor,
  freeFor,
  type Holder,
  isAwaiting,
  nodeRoom,
  protectedUntil,
} from './eviction';
import { TERMINATION_SECONDS } from './planned-end';
import { lowerThan, preemptedBy, waitForProtected } from './preemptor';
import { planWithinQuota } from './quota-plan';
import { type QuotaHolder, QuotaRoom } from './quota-room';
import type { QuotaShortage } from './quota-shortage';
import { claimQuota, dropReservation } from './reservation-updates';
import type { Reservation } from './reservations';
import { shownName, shownQueue } from './shown-names';
import type { Pass } from './state';
import { type Candidate, ofLowerPriority } from './strategies';
import type { Usage } from './usage';
import { cheapestFirst, type Room, victims } from './victims';

type Victim = Holder & {
  readonly holds: Usage;
  /** Whether it returns what its queue has borrowed; else it is preempted, and protected as others are. */
  readonly isBorrower: boolean;
};

/** How often a queue counts nodes in vain in one pass: its workloads that wait for nodes anyway may be thousands. */
const FAILURES = 4;

/** @returns whether workloads were evicted for the row: the quota that it lacks is free for it when they are gone */
export async function evictForQuota(
  pass: Pass,
  candidate: Candidate,
  shortage: QuotaShortage,
): Promise<boolean> {
  const { row } = candidate;
  const { quotas, failedReclaims, reservations } = pass;
  if ((failedReclaims.get(row.queue) ?? 0) >= FAILURES || isAwaiting(pass, row)) return false;
  const rights = rightsOf(pass, candidate, shortage);
  if (!(rights.reclaims || rights.preempts)) return false;
  // What those that leave return is enough, even beside the plans of others: these need not be lifted to see that.
  if (roomFor(pass, row).missing === 0) return false;
  // Borrowers that wait behind the owner return what they have planned before any that runs is evicted.
  const planned = rights.isEntitled ? plannedBehind(pass, row) : [];
  for (const reservation of planned) quotas.free(reservations.rowOf(reservation));
  const chosen = await victimsFor(pass, row, rights);
  if (chosen.length > 0 && (await evictAll(pass, candidate, chosen, planned))) return true;
  for (const reservation of planned)
    if (reservations.of(reservation.uid) !== undefined)
      claimQuota(pass, reservations.rowOf(reservation), reservation.allocation);
  return false;
}

interface Rights {
  /** Its queue has own quota for it, which others have borrowed. */
  readonly isEntitled: boolean;
  readonly reclaims: boolean;
  readonly preempts: boolean;
}

function rightsOf(pass: Pass, { row, budget, isNext }: Candidate, { lent }: QuotaShortage): Rights {
  const { settings } = budget;
  const preempts = settings.preempts && isNext && row.preemptions === 0;
  const isEntitled = settings.reclaim && lent && ownQuotaRoom(pass, row).missing === 0;
  return { isEntitled, reclaims: isEntitled || (settings.reclaim && preempts), preempts };
}

interface Attempt {
  readonly candidates: readonly Victim[];
  readonly room: Room<Victim>;
}

/** @returns none if those that leave return enough, or nobody can */
async function victimsFor(pass: Pass, row: WorkloadRow, rights: Rights): Promise<readonly Victim[]> {
  const { failedReclaims } = pass;
  const quota = roomFor(pass, row);
  if (quota.missing === 0) return [];
  const attempts = attemptsFor(pass, row, quota, rights);
  if (attempts.length === 0) return [];
  const nodes = nodeRoom(await freeFor(pass, row));
  const { now } = pass.input;
  for (const { candidates, room } of attempts) {
    const whole = both<Victim>(room, nodes);
    const open = candidates.filter((victim) => victim.isBorrower || protectedUntil(pass, victim) <= now);
    const chosen = lawfulVictims(quota, whole, open);
    if (chosen !== undefined) return chosen;
    if (open.length < candidates.length) waitForProtected(pass, row, candidates, whole);
  }
  failedReclaims.set(row.queue, (failedReclaims.get(row.queue) ?? 0) + 1);
  return [];
}

/**
 * Who may be evicted, in the order in which it is tried, as far as quota tells. A queue does not lose own work, whatever its
 * priority, while others have borrowed enough of its quota. It may evict own work to be within its quota, and then
 * take the rest back.
 */
function attemptsFor(
  pass: Pass,
  row: WorkloadRow,
  quota: QuotaRoom<QuotaHolder>,
  { reclaims, preempts }: Rights,
): readonly Attempt[] {
  const lower = preempts ? lowerThan(pass, row).map((holder) => asVictim(pass, holder, false)) : [];
  const preemption = { candidates: lower, room: quota };
  if (!reclaims) return [preemption].filter(suffices);
  const borrowers = evictableFor(pass, row)
    .filter((holder) => isBorrower(pass, row, holder.row))
    .map((holder) => asVictim(pass, holder, true));
  const room = both<Victim>(quota, ownQuotaRoom(pass, row));
  const known = new Set(borrowers.map(({ uid }) => uid));
  const all = [...borrowers, ...lower.filter(({ uid }) => !known.has(uid))];
  return [{ candidates: borrowers, room }, preemption, { candidates: all, room }].filter(suffices);
}

function asVictim({ quotas }: Pass, holder: Holder, isBorrower: boolean): Victim {
  return { ...holder, holds: quotas.chargedBy(holder.row, holder.allocation), isBorrower };
}

/** Whether the candidates together make enough room. */
function suffices({ candidates, room }: Attempt): boolean {
  for (const candidate of candidates) room.release(candidate);
  const { missing } = room;
  for (const candidate of candidates) room.take(candidate);
  return missing === 0;
}

/** What the row exceeds the own quota of its queue by: only what this queue holds itself makes room for it. */
function ownQuotaRoom(pass: Pass, row: WorkloadRow): Room<QuotaHolder> {
  const at = pass.input.now + TERMINATION_SECONDS;
  const left = ownQuotaFor(pass, row, at, ofLowerPriority(pass, row));
  const short = pass.quotas.leastOf(row).map((amount, i) => (amount > 0 ? amount - left[i]! : 0));
  return new QuotaRoom(row, [{ account: row.queue, short }], {
    isCharged: ({ queue }, account) => queue === account,
    borrowedBy: () => short,
  });
}

/**
 * Of a queue that has returned what it borrowed, nothing more is evicted for nodes either: it would have a right to take that
 * back.
 */
function lawfulVictims(
  quota: QuotaRoom<QuotaHolder>,
  room: Room<Victim>,
  open: readonly Victim[],
): readonly Victim[] | undefined {
  const chosen = victims(room, open);
  if (chosen === undefined || quota.isLawful(chosen)) return chosen;
  return victims(room, quota.lawfulOf<Victim>(open.toSorted(cheapestFirst)));
}

/** What the row lacks when those that have to leave have left. */
function roomFor(pass: Pass, row: WorkloadRow): QuotaRoom<QuotaHolder> {
  const { quotas, input } = pass;
  const at = input.now + TERMINATION_SECONDS;
  const room = new QuotaRoom<QuotaHolder>(row, quotas.lacking(row, at), {
    isCharged: (other, account) => quotas.isCharged(other, account),
    borrowedBy: (queue) => withoutPlans(pass, queue, () => quotas.borrowedBy(queue, at)),
  });
  for (const { row: other, end } of evicted(pass))
    if (end > at) room.release({ row: other, holds: quotas.chargedBy(other, other.allocation!) });
  return room;
}

/** What a queue has only planned to borrow is not returned by what it runs within its own quota. */
function withoutPlans<T>({ quotas, reservations }: Pass, queue: string, ask: () => T): T {
  const plans = [...reservations.ofQueue(queue)].map((other) => reservations.rowOf(other));
  return quotas.without(plans, ask);
}

/** Whether the other is in another queue of its cohort. */
function isBorrower({ budgets }: Pass, { queue }: WorkloadRow, other: WorkloadRow): boolean {
  const cohort = budgets.get(queue)?.settings.cohort;
  return other.queue !== queue && budgets.get(other.queue)?.settings.cohort === cohort;
}

/** Reservations of the other queues of the cohort whose rows come after this row, but not those for which others leave. */
function plannedBehind(pass: Pass, row: WorkloadRow): readonly Reservation[] {
  const { reservations } = pass;
  return reservations
    .behind()
    .filter((other) => isBorrower(pass, row, reservations.rowOf(other)) && !isOwed(pass, other));
}

/** @returns whether the row can start with what they return */
async function evictAll(
  pass: Pass,
  { row, reservation }: Candidate,
  chosen: readonly Victim[],
  planned: readonly Reservation[],
): Promise<boolean> {
  const { matcher, now } = pass.input;
  const returned = (victim: WorkloadRow) =>
    `returns quota that it borrowed from ${shownQueue(victim, row.queue)} to ${shownName(victim, row)}`;
  const plan = {
    messageFor: (victim: Victim) => (victim.isBorrower ? returned(victim.row) : preemptedBy(victim.row, row)),
    match: () => planBeside(pass, row),
    otherwise: reservation?.allocation.start ?? Infinity,
  };
  let answer = await evictFor(pass, row, chosen, plan);
  // They are planned again behind the owner.
  for (const other of planned) await dropReservation(pass, other);
  if (planned.length > 0) answer ??= await evictFor(pass, row, chosen, plan);
  await matcher.cancel(row.jobid);
  if (answer !== undefined && chosen.some((victim) => victim.isBorrower)) pass.claims.add(row.uid);
  if (answer === undefined && reservation !== undefined) await matcher.replay([reservation.allocation], now);
  return answer !== undefined;
}

/** Nodes that are free only until the quota is would not do. */
async function planBeside(pass: Pass, row: WorkloadRow): Promise<MatchResult> {
  const { matcher, now } = pass.input;
  await matcher.cancel(row.jobid);
  const allocation = await planWithinQuota(pass, row, { from: now });
  if (allocation === undefined) return { status: 'BUSY', text: '' };
  return { status: 'OK', allocation, reserved: allocation.start > now };
}

function both<C>(first: Room<C>, second: Room<C>): Room<C> {
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
