/** Equal workloads of a queue and user start in their order, also where others leave for one of them. */
import type { WorkloadRow } from '../../queue/workload';
import { putBack } from './claims';
import type { Holder } from './eviction';
import { terminationOf } from './planned-end';
import { liftReservation } from './reservation-updates';
import type { Reservation } from './reservations';
import { isOwed, type Pass } from './state';

/** What the victims of a row may do for another one. */
export interface ForAnother {
  /** Whether they may leave for it. */
  readonly mayEvict: (first: WorkloadRow) => boolean;
  /** Evicts them for it, if it starts then. */
  readonly evict: (first: WorkloadRow) => Promise<boolean>;
}

/**
 * Where an earlier one waits for what ends soon, others leave for that one, and the row waits for what ends.
 * @param victims who would leave for the row
 * @returns whether they leave; then the pass begins again
 */
export async function evictForEqual(
  pass: Pass,
  row: WorkloadRow,
  victims: readonly Holder[],
  { mayEvict, evict }: ForAnother,
): Promise<boolean> {
  // However short their grace periods are.
  const gone = Math.max(...victims.map((victim) => pass.input.now + terminationOf(victim.row)));
  const reservation = equalBefore(pass, row, gone, mayEvict);
  if (reservation === undefined) return false;
  const first = pass.reservations.rowOf(reservation);
  await liftReservation(pass, reservation);
  if (!(await evict(first))) {
    await putBack(pass, reservation, first);
    pass.reservations.reach(first);
    return false;
  }
  pass.restart = true;
  return true;
}

/** The reservation of an equal one that was submitted earlier, and would start after that time. */
function equalBefore(
  pass: Pass,
  row: WorkloadRow,
  time: number,
  mayEvict: ForAnother['mayEvict'],
): Reservation | undefined {
  return [...pass.reservations.ofRequest(row)].find((one) => {
    const other = pass.reservations.rowOf(one);
    const isEarlier = other.user === row.user && other.seq < row.seq;
    return isEarlier && one.allocation.start > time && !isOwed(pass, one) && mayEvict(other);
  });
}
