import type { WorkloadRow } from '../../queue/workload';
import { isForeseeable } from '../../resources/endless';
import { giveUpPlans, mayTakeFromPlans, takeFromPlans } from './borrowed-plans';
import { isClaimOf, takePlaces } from './claims';
import { isEntitled } from './entitlement';
import { evicted } from './eviction';
import { closeBehind } from './fcfs-head';
import { waitsBehindEndless } from './known-refusals';
import type { QueueBudget } from './queue-budget';
import { evictForQuota } from './quota-evictions';
import { holdAgain } from './quota-plan';
import type { QuotaShortage } from './quota-shortage';
import {
  addReservation,
  claimQuota,
  dropReservation,
  liftReservation,
  markMoved,
  markReserved,
} from './reservation-updates';
import { hasPassed, type Reservation } from './reservations';
import { servicesText } from './services-in-quota';
import { passOver } from './shared-reservations';
import { cacheFor, isOwed, type Pass } from './state';
import { type Applicant, becomeHead, firstOwed, mayEvict, mayReserve, ofLowerPriority } from './strategies';
import { boundsOf, isDue, planYielding } from './within-quota';

/** Why quota or a limit keeps the row from starting now. What its reservation holds does not count. */
export function shortageOf({ quotas }: Pass, row: WorkloadRow): QuotaShortage | undefined {
  quotas.free(row);
  return quotas.shortageOf(row);
}

/**
 * Behind a full quota ten thousand may wait for which nothing can be done: nobody yields to them, and they may not reserve.
 * @returns whether the row is one of them; then it is told why it waits
 */
export function waitsInLine(pass: Pass, applicant: Applicant, shortage: QuotaShortage): boolean {
  const { row, budget, reservation } = applicant;
  const { reservations, input, cluster, waits } = pass;
  if (reservation !== undefined || budget.isStrict || (shortage.lent && budget.settings.reclaim))
    return false;
  if (!shortage.never) {
    if (reservations.hasUnreached) return false;
    if (input.nodes !== undefined && !cluster.fits(row.jobspec)) return false;
    if (mayReserveOrEvict(pass, applicant, shortage)) return false;
    if (!shortage.ofUser) passOver(pass, row, shortage);
  }
  waits.markQuota(row, shortage.message);
  return true;
}

/** Another queue of its line may have the reservation that it would have, but the next of each queue may evict. */
function mayReserveOrEvict(pass: Pass, applicant: Applicant, shortage: QuotaShortage): boolean {
  if (mayReserveFor(pass, applicant, shortage)) return true;
  const { preempts, fairSharing } = applicant.budget.settings;
  return (preempts || fairSharing !== 'Never') && mayReserveFor(pass, applicant, shortage, mayEvict);
}

/**
 * @param first of the row; undefined: it may start
 * @returns whether the row waits for quota or a limit: then nothing more is to be done for it
 */
export async function waitsForQuota(
  pass: Pass,
  applicant: Applicant,
  first: QuotaShortage | undefined,
): Promise<boolean> {
  const { row, reservation } = applicant;
  const { quotas, input, cluster } = pass;
  let shortage = first;
  const rivals = shortage?.never === false ? yieldingRivals(pass, applicant) : [];
  if (await takeFrom(pass, applicant, rivals)) shortage = quotas.shortageOf(row);
  if (shortage === undefined) return false;
  if (shortage.never) {
    await waitWithout(pass, applicant, shortage, Infinity);
    return true;
  }
  // Quota becomes free; nodes that do not exist never do.
  if (input.nodes !== undefined && !cluster.fits(row.jobspec)) return false;
  const candidate = {
    ...applicant,
    isNext: mayReserveFor(pass, applicant, shortage, mayEvict),
    mayReserve: mayReserveFor(pass, applicant, shortage),
    otherwise: firstOwed(pass, rivals),
  };
  if (shortage.lent && mayTakeFromPlans(pass, row) && (await takeFromPlans(pass, row, reservation)))
    return false;
  if (await evictForQuota(pass, candidate, shortage)) return waitsForVictims(pass, applicant, shortage);
  if (await takesPlaces(pass, applicant, rivals)) shortage = quotas.shortageOf(row);
  if (shortage === undefined) return false;
  if (candidate.mayReserve && (await giveUpPlans(pass, row)) && quotas.shortageOf(row) === undefined)
    return false;
  await waitForOthers(pass, applicant, shortage);
  return true;
}

/** It starts when they are gone, wherever it was planned before. @returns whether it waits until then */
async function waitsForVictims(pass: Pass, applicant: Applicant, shortage: QuotaShortage): Promise<boolean> {
  const { row, reservation } = applicant;
  if (reservation !== undefined) await dropReservation(pass, reservation);
  // The shortage was that of a later time, and the quota is free until those that leave are gone.
  if (pass.quotas.shortageOf(row) === undefined) return false;
  await waitOrReserve(pass, { ...applicant, reservation: undefined }, shortage);
  return true;
}

/** Whether the row takes the place of those for which others leave, because nobody would leave for it sooner. */
async function takesPlaces(
  pass: Pass,
  { row, reservation }: Applicant,
  rivals: readonly Reservation[],
): Promise<boolean> {
  if (reservation !== undefined || pass.restart) return false;
  return takePlaces(
    pass,
    row,
    rivals.filter((other) => pass.reservations.of(other.uid) === other),
  );
}

/** Nobody has to leave for it: what has no end does not. */
async function waitForOthers(pass: Pass, applicant: Applicant, shortage: QuotaShortage): Promise<void> {
  if (applicant.reservation !== undefined || !waitsBehindEndless(pass, applicant.row))
    await waitOrReserve(pass, applicant, shortage);
}

async function waitOrReserve(pass: Pass, applicant: Applicant, shortage: QuotaShortage): Promise<void> {
  const { row, budget, reservation } = applicant;
  // Others leave for an earlier one, and the pass begins again.
  if (pass.restart && reservation === undefined) return pass.waits.markQuota(row, shortage.message);
  const mayHave = mayReserveFor(pass, applicant, shortage);
  const returned = returnedAt(pass, applicant, shortage);
  // To find the time for each of ten thousand workloads that may not reserve would take seconds.
  const isPlanned = mayHave || returned !== undefined || budget.isStrict;
  const from = isPlanned ? pass.quotas.freeFrom(row) : Infinity;
  const isReturned = returned !== undefined && (from <= returned || pass.beneficiaries.has(row.uid));
  const isClaim = reservation?.isClaim === true || isReturned || isClaimOf(pass, row);
  if (reservation !== undefined && !isDue(pass, reservation) && from >= reservation.allocation.start) {
    claimQuota(pass, row, reservation.allocation);
    keepReservation(pass, budget, row, reservation);
    return;
  }
  const isKnown = isForeseeable(from, pass.input.now);
  if ((mayHave || isClaim) && isKnown) return reserveFor(pass, { ...applicant, isClaim }, shortage, from);
  // Another queue of its line has the reservation that it would have, and it stays the next of its own.
  if (!mayHave && !shortage.ofUser) passOver(pass, row, shortage);
  await waitWithout(pass, applicant, isPlanned ? besideServices(pass, row, shortage, from) : shortage, from);
}

/** Where services keep quota from being free at any known time, the row is told which. */
function besideServices(pass: Pass, row: WorkloadRow, shortage: QuotaShortage, from: number): QuotaShortage {
  if (isForeseeable(from, pass.input.now)) return shortage;
  return { ...shortage, message: `${shortage.message}${servicesText(pass, row)}` };
}

/**
 * When the last workload that has to leave should be gone, if the row has a right to the quota that it lacks: what others
 * return for it is reserved for it, whatever number of reservations its queue may have.
 */
function returnedAt(pass: Pass, { row, budget }: Applicant, { lent }: QuotaShortage): number | undefined {
  if (!lent || !budget.settings.reclaim) return undefined;
  const ends = evicted(pass)
    .filter((other) => pass.quotas.areRivals(row, other.row))
    .map(({ end }) => end);
  const last = Math.max(...ends);
  return ends.length > 0 && isEntitled(pass, row, last) ? last : undefined;
}

/** The row waits for its reservation. */
export function keepReservation(
  pass: Pass,
  budget: QueueBudget,
  row: WorkloadRow,
  reservation: Reservation,
): void {
  markReserved(pass, row, reservation);
  // Who waits for the limit of its own user does not keep other users from starting.
  if (!pass.quotas.isAtUserLimit(row)) closeBehind(pass, row, budget);
}

async function waitWithout(
  pass: Pass,
  { row, budget, reservation }: Applicant,
  { message, ofUser }: QuotaShortage,
  from: number,
): Promise<void> {
  if (reservation !== undefined) await dropReservation(pass, reservation);
  pass.waits.markQuota(row, message);
  // Services hold the quota, and nobody knows until when: that blocks nothing.
  if (!budget.isStrict || !isForeseeable(from, pass.input.now)) return;
  if (ofUser) budget.limitedUsers.set(row.user, message);
  else budget.closed = true;
}

/** Reserves the first start from that time on, or keeps the reservation that it has. */
async function reserveFor(
  pass: Pass,
  applicant: Applicant & { readonly isClaim: boolean },
  shortage: QuotaShortage,
  from: number,
): Promise<void> {
  const { row, budget, reservation, isClaim } = applicant;
  const { ofUser, ofCohort, message } = shortage;
  if (reservation === undefined && isOutOfReach(pass, row))
    return waitWithout(pass, applicant, shortage, from);
  if (!takesPlan(pass, budget)) return keepOrWait(pass, applicant, shortage);
  if (reservation !== undefined) await liftReservation(pass, reservation);
  if (!ofUser) await becomeHead(pass, row, budget, reservation);
  const allocation = await planYielding(pass, applicant, { from, ...boundsOf(pass, reservation) });
  if (allocation === undefined) {
    const isKept = reservation !== undefined && (await restore(pass, row, reservation));
    if (isKept) return keepReservation(pass, budget, row, reservation);
    return waitWithout(pass, { row, budget, reservation: undefined }, shortage, from);
  }
  if (reservation !== undefined) markMoved(pass);
  addReservation(pass, row, {
    uid: row.uid,
    jobid: row.jobid,
    allocation,
    shortage: message,
    ofUser: budget.isOfUser(reservation, ofUser),
    ofCohort,
    ...(isClaim && { isClaim }),
  });
  pass.forecast?.add(allocation);
  if (!ofUser) closeBehind(pass, row, budget);
}

/** @returns whether the pass may still plan for this queue */
function takesPlan(pass: Pass, budget: QueueBudget): boolean {
  if (pass.input.interrupted?.() === true) pass.interrupted = true;
  else if (budget.matchesLeft === 0) budget.markExhausted();
  else if (budget.plansLeft > 0) {
    budget.matchesLeft -= 1;
    return true;
  }
  return false;
}

/** The pass has no time for a plan. */
async function keepOrWait(
  pass: Pass,
  { row, budget, reservation }: Applicant,
  { message }: QuotaShortage,
): Promise<void> {
  if (reservation === undefined) return pass.waits.markQuota(row, message);
  claimQuota(pass, row, reservation.allocation);
  keepReservation(pass, budget, row, reservation);
}

/** Puts a reservation back whose row found nothing better. */
export async function restore(pass: Pass, row: WorkloadRow, reservation: Reservation): Promise<boolean> {
  if (isDue(pass, reservation) || !(await holdAgain(pass, reservation.allocation))) return false;
  addReservation(pass, row, reservation);
  pass.forecast?.add(reservation.allocation);
  return true;
}

/** What nodes alone keep from being planned. */
function isOutOfReach(pass: Pass, { jobspec, ...row }: WorkloadRow): boolean {
  const { never, down, unplannable, endless } = cacheFor(pass, { ...row, jobspec });
  return [never, down, unplannable, endless].some((refusals) => refusals.covers(jobspec));
}

export function mayReserveFor(
  pass: Pass,
  { row, budget, reservation }: Applicant,
  shortage: QuotaShortage,
  may: typeof mayReserve = mayReserve,
): boolean {
  if (reservation !== undefined) return true;
  if (!shortage.ofUser) return may(pass, budget, row, shortage);
  return (
    budget.userReservationsLeft > 0 ||
    ofLowerPriority(pass, row).some(
      (other) => other.ofUser && pass.reservations.rowOf(other).queue === row.queue,
    )
  );
}

/**
 * Reservations of rivals that yield: of lower priority, behind it in a fcfs queue, or all that come later if its promised
 * start is lost.
 */
function yieldingRivals(pass: Pass, { row, budget, reservation }: Applicant): readonly Reservation[] {
  const { quotas, reservations, broken } = pass;
  const isLost = reservation === undefined ? broken.has(row.uid) : isDue(pass, reservation);
  const lower = new Set(reservation === undefined ? ofLowerPriority(pass, row) : []);
  if (!isLost && lower.size === 0 && !budget.isStrict) return [];
  return reservations.unreached().filter((other) => {
    const rival = reservations.rowOf(other);
    if (!quotas.areRivals(row, rival)) return false;
    const isBehindHead = budget.isStrict && rival.queue === row.queue && !hasPassed(other, row);
    return (isLost && !isOwed(pass, other)) || lower.has(other) || isBehindHead;
  });
}

/** @returns whether rivals were dropped for which nobody leaves, because the row has room earlier without them */
async function takeFrom(pass: Pass, { row }: Applicant, rivals: readonly Reservation[]): Promise<boolean> {
  const { quotas, reservations } = pass;
  const others = rivals.filter((other) => !isOwed(pass, other));
  if (others.length === 0) return false;
  const before = quotas.freeFrom(row);
  for (const other of others) quotas.free(reservations.rowOf(other));
  const isEarlier = quotas.freeFrom(row) < before;
  for (const other of others) {
    claimQuota(pass, reservations.rowOf(other), other.allocation);
    if (isEarlier) await dropReservation(pass, other);
  }
  return isEarlier;
}
