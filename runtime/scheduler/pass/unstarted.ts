/**
 * Grants whose pods have not started when their walltime has passed since the grant: an image that does not come, a
 * ConfigMap that does not exist. Nobody is charged for them, so a stream of short ones, each planned to leave in a second,
 * would hold its nodes in front of an earlier workload for ever. What a reservation waits for leaves (workloads/grant-watch.ts), and
 * meanwhile nothing starts in front of the reservation that would be planned away by then only because its walltime is short.
 */
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import {
  countsOn,
  dueEnd,
  lastingLonger,
  plannedEndOf,
  startLimitOf,
  TERMINATION_SECONDS,
} from './planned-end';
import type { Reservation } from './reservations';

type Planned = Pick<Reservation, 'uid' | 'allocation'>;

/** Whether it holds its nodes without a start: beyond its walltime, or as one that leaves because it could not start. */
export function holdsInVain(row: WorkloadRow, now: number): boolean {
  if (row.allocation === null || row.startedAt !== null) return false;
  return row.evictionReason === null ? dueEnd(row) <= now : row.evictionCause !== 'preempted';
}

/** Those of these rows that hold nodes in vain for which one of the reservations waits. */
export function awaitedGrants(
  rows: readonly WorkloadRow[],
  reservations: readonly Planned[],
  now: number,
): readonly WorkloadRow[] {
  return rows.filter((row) => reservations.some((reservation) => waitsFor(reservation, row, now)));
}

/** Whether it starts when the row is planned to end, on one of its nodes. */
function waitsFor({ allocation }: Planned, row: WorkloadRow, now: number): boolean {
  return allocation.start === plannedEndOf(row, now) && shareNodes(allocation, row.allocation!);
}

function shareNodes(a: Pick<Allocation, 'nodes'>, b: Pick<Allocation, 'nodes'>): boolean {
  const names = new Set(a.nodes.map(({ name }) => name));
  return b.nodes.some(({ name }) => names.has(name));
}

/**
 * Seconds by which the first container of what runs came later than a plan counts on. Its walltime begins then, so a promise that counted
 * on its end comes as much later.
 */
export function lateStartOf({ allocation, startedAt, evictionReason }: WorkloadRow): number {
  if (allocation === null || startedAt === null || evictionReason !== null) return 0;
  const late = Math.ceil(startedAt) - allocation.start;
  return late > TERMINATION_SECONDS ? late : 0;
}

/** What is promised, as far as it may wait for what has not started, or has started late. */
export interface Promises {
  /** Rows that hold nodes in vain. */
  readonly unstarted: readonly WorkloadRow[];
  /** Rows that have started late. */
  readonly slow: readonly WorkloadRow[];
  readonly reservations: readonly Planned[];
  /** Those that are to be made again, because what holds their nodes ends later. */
  readonly lost: readonly Planned[];
  readonly now: number;
}

/**
 * The line as it is planned. Who comes after a promise that waits for what has not started may take its nodes only for as long as
 * it would hold them without a start: or a stream of short workloads would pass it for ever, each of which comes a little later. Who
 * comes after one that has moved with a late start leaves them when he would have had to before: or each one that is let past the
 * promise, and starts late itself, would let the next one past.
 */
export function behindLatePromises(line: readonly WorkloadRow[], promises: Promises): readonly WorkloadRow[] {
  const { unstarted, slow, reservations, lost, now } = promises;
  if (unstarted.length + slow.length === 0) return line;
  const late = reservations.filter((one) => unstarted.some((row) => waitsFor(one, row, now)));
  if (unstarted.length > 0) late.push(...lost);
  const longer = (row: WorkloadRow) => startLimitOf(row) + TERMINATION_SECONDS - row.walltime;
  const moved = movedPromises(line, promises);
  const most = Math.max(0, ...moved.map(({ seconds }) => seconds));
  return behind(behind(line, late, reservations, longer), moved, reservations, () => most);
}

/** The promises that counted on an end before that workload had started. */
function movedPromises(
  line: readonly WorkloadRow[],
  { slow, reservations, lost, now }: Promises,
): readonly (Planned & { readonly seconds: number })[] {
  const found = slow.flatMap((row) => {
    const [end, seconds] = [dueEnd(row), lateStartOf(row)];
    const isLost = ({ allocation }: Planned) =>
      countsOn(allocation.start, { before: end - seconds, end }) && shareNodes(allocation, row.allocation!);
    const promises = [...reservations.filter((one) => waitsFor(one, row, now)), ...lost.filter(isLost)];
    return promises.map((one) => ({ ...one, seconds, startedAt: row.startedAt! }));
  });
  if (found.length === 0) return found;
  const submitted = new Map(line.map(({ uid, submittedAt }) => [uid, submittedAt]));
  return found.filter(({ uid, startedAt }) => (submitted.get(uid) ?? Infinity) < startedAt);
}

function behind(
  line: readonly WorkloadRow[],
  late: readonly Planned[],
  reservations: readonly Planned[],
  extraOf: (row: WorkloadRow) => number,
): readonly WorkloadRow[] {
  const uids = new Set(late.map(({ uid }) => uid));
  const first = line.findIndex(({ uid }) => uids.has(uid));
  if (first < 0) return line;
  const promised = new Map(reservations.map(({ uid, allocation }) => [uid, allocation]));
  return line.map((row, i) => {
    const own = promised.get(row.uid);
    const isElsewhere = own !== undefined && !late.some(({ allocation }) => shareNodes(allocation, own));
    return i <= first || uids.has(row.uid) || isElsewhere ? row : lastingLonger(row, extraOf(row));
  });
}
