/** What quota allows of a start that nodes allow: only an allocation tells what whole nodes come to, and how many different nodes it takes. */
import type { MatchResult } from '../../fluxion/types';
import type { Allocation } from '../../resources/types';
import { holdAgain, type PlanBounds, planWithinQuota } from './quota-plan';
import type { Refusal } from './quota-shortage';
import { dropReservation } from './reservation-updates';
import type { Reservation } from './reservations';
import { isOwed, type Pass } from './state';
import { type Applicant, type Candidate, mayReserve, ofLowerPriority, plannedBehind } from './strategies';

export function isDue({ input }: Pass, { allocation }: Reservation): boolean {
  return allocation.start <= input.now;
}

export function boundsOf(pass: Pass, reservation: Reservation | undefined): Omit<PlanBounds, 'from'> {
  if (reservation === undefined) return {};
  const { allocation } = reservation;
  return { promised: allocation, ...(isDue(pass, reservation) ? {} : { before: allocation.start }) };
}

/** Reservations that yield keep it neither from nodes nor from quota. */
export async function planYielding(
  pass: Pass,
  applicant: Applicant,
  bounds: PlanBounds,
): Promise<Allocation | undefined> {
  const { row, budget } = applicant;
  budget.plansLeft -= 1;
  const found = await planWithinQuota(pass, row, bounds);
  const others = yieldingPlans(pass, applicant, bounds, found?.start ?? Infinity);
  if (others.length === 0) return found;
  if (found !== undefined) await pass.input.matcher.cancel(row.jobid);
  for (const other of others) await dropReservation(pass, other);
  return planWithinQuota(pass, row, bounds);
}

/** All behind it, if the start that was promised to it is lost: their plan is void, the order is not. */
function yieldingPlans(
  pass: Pass,
  { row, reservation }: Applicant,
  { from, before = Infinity }: PlanBounds,
  start: number,
): readonly Reservation[] {
  const promised = reservation?.allocation.start ?? pass.broken.get(row.uid) ?? Infinity;
  const mayWait = before === Infinity;
  if (mayWait && start > Math.max(promised, pass.input.now)) return plannedBehind(pass);
  const isBest = reservation !== undefined || start <= from;
  return isBest ? [] : ofLowerPriority(pass, row).filter((other) => !isOwed(pass, other));
}

export interface WithinQuota {
  readonly answer: MatchResult;
  /** What quota or limit refused Fluxion's answer. */
  readonly shortage?: Refusal;
}

/** Fluxion's answer, or what quota allows instead. */
export async function withinQuota(
  pass: Pass,
  candidate: Candidate,
  answer: MatchResult,
): Promise<WithinQuota> {
  const { row, reservation, budget } = candidate;
  if (answer.status !== 'OK') return { answer };
  const { now } = pass.input;
  const shortage = pass.quotas.refuses(row, answer.allocation);
  if (shortage === undefined) return { answer };
  await pass.input.matcher.cancel(row.jobid);
  const bounds = {
    from: answer.allocation.start,
    before: candidate.mayReserve || mayReserve(pass, budget, row, shortage) ? Infinity : now + 1,
    ...boundsOf(pass, reservation),
  };
  const found = budget.plansLeft > 0 ? await planYielding(pass, candidate, bounds) : undefined;
  if (found !== undefined) return { answer: granted(found, now), shortage };
  if (
    reservation !== undefined &&
    !isDue(pass, reservation) &&
    (await holdAgain(pass, reservation.allocation))
  )
    return { answer: granted(reservation.allocation, now), shortage: refusalOf(reservation) ?? shortage };
  return { answer: { status: 'BUSY', text: shortage.message }, shortage };
}

function refusalOf({ shortage, ofCohort = false }: Reservation): Refusal | undefined {
  return shortage === undefined ? undefined : { message: shortage, ofCohort };
}

function granted(allocation: Allocation, now: number): MatchResult {
  return { status: 'OK', allocation, reserved: allocation.start > now };
}
