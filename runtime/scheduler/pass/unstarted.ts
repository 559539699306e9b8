/**
 * Grants whose pods have not started when their walltime has passed since the grant: an image that does not come, a
 * ConfigMap that does not exist. Nobody is charged for them, so a stream of short ones, each planned to leave in a second,
 * would hold its nodes in front of an earlier workload for ever. What a reservation waits for leaves (workloads/grant-watch.ts), and
 * meanwhile nothing starts in front of the reservation that would be planned away by then only because its walltime is short.
 */
import type { WorkloadRow } from '../../queue/workload';
import { shareUnits } from '../../resources/unit-counts';
import { dueEnd, plannedEndOf, TERMINATION_SECONDS } from './planned-end';
import type { Reservation } from './reservations';

/** Whether it holds its nodes without a start: beyond its walltime, or as one that leaves because it could not start. */
export function holdsInVain(row: WorkloadRow, now: number): boolean {
  if (row.allocation === null || row.startedAt !== null) return false;
  return row.evictionReason === null ? dueEnd(row) <= now : row.evictionCause !== 'preempted';
}

/** Those of these rows that hold nodes in vain for whose units one of the reservations waits. */
export function awaitedGrants(
  rows: readonly WorkloadRow[],
  reservations: readonly Pick<Reservation, 'allocation'>[],
  now: number,
): readonly WorkloadRow[] {
  const reserved = Map.groupBy(reservations, ({ allocation }) => allocation.start);
  const byNode = new Map<
    number,
    ReadonlyMap<string, readonly Reservation['allocation']['nodes'][number][]>
  >();
  return rows.filter((row) => {
    const end = plannedEndOf(row, now);
    const nodes = byNode.get(end) ?? nodesOf(reserved.get(end) ?? []);
    byNode.set(end, nodes);
    return row.allocation!.nodes.some((own) => nodes.get(own.name)?.some((other) => shareUnits(own, other)));
  });
}

function nodesOf(reservations: readonly Pick<Reservation, 'allocation'>[]) {
  const parts = reservations.flatMap(({ allocation }) => allocation.nodes);
  return Map.groupBy(parts, ({ name }) => name);
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
