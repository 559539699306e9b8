/** Equal workloads of a queue and user start in their order, also where others leave for one of them. */
import type { WorkloadRow } from '../../queue/workload';
import { putBack } from './claims';
import type { Holder } from './eviction';
import { terminationOf } from './planned-end';
import { liftReservation } from './reservation-updates';
import type { Reservation } from './reservations';
import { isOwed, type Pass } from './state';

/**
 * Where an earlier one waits for what ends soon, others leave for that one, and the row waits for what ends.
 * @param victims who would leave for the row
 * @param evict evicts them for another row, if that starts then
 * @returns whether they leave; then the pass begins again
 */
export async function evictForEqual(
  pass: Pass,
  row: WorkloadRow,
  victims: readonly Holder[],
  evict: (first: WorkloadRow) => Promise<boolean>,
): Promise<boolean> {
  // However short their grace periods are.
  const gone = Math.max(...victims.map((victim) => pass.input.now + terminationOf(victim.row)));
  const reservation = equalBefore(pass, row, gone);
  if (reservation === undefined) return false;
  const first = pass.reservations.rowOf(reservation);
  await liftReservation(pass, reservation);
  pass.restart = await evict(first);
  if (pass.restart) return true;
  await putBack(pass, reservation, first);
  pass.reservations.reach(first);
  return false;
}

/** The reservation of an equal one that was submitted earlier, and would start after that time. */
function equalBefore(pass: Pass, row: WorkloadRow, time: number): Reservation | undefined {
  const { queue, user, shape, walltime, seq } = row;
  return [...pass.reservations.ofQueue(queue)].find((one) => {
    const other = pass.reservations.rowOf(one);
    const isEqual = other.user === user && other.shape === shape && other.walltime === walltime;
    return isEqual && other.seq < seq && one.allocation.start > time && !isOwed(pass, one);
  });
}
