/**
 * What is owed to a workload for which others have to leave (a beneficiary). It is promised the second at which they should
 * be gone. Where they leave later, its place moves with them, and nobody else may take it.
 */
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import { askedShape } from './avoidance';
import { isEntitled } from './entitlement';
import { evicted } from './eviction';
import type { Span } from './placed-pods';
import { planWithinQuota } from './quota-plan';
import { dropReservation, keepUnreached, liftReservation, markFreed, markMoved } from './reservation-updates';
import type { Reservation } from './reservations';
import { budgetOf, isOwed, type Pass } from './state';

/**
 * Reserves again for those whose promised start is lost, or has come. They are planned as if new when the pass reaches them. What was
 * planned behind them gives way; those of them for which others leave are planned next, before anybody else takes their place.
 */
export async function holdPlaces(pass: Pass, ordered: readonly WorkloadRow[]): Promise<void> {
  if (pass.beneficiaries.size === 0) return;
  for (const row of byPromise(pass, ordered)) {
    const due = pass.reservations.of(row.uid);
    if (due === undefined ? !pass.broken.has(row.uid) : due.allocation.start > pass.input.now) continue;
    if (due !== undefined) {
      pass.broken.set(due.uid, due.allocation.start);
      await liftReservation(pass, due);
      // What ends before its place of now may use the old one.
      markFreed(pass);
    }
    const allocation = await planFirst(pass, row);
    if (allocation === undefined) continue;
    const { uid, jobid } = row;
    const reservation = { uid, jobid, allocation, ...(pass.claims.has(uid) && { isClaim: true }) };
    keepUnreached(pass, row, reservation);
    pass.heldPlaces.add(row.uid);
  }
}

/** Whoever was planned behind another one comes after it, whatever its priority. */
function byPromise(pass: Pass, ordered: readonly WorkloadRow[]): readonly WorkloadRow[] {
  const { beneficiaries, reservations, broken } = pass;
  const promised = ({ uid }: WorkloadRow) =>
    reservations.of(uid)?.allocation.start ?? broken.get(uid) ?? Infinity;
  const starts = new Map(
    ordered.filter(({ uid }) => beneficiaries.has(uid)).map((row) => [row, promised(row)]),
  );
  return [...starts.keys()].sort((a, b) => starts.get(a)! - starts.get(b)! || 0);
}

async function planFirst(pass: Pass, row: WorkloadRow): Promise<Allocation | undefined> {
  const bounds = { from: pass.input.now };
  const found = await planWithinQuota(pass, row, bounds);
  const gone = Math.max(...evicted(pass).map(({ end }) => end));
  const start = found?.start ?? Infinity;
  const inTheWay = start <= gone ? [] : inTheWayOf(pass, row, { start: gone, end: gone + row.walltime });
  if (inTheWay.length === 0) return found;
  if (found !== undefined) await pass.input.matcher.cancel(row.jobid);
  for (const other of inTheWay) {
    pass.broken.set(other.uid, other.allocation.start);
    await dropReservation(pass, other);
  }
  return planWithinQuota(pass, row, bounds);
}

/** Reservations in this time for which nobody has to leave, or that were planned behind the row. */
function inTheWayOf(pass: Pass, row: WorkloadRow, { start, end }: Span): readonly Reservation[] {
  const promisedEnd = pass.broken.get(row.uid)! + row.walltime;
  return pass.reservations.all().filter((other) => {
    const { allocation } = other;
    const yields = !isOwed(pass, other) || allocation.start >= promisedEnd;
    return yields && allocation.start < end && allocation.end > start;
  });
}

/** Whether the reservation of a beneficiary is a claim: it was one before, or its queue may have no other reservation. */
export function isClaimOf(pass: Pass, row: WorkloadRow): boolean {
  const { beneficiaries, claims } = pass;
  return beneficiaries.has(row.uid) && (claims.has(row.uid) || budgetOf(pass, row).reservationsLeft <= 0);
}

/**
 * Gives a row the places of others, which come after it in their own queue, if it then starts no later than they would have:
 * else those that leave for them would leave in vain.
 * @returns whether the places were given up
 */
export async function takePlaces(
  pass: Pass,
  row: WorkloadRow,
  others: readonly Reservation[],
): Promise<boolean> {
  const budget = budgetOf(pass, row);
  const owed = others.filter((other) => isOwed(pass, other));
  if (owed.length === 0 || budget.plansLeft === 0) return false;
  budget.plansLeft -= 1;
  const { matcher, now } = pass.input;
  const owners = new Map(owed.map((other) => [other, pass.reservations.rowOf(other)]));
  await matcher.cancel(row.jobid);
  for (const other of owed) await liftReservation(pass, other);
  const found = mayTake(pass, row, owed) ? await planWithinQuota(pass, row, { from: now }) : undefined;
  if (found !== undefined) await matcher.cancel(row.jobid);
  if (found !== undefined && owed.every(({ allocation }) => found.start <= allocation.start)) {
    inherit(pass, row, owed);
    markMoved(pass);
    return true;
  }
  for (const [other, owner] of owners) await putBack(pass, other, owner);
  return false;
}

/** What others leave for is owed to who takes the place: else a higher priority of another queue would take it from that one. */
function inherit({ beneficiaries, claims }: Pass, row: WorkloadRow, owed: readonly Reservation[]): void {
  const { uid } = row;
  const victims = new Set(beneficiaries.get(uid)?.victims);
  for (const other of owed) {
    for (const victim of beneficiaries.get(other.uid)?.victims ?? []) victims.add(victim);
    beneficiaries.delete(other.uid);
    if (other.isClaim === true) claims.add(uid);
  }
  if (victims.size > 0) beneficiaries.set(uid, { victims, shape: askedShape(row) });
}

/** What was returned to a queue is its own quota: not for a workload of it that borrows. */
function mayTake(pass: Pass, row: WorkloadRow, owed: readonly Reservation[]): boolean {
  const returned = owed.filter(({ isClaim }) => isClaim === true);
  if (returned.length === 0 || !pass.quotas.isReclaiming(row.queue)) return true;
  return isEntitled(pass, row, Math.max(...returned.map(({ allocation }) => allocation.start)));
}

/** Undoes `liftReservation` for a row that the pass has not reached. */
export async function putBack(pass: Pass, reservation: Reservation, row: WorkloadRow): Promise<void> {
  const { matcher, now } = pass.input;
  await matcher.replay([reservation.allocation], now);
  keepUnreached(pass, row, reservation);
}
