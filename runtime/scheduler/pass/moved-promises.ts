/**
 * Promises that count on the nodes or the quota of a workload which ends some seconds later than it should have when they were made: its
 * first container started late. They are moved to that end before anybody else is reached. Planned anew in their turn, they would come
 * behind all that was promised before; and where they count on quota, they and that workload would both be charged for these seconds, so
 * that nothing that runs meanwhile could start. Behind a longer delay others may come first, and the plan is made again.
 */
import type { WorkloadRow } from '../../queue/workload';
import { LEAST_GAIN_SECONDS } from './planned-end';
import { planWithinQuota } from './quota-plan';
import { chargeReservation, liftReservation } from './reservation-updates';
import type { Reservation } from './reservations';
import { budgetOf, type Pass } from './state';

interface Span {
  readonly before: number;
  readonly end: number;
}

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
  const spans = laterEnds(pass);
  if (spans.length === 0) return;
  const moved = countingOn(pass, ordered, spans);
  for (const { row, reservation } of moved)
    if (pass.reservations.of(row.uid) !== undefined) await liftReservation(pass, reservation);
  // In a fcfs queue nobody may come before those that come before him.
  const heads = new Map<string, number>();
  for (const one of moved) {
    const { queue } = one.row;
    const from = Math.max(one.reservation.allocation.start, heads.get(queue) ?? 0);
    const start = await move(pass, one, from);
    if (start !== undefined && budgetOf(pass, one.row).isStrict) heads.set(queue, start);
  }
}

/** Also those that count on the end of one of them, in the order of their starts. */
function countingOn(pass: Pass, ordered: readonly WorkloadRow[], spans: readonly Span[]): readonly Moved[] {
  const promises = ordered.flatMap((row) => {
    const reservation = pass.reservations.of(row.uid) ?? lostOf(pass, row);
    return reservation === undefined ? [] : [{ row, reservation }];
  });
  promises.sort((a, b) => a.reservation.allocation.start - b.reservation.allocation.start);
  const all = [...spans];
  const found: Moved[] = [];
  for (const { row, reservation } of promises) {
    if (found.length === MOST_MOVED) break;
    const { start, end } = reservation.allocation;
    const latest = Math.max(...all.filter(({ before }) => before <= start).map((span) => span.end));
    if (latest <= start) continue;
    all.push({ before: end, end: end + latest - start });
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
  const bounds = { from, before: Math.max(latest, from) + 1, promised: allocation };
  const found = await planWithinQuota(pass, row, bounds);
  if (found === undefined) {
    pass.broken.set(row.uid, allocation.start);
    return undefined;
  }
  pass.broken.delete(row.uid);
  const moved = { ...reservation, allocation: found };
  pass.reservations.keep(moved, row);
  chargeReservation(pass, row, moved);
  pass.forecast?.add(found);
  return found.start;
}

/** The times by which ends have moved to somewhat later since the last pass. */
function laterEnds({ holders, input }: Pass): readonly Span[] {
  const known = input.cache?.ends;
  if (known === undefined) return [];
  return holders.flatMap(({ jobid, allocation }) => {
    const [before, { end }] = [known.get(jobid), allocation!];
    const isLater = before !== undefined && before < end && end <= before + LEAST_GAIN_SECONDS;
    return isLater ? [{ before, end }] : [];
  });
}
