/**
 * Promises that count on the nodes or the quota of a workload which ends somewhat later than it should have when they were made: its
 * first container started late, or its pods take some seconds to end at its walltime. They are moved to the end that is planned now
 * before anybody else is reached. Planned anew in their turn, they would come behind all that was promised before; and where they count on
 * quota, they and that workload would both be charged for these seconds, so that nothing that runs meanwhile could start. Behind a longer
 * delay others may come first, and the plan is made again.
 */
import type { WorkloadRow } from '../../queue/workload';
import { countsOn, type Delay, LEAST_GAIN_SECONDS, TERMINATION_SECONDS } from './planned-end';
import { planWithinQuota } from './quota-plan';
import { keepUnreached, liftReservation } from './reservation-updates';
import type { Reservation } from './reservations';
import { budgetOf, isOwed, type Pass } from './state';

/** Each costs a look at all nodes. Those behind them stay where they are. */
const MOST_MOVED = 32;

interface Moved {
  readonly row: WorkloadRow;
  readonly reservation: Reservation;
  /** When it should be able to start. */
  readonly latest: number;
}

/** @param ordered all rows that may start, in order */
export async function movePromises(pass: Pass, ordered: readonly WorkloadRow[]): Promise<void> {
  const delays = delaysOf(pass);
  if (delays.length === 0) return;
  const moved = countingOn(pass, ordered, delays);
  for (const { row, reservation } of moved)
    if (pass.reservations.of(row.uid) !== undefined) await liftReservation(pass, reservation);
  // In a fcfs queue nobody may come before those that come before him.
  const heads = new Map<string, number>();
  for (const one of moved) {
    const { queue } = one.row;
    const from = Math.max(one.reservation.allocation.start, heads.get(queue) ?? 0, pass.input.now);
    const start = await move(pass, one, from);
    if (start !== undefined && budgetOf(pass, one.row).isStrict) heads.set(queue, start);
  }
}

/** Also those that count on the end of one of them, in the order of their starts. */
function countingOn(pass: Pass, ordered: readonly WorkloadRow[], delays: readonly Delay[]): readonly Moved[] {
  const promises = ordered.flatMap((row) => {
    const reservation = pass.reservations.of(row.uid) ?? lostOf(pass, row);
    return reservation === undefined ? [] : [{ row, reservation }];
  });
  promises.sort((a, b) => a.reservation.allocation.start - b.reservation.allocation.start);
  const all: (Delay & { readonly yields?: boolean })[] = [...delays];
  const found: Moved[] = [];
  for (const { row, reservation } of promises) {
    if (found.length === MOST_MOVED) break;
    const { start, end } = reservation.allocation;
    const yields = !isOwed(pass, reservation);
    // Others leave for it: it waits some seconds for those planned before it, but for no prediction.
    const mayDelay = (delay: (typeof all)[number]) =>
      yields || delay.yields !== true || delay.end <= delay.before + LEAST_GAIN_SECONDS;
    const counted = all.filter((delay) => countsOn(start, delay) && mayDelay(delay));
    if (counted.length === 0) continue;
    const latest = Math.max(...counted.map((delay) => delay.end));
    all.push({ before: end, end: end + latest - start, yields });
    found.push({ row, reservation, latest });
  }
  return found;
}

/** One that Fluxion had to give up, because that workload holds nodes on which it was to start. */
function lostOf(pass: Pass, row: WorkloadRow): Reservation | undefined {
  const lost = pass.broken.has(row.uid) ? pass.input.cache?.reserved.get(row.uid) : undefined;
  return lost?.jobid === row.jobid && budgetOf(pass, row).mayKeep(lost) ? lost : undefined;
}

/** @returns its new start; undefined: it is planned as if new */
async function move(
  pass: Pass,
  { row, reservation, latest }: Moved,
  from: number,
): Promise<number | undefined> {
  const { allocation } = reservation;
  const at = (start: number) =>
    planWithinQuota(pass, row, { from: start, before: start + 1, promised: allocation });
  const found = (await at(from)) ?? (latest > from ? await at(latest) : undefined);
  if (found === undefined) {
    pass.broken.set(row.uid, allocation.start);
    return undefined;
  }
  pass.broken.delete(row.uid);
  keepUnreached(pass, row, { ...reservation, allocation: found });
  return found.start;
}

/** The times by which ends have moved to later since the last pass, by no more than the first prediction of an overrun. */
function delaysOf({ holders, input }: Pass): readonly Delay[] {
  const known = input.cache?.ends;
  if (known === undefined) return [];
  return holders.flatMap(({ jobid, allocation }) => {
    const [before, { end }] = [known.get(jobid), allocation!];
    const isLater = before !== undefined && before < end && end <= before + TERMINATION_SECONDS;
    return isLater ? [{ before, end }] : [];
  });
}
