/**
 * Evictions for a workload that lacks quota: of other queues that have borrowed its queue's own quota (reclaim), and of
 * workloads of lower priority that use up the quotas which it is charged to (preemption).
 */
import { FAIR_SHARING } from '../../../constructs/api/policies';
import type { MatchResult } from '../../fluxion/types';
import type { WorkloadRow } from '../../queue/workload';
import { freePlansToBorrow } from './borrowed-plans';
import { putBack } from './claims';
import { sharesFor } from './cohort-shares';
import { evictForEqual } from './equal-workloads';
import {
  evictableFor,
  evictFor,
  goneOf,
  type Holder,
  isAwaiting,
  isWorth,
  mayEndOthers,
  nodeRoom,
  protectedUntil,
} from './eviction';
import { isQuotaInVain, noteEvictionInVain, noteQuotaInVain, type QuotaRights } from './eviction-tries';
import { type Sharing, sharingVictims } from './fair-sharing';
import { ownQuotaRoom, roomFor } from './missing-quota';
import { noteNear, startBesideNear } from './near-starts';
import { TERMINATION_SECONDS } from './planned-end';
import { lowerThan, preemptedBy, waitForProtected } from './preemptor';
import { planWithinQuota } from './quota-plan';
import type { QuotaHolder, QuotaRoom } from './quota-room';
import type { QuotaShortage } from './quota-shortage';
import { claimQuota, holdUncharged, liftReservation } from './reservation-updates';
import type { Reservation } from './reservations';
import { shownName, shownQueue } from './shown-names';
import type { Pass } from './state';
import type { Candidate } from './strategies';
import type { Usage } from './usage';
import { cheapestFirst, type Room, togetherIn, victims } from './victims';

type Victim = Holder & {
  readonly holds: Usage;
  /** Whether it returns what its queue has borrowed, or is preempted by priority or by shares, and then protected as others are. */
  readonly leaves: 'returned' | 'preempted' | 'shared';
  /** Whether it leaves because its queue has borrowed. */
  readonly isBorrower: boolean;
};

/** @returns whether workloads were evicted for the row: the quota that it lacks is free for it when they are gone */
export async function evictForQuota(
  pass: Pass,
  candidate: Candidate,
  shortage: QuotaShortage,
): Promise<boolean> {
  const { row, budget } = candidate;
  const { reservations } = pass;
  if (budget.reclaimsLeft === 0 || isAwaiting(pass, row) || !mayEndOthers(pass, row)) return false;
  const rights = rightsOf(pass, candidate, shortage);
  if (isQuotaInVain(pass, budget, row, rights)) return false;
  pass.preemptAt.delete(row.uid);
  if (!(rights.reclaims || rights.preempts || rights.sharing !== 'Never')) return false;
  // What others have only planned to borrow is returned before any borrower that runs is evicted.
  const planned = rights.isEntitled ? freePlansToBorrow(pass, row) : [];
  const choice = worthwhile(pass, candidate, await choiceFor(pass, candidate, rights));
  const isFreed = await evictChosen(pass, candidate, choice, planned);
  if (isFreed !== undefined) return isFreed;
  for (const other of planned) claimQuota(pass, reservations.rowOf(other), other.allocation);
  // What borrows from this pass on may leave in the next one: nobody else of its queue does so in its place.
  if (rights.reclaims && startsBorrower(pass, row)) pass.preemptAt.set(row.uid, pass.input.now + 1);
  // For whom enough ends soon nobody has to leave, but for those behind it somebody may.
  const isVain = !pass.near.has(row.uid) && (rights.preempts || rights.sharing !== 'Never');
  if (isVain) noteEvictionInVain(pass, budget, row);
  return false;
}

/** @returns whether the chosen leave for the row, or for an equal one before it; undefined: nobody leaves */
async function evictChosen(
  pass: Pass,
  candidate: Candidate,
  choice: Choice | undefined,
  planned: readonly Reservation[],
): Promise<boolean | undefined> {
  if (choice === undefined || choice.victims.length === 0) return undefined;
  const evict = (row: WorkloadRow) =>
    evictAll(pass, { ...candidate, row, reservation: undefined }, choice, []);
  const isByPriority = choice.victims.some(({ leaves }) => leaves === 'preempted');
  const mayEvict = (row: WorkloadRow) => mayEndOthers(pass, row) && !(isByPriority && row.preemptions > 0);
  if (await evictForEqual(pass, candidate.row, choice.victims, { mayEvict, evict })) return false;
  return (await evictAll(pass, candidate, choice, planned)) || undefined;
}

/** @returns undefined if it would start as early without them */
function worthwhile(
  pass: Pass,
  { row, reservation, otherwise = Infinity }: Candidate,
  choice: Choice | undefined,
): Choice | undefined {
  if (choice === undefined || choice.victims.length === 0 || reservation !== undefined) return choice;
  const start = Math.min(startBesideNear(pass, row), otherwise);
  if (isWorth(start, goneOf(pass, choice.victims))) return choice;
  noteNear(pass, row, { start });
  return undefined;
}

interface Rights extends QuotaRights {
  readonly reclaims: boolean;
}

function rightsOf(pass: Pass, { row, budget, isNext }: Candidate, { lent, ofCohort }: QuotaShortage): Rights {
  const { settings } = budget;
  const sharing = isNext && (lent || ofCohort) ? settings.fairSharing : 'Never';
  const preempts = settings.preempts && isNext && row.preemptions === 0;
  const isEntitled = settings.reclaim && lent && ownQuotaRoom(pass, row).missing === 0;
  return { sharing, isEntitled, reclaims: isEntitled || (settings.reclaim && preempts), preempts };
}

/** Who is evicted for one start. */
interface Choice {
  readonly victims: readonly Victim[];
  /** Whether the row may hold so much more than the least that it can hold. @default - yes */
  readonly allows?: (more: Usage) => boolean;
}

interface Attempt {
  readonly candidates: readonly Victim[];
  readonly room: Room<Victim>;
  /** Of candidates that are not protected, as quota and nodes ask for it. */
  choose(open: readonly Victim[], whole: Room<Victim>): Choice | undefined;
}

/** @returns undefined if those that leave return enough, or nobody can */
async function choiceFor(
  pass: Pass,
  { row, budget, notBefore }: Candidate,
  rights: Rights,
): Promise<Choice | undefined> {
  const quota = roomFor(pass, row, notBefore);
  if (quota.missing === 0) {
    noteNear(pass, row);
    return undefined;
  }
  const attempts = attemptsFor(pass, row, quota, rights);
  if (attempts.length === 0) return undefined;
  const nodes = await nodeRoom(pass, row, notBefore);
  const { now } = pass.input;
  const until = (victim: Victim) => (victim.leaves === 'returned' ? now : protectedUntil(pass, victim));
  for (const { candidates, room, choose } of attempts) {
    const whole = togetherIn<Victim>(room, nodes);
    const choice = choose(
      candidates.filter((victim) => until(victim) <= now),
      whole,
    );
    if (choice !== undefined) return choice;
    const suffices = (victims: readonly Victim[]) => choose(victims, whole) !== undefined;
    waitForProtected(pass, row, { holders: candidates, until, suffices });
  }
  noteQuotaInVain(pass, budget, row, rights);
  return undefined;
}

/** Whether another queue of its cohort starts something in this pass. */
function startsBorrower(pass: Pass, row: WorkloadRow): boolean {
  if (pass.grants.length === 0) return false;
  return [...pass.budgets.values()].some(
    ({ started: [first] }) => first !== undefined && isBorrower(pass, row, first),
  );
}

/**
 * Who may be evicted, in the order in which it is tried, as far as quota tells. A queue does not lose own work, whatever its
 * priority, while others have borrowed enough of its quota. It may evict own work to be within its quota, and then
 * take the rest back. What is left is a matter of shares.
 */
function attemptsFor(
  pass: Pass,
  row: WorkloadRow,
  quota: QuotaRoom<QuotaHolder>,
  { sharing, reclaims, preempts }: Rights,
): readonly Attempt[] {
  const lower = preempts ? lowerThan(pass, row).map((holder) => asVictim(pass, holder, 'preempted')) : [];
  const choose = (open: readonly Victim[], whole: Room<Victim>) => lawfulVictims(quota, whole, open);
  const attempts: Attempt[] = [{ candidates: lower, room: quota, choose }];
  if (reclaims) {
    const borrowers = borrowersFor(pass, row, 'returned');
    const room = togetherIn<Victim>(quota, ownQuotaRoom(pass, row));
    const known = new Set(borrowers.map(({ uid }) => uid));
    const all = [...borrowers, ...lower.filter(({ uid }) => !known.has(uid))];
    attempts.unshift({ candidates: borrowers, room, choose });
    attempts.push({ candidates: all, room, choose });
  }
  if (sharing !== 'Never') attempts.push(...sharingAttempts(pass, row, quota, { sharing, lower }));
  return attempts.filter(suffices);
}

function borrowersFor(pass: Pass, row: WorkloadRow, leaves: Victim['leaves']): readonly Victim[] {
  return evictableFor(pass, row)
    .filter((holder) => isBorrower(pass, row, holder.row))
    .map((holder) => asVictim(pass, holder, leaves));
}

/** Workloads of the queues that have a larger share of the cohort, and of lower priority in its own queue. */
function sharingAttempts(
  pass: Pass,
  row: WorkloadRow,
  room: QuotaRoom<QuotaHolder>,
  { sharing, lower }: { readonly sharing: Sharing<Victim>['strategy']; readonly lower: readonly Victim[] },
): readonly Attempt[] {
  const own = lower.filter((victim) => victim.row.queue === row.queue);
  const others = borrowersFor(pass, row, 'shared').filter((victim) => helps(room, victim));
  const shares = sharesFor(pass, row, pass.input.now + TERMINATION_SECONDS);
  const strategies = FAIR_SHARING.slice(
    1,
    FAIR_SHARING.indexOf(sharing) + 1,
  ) as Sharing<Victim>['strategy'][];
  return strategies.map((strategy) => ({
    candidates: [...own, ...others],
    room,
    choose: (open, whole) =>
      sharingVictims<Victim>({
        shares,
        strategy,
        room: whole,
        own: open.filter((victim) => victim.row.queue === row.queue),
        others: open.filter((victim) => victim.row.queue !== row.queue),
      }),
  }));
}

function helps<C>(room: Room<C>, victim: C): boolean {
  const before = room.missing;
  room.release(victim);
  const { missing } = room;
  room.take(victim);
  return missing < before;
}

function asVictim({ quotas }: Pass, holder: Holder, leaves: Victim['leaves']): Victim {
  const holds = quotas.chargedBy(holder.row, holder.allocation);
  return { ...holder, holds, leaves, isBorrower: leaves !== 'preempted' };
}

/** Whether the candidates together make enough room. */
function suffices({ candidates, room }: Attempt): boolean {
  for (const candidate of candidates) room.release(candidate);
  const { missing } = room;
  for (const candidate of candidates) room.take(candidate);
  return missing === 0;
}

/**
 * Of a queue that has returned what it borrowed, nothing more is evicted for nodes either: it would have a right to take that
 * back.
 */
function lawfulVictims(
  quota: QuotaRoom<QuotaHolder>,
  room: Room<Victim>,
  open: readonly Victim[],
): Choice | undefined {
  const best = victims(room, open);
  const chosen =
    best === undefined || quota.isLawful(best)
      ? best
      : victims(room, quota.lawfulOf<Victim>(open.toSorted(cheapestFirst)));
  return chosen && { victims: chosen };
}

/** Whether the other is in another queue of its cohort. */
function isBorrower({ budgets }: Pass, { queue }: WorkloadRow, other: WorkloadRow): boolean {
  const cohort = budgets.get(queue)?.settings.cohort;
  return other.queue !== queue && budgets.get(other.queue)?.settings.cohort === cohort;
}

/** @returns whether the row can start with what they return */
async function evictAll(
  pass: Pass,
  { row, reservation, notBefore = pass.input.now }: Candidate,
  { victims: chosen, allows }: Choice,
  planned: readonly Reservation[],
): Promise<boolean> {
  const { reservations } = pass;
  const { matcher, now } = pass.input;
  const plan = {
    messageFor: (victim: Victim) => messageFor(pass, victim, row),
    match: () => planBeside(pass, row, notBefore, allows),
    otherwise: reservation?.allocation.start ?? Infinity,
    notBefore,
  };
  // It would be in its own way.
  if (reservation !== undefined) await liftReservation(pass, reservation);
  let answer = await evictFor(pass, row, chosen, plan);
  for (const other of planned) await liftReservation(pass, other);
  if (planned.length > 0) answer ??= await evictFor(pass, row, chosen, plan);
  // Else they are planned again behind the owner.
  if (answer === undefined)
    for (const other of planned) await putBack(pass, other, reservations.rowOf(other));
  await matcher.cancel(row.jobid);
  if (answer !== undefined && chosen.some((victim) => victim.isBorrower)) pass.claims.add(row.uid);
  if (reservation !== undefined) {
    if (answer === undefined) await matcher.replay([reservation.allocation], now);
    holdUncharged(pass, row, reservation);
  }
  return answer !== undefined;
}

/** What the user of the victim reads. */
function messageFor({ budgets }: Pass, { row: victim, leaves }: Victim, row: WorkloadRow): string {
  const name = shownName(victim, row);
  if (leaves === 'returned')
    return `returns quota that it borrowed from ${shownQueue(victim, row.queue)} to ${name}`;
  if (leaves === 'preempted') return preemptedBy(victim, row);
  return `preempted by ${name}, whose queue has a smaller share of cohort ${budgets.get(row.queue)!.settings.cohort}`;
}

/** Nodes that are free only until the quota is would not do. */
async function planBeside(
  pass: Pass,
  row: WorkloadRow,
  from: number,
  allows: Choice['allows'],
): Promise<MatchResult> {
  const { matcher, now } = pass.input;
  await matcher.cancel(row.jobid);
  const allocation = await planWithinQuota(pass, row, { from });
  if (allocation === undefined) return { status: 'BUSY', text: '' };
  const least = pass.quotas.leastOf(row);
  // Whole nodes may be more than the share of its queue allows.
  const more = pass.quotas.chargedBy(row, allocation).map((amount, i) => amount - least[i]!);
  if (allows?.(more) === false) {
    await matcher.cancel(row.jobid);
    return { status: 'BUSY', text: '' };
  }
  return { status: 'OK', allocation, reserved: allocation.start > now };
}
