/**
 * Workloads for which nobody is evicted, because something ends before evicted pods would be gone. Each of them takes what ends: the next
 * one that waits for the same may not count on it, or a stream of short workloads would start one after the other beside others that
 * have to leave for them.
 */
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import type { FreeCapacity } from './free-capacity';
import { LEAST_GAIN_SECONDS, TERMINATION_SECONDS } from './planned-end';
import type { Lack } from './quota-account';
import type { Reservation } from './reservations';
import { isOwed, type NearStart, type Pass } from './state';
import { addTo, NOTHING, type Usage } from './usage';

export function isNear({ input }: Pass, { start }: Allocation): boolean {
  return start <= input.now + TERMINATION_SECONDS;
}

/** @param start when it should start @default - soon, as far as quota tells */
export function noteNear(
  { near, input }: Pass,
  row: WorkloadRow,
  { allocation, start = input.now }: { readonly allocation?: Allocation; readonly start?: number } = {},
): void {
  near.set(row.uid, { row, allocation, start });
}

/** Whether it would start on nodes on which others without a reservation would start before it. */
export function competes(pass: Pass, row: WorkloadRow, { nodes }: Allocation): boolean {
  const names = new Set(nodes.map(({ name }) => name));
  return unreserved(pass, row).some(
    ({ allocation }) => allocation?.nodes.some(({ name }) => names.has(name)) === true,
  );
}

/** What those that start soon take of the nodes; those with a reservation count by that. */
export function takeNear(pass: Pass, row: WorkloadRow, free: FreeCapacity): void {
  for (const { allocation } of unreserved(pass, row)) if (allocation !== undefined) free.take(allocation);
}

function unreserved({ near, reservations }: Pass, { uid }: WorkloadRow): readonly NearStart[] {
  return [...near.values()].filter(
    (other) => other.row.uid !== uid && reservations.of(other.row.uid) === undefined,
  );
}

interface Lacking {
  readonly lacks: readonly Lack[];
  readonly at: number;
  /** Workloads that leave later, with what they hold. */
  readonly late: readonly { readonly row: WorkloadRow; readonly holds: Usage }[];
}

/**
 * What an account lacks for a row beside those that start by about that time and are not charged at it, and beside those that start
 * later because others leave for them: only as far as these take more than is held by then by those that leave later.
 */
export function besideNear(pass: Pass, row: WorkloadRow, { lacks, at, late }: Lacking): readonly Lack[] {
  const { quotas, reservations } = pass;
  const all = reservations.all();
  const owed = all
    .filter((other) => other.allocation.start > at && other.uid !== row.uid && isOwed(pass, other))
    .map((other) => reservations.rowOf(other));
  const others = uncharged(pass, row, all, at);
  if (others.length === 0 && owed.length === 0) return lacks;
  return lacks.map(({ account, short }) => {
    const isCharged = (other: WorkloadRow) => quotas.isCharged(other, account);
    const beyond = NOTHING.slice();
    for (const other of owed.filter(isCharged)) addTo(beyond, quotas.leastOf(other));
    for (const other of late) if (isCharged(other.row)) addTo(beyond, other.holds, -1);
    const more = short.map((amount, i) => amount + Math.max(0, beyond[i]!));
    for (const other of others.filter(isCharged)) addTo(more, quotas.leastOf(other));
    return { account, short: more };
  });
}

/** What they take of the own quota of its queue: a thousand queues may ask for ten thousand rows. */
export function nearUsage(pass: Pass, row: WorkloadRow, at: number): Usage {
  const used = NOTHING.slice();
  for (const other of uncharged(pass, row, pass.reservations.ofQueue(row.queue), at))
    if (other.queue === row.queue) addTo(used, pass.quotas.leastOf(other));
  return used;
}

/**
 * When quota and limits have room for a row that has no reservation, behind those without one for which nobody leaves: as far as they
 * tell it starts then by itself.
 */
export function startBesideNear(pass: Pass, row: WorkloadRow): number {
  const { quotas, grants } = pass;
  const started = new Set(grants.map(({ uid }) => uid));
  const before = unreserved(pass, row)
    .map((other) => other.row)
    .filter((other) => !started.has(other.uid) && quotas.areRivals(row, other));
  for (const other of before) {
    const at = quotas.freeFrom(other);
    if (at < Infinity) quotas.hold(other, at, at + other.walltime);
  }
  const start = quotas.freeFrom(row);
  for (const other of before) quotas.free(other);
  return start;
}

function uncharged(
  pass: Pass,
  row: WorkloadRow,
  reservations: Iterable<Reservation>,
  at: number,
): readonly WorkloadRow[] {
  const found = unreserved(pass, row)
    .filter(({ start }) => start < at + LEAST_GAIN_SECONDS)
    .map((other) => other.row);
  for (const other of reservations)
    if (other.allocation.end <= at && other.uid !== row.uid) found.push(pass.reservations.rowOf(other));
  return found;
}
