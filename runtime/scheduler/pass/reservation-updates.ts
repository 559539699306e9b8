/**
 * How a pass changes reservations. Every function here keeps Fluxion, the budget of the queue, the quotas and the
 * forecast equal to each other.
 */
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import { priorityOf } from './order';
import type { Reservation } from './reservations';
import { budgetOf, isOwed, type Pass } from './state';

/**
 * Keeps the reservations of the previous pass that are still valid and cancels the others. Where a queue may have fewer than
 * before, because its policy changed, the first in line keep theirs.
 * @param ordered all rows that may start, in order
 */
export async function keepReservations(
  pass: Pass,
  previous: readonly Reservation[],
  ordered: readonly WorkloadRow[],
): Promise<void> {
  const left = new Map(previous.map((reservation) => [reservation.jobid, reservation]));
  for (const row of left.size === 0 ? [] : ordered) {
    const reservation = left.get(row.jobid);
    if (reservation === undefined || !isValid(pass, row, reservation)) continue;
    // Settings that changed may leave no room for it at its time, which only later ones have to make.
    const isRefused = pass.hasNewSettings && pass.quotas.refuses(row, reservation.allocation) !== undefined;
    if (isRefused || !hasNodes(pass, reservation)) {
      // It is given another one.
      pass.broken.set(row.uid, reservation.allocation.start);
      continue;
    }
    left.delete(row.jobid);
    if (reservation.allocation.start <= pass.input.now) pass.quotas.kept.due.add(row.uid);
    keepUnreached(pass, row, reservation);
  }
  for (const { jobid } of left.values()) {
    await pass.input.matcher.cancel(jobid);
    markFreed(pass);
  }
}

/** The priority of a row within the range of its queue. */
export function priorityIn(pass: Pass, row: WorkloadRow): number {
  return priorityOf(row, budgetOf(pass, row).settings);
}

function isValid(pass: Pass, row: WorkloadRow, reservation: Reservation): boolean {
  if (!budgetOf(pass, row).mayKeep(reservation)) return false;
  // Its quota was lowered, or what others lend it: it would keep nodes and quota from those that can start.
  if (pass.quotas.neverText(row) !== undefined) return false;
  // Its user has raised its priority: planned as if new, it may get the place of one that is lower now.
  const { priority = Infinity } = reservation;
  return priorityIn(pass, row) <= priority || isOwed(pass, reservation);
}

/** Whether all of its nodes are up. */
function hasNodes({ cluster, input }: Pass, { allocation }: Reservation): boolean {
  if (input.nodes === undefined || input.graphGrew === false) return true;
  return allocation.nodes.every(({ name }) => cluster.isUp(name));
}

/** Records a reservation that Fluxion holds, and says that the row waits for it. */
export function addReservation(pass: Pass, row: WorkloadRow, reservation: Reservation): void {
  const { limitedUsers } = budgetOf(pass, row);
  const passed = limitedUsers.size > 0 && { passedUsers: new Set(limitedUsers.keys()) };
  pass.reservations.add({ ...reservation, ...passed, priority: priorityIn(pass, row) }, row);
  chargeReservation(pass, row, reservation);
  markReserved(pass, row, reservation);
}

/**
 * Says that the row waits for its reservation. A start that depends on an end which nobody can tell, directly or behind another
 * reservation, is not published.
 */
export function markReserved(pass: Pass, row: WorkloadRow, reservation: Reservation): void {
  const { waits, predicted, overruns, doubts, input } = pass;
  const { allocation, shortage } = reservation;
  const { start, end, nodes } = allocation;
  const isPredicted = predicted.has(start);
  if (isPredicted) predicted.add(end);
  const next = doubts.of(reservation);
  const doubt = next !== undefined && next.from <= input.now ? next : undefined;
  if (doubt !== undefined) doubts.follow(doubt, allocation);
  else if (next !== undefined) pass.wakeAt = Math.min(pass.wakeAt, next.from);
  const isKnown = !isPredicted && doubt === undefined;
  if (shortage !== undefined) waits.markQuota(row, shortage, isKnown ? start : null);
  else if (isKnown) waits.markReserved(row, start);
  else if (isPredicted || doubt!.isStarted)
    waits.markBehindOverrun(row, overrunOn(nodes, overruns) ?? doubt?.row);
  else waits.markBehindUnstarted(row, doubt!.row);
}

/** The longest overrun on one of these nodes. */
function overrunOn(nodes: Allocation['nodes'], overruns: readonly WorkloadRow[]): WorkloadRow | undefined {
  const names = new Set(nodes.map(({ name }) => name));
  return overruns.find(({ allocation }) => allocation!.nodes.some(({ name }) => names.has(name)));
}

/** Cancels a reservation for good: other workloads may take its units. */
export async function dropReservation(pass: Pass, reservation: Reservation): Promise<void> {
  await liftReservation(pass, reservation);
  markFreed(pass);
  // A reservation that was made behind this one may start now.
  markMoved(pass);
}

/** Cancels a reservation for as long as its own workload is asked for again. */
export async function liftReservation(pass: Pass, reservation: Reservation): Promise<void> {
  const { uid, jobid, allocation } = reservation;
  const row = pass.reservations.rowOf(reservation);
  await pass.input.matcher.cancel(jobid);
  pass.reservations.remove(uid);
  pass.quotas.free(row);
  pass.forecast?.remove(allocation);
  budgetOf(pass, row).countReservation(reservation, -1);
}

/** Records a reservation again that was lifted, without its quota: its row is being decided. */
export function holdUncharged(pass: Pass, row: WorkloadRow, reservation: Reservation): void {
  pass.reservations.add(reservation, row);
  budgetOf(pass, row).countReservation(reservation, 1);
  pass.forecast?.add(reservation.allocation);
}

/** Charges what the row holds from its start to its end to its quota. */
export function claimQuota(pass: Pass, row: WorkloadRow, allocation: Allocation): void {
  pass.quotas.hold(row, allocation.start, allocation.end, allocation);
}

/** Units became free: what was refused or planned before may do better now. */
export function markFreed(pass: Pass): void {
  pass.freed = true;
  pass.cache.busy.clear();
  pass.cache.unplannable.clear();
  pass.cache.endless.clear();
  pass.cache.vain.clear();
  for (const budget of pass.budgets.values()) budget.overQuota = undefined;
}

/** A reservation was given up for a start or another place: those that the pass has reached may do better too. */
export function markMoved(pass: Pass): void {
  pass.moved = true;
  markFreed(pass);
}

/** Records a reservation that Fluxion holds for a row that the pass has not reached. */
export function keepUnreached(pass: Pass, row: WorkloadRow, reservation: Reservation): void {
  pass.reservations.keep(reservation, row);
  chargeReservation(pass, row, reservation);
  pass.forecast?.add(reservation.allocation);
}

function chargeReservation(pass: Pass, row: WorkloadRow, reservation: Reservation): void {
  const budget = budgetOf(pass, row);
  budget.countReservation(reservation, 1);
  pass.lowestReserved = Math.min(pass.lowestReserved, priorityIn(pass, row));
  claimQuota(pass, row, reservation.allocation);
}
