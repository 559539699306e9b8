/** What a workload that waits is told of evictions: who has to leave for it, or from when on somebody may have to. */
import { joined } from '../../columns';
import type { WorkloadRow } from '../../queue/workload';
import { evicted } from './eviction';
import { shownNames } from './shown-names';
import type { Pass } from './state';

/** So many are named. */
const MOST_NAMES = 3;

/** @returns undefined if nobody has to leave for it, and nobody is known to be protected from it only until some time */
export function evictionOutlook(pass: Pass, row: WorkloadRow): string | undefined {
  const victims = pass.beneficiaries.get(row.uid)?.victims;
  const leaving = victims && evicted(pass).filter((other) => victims.has(other.row.uid));
  if (leaving !== undefined && leaving.length > 0)
    return leavingText(
      row,
      leaving.map((other) => other.row),
    );
  const at = pass.preemptAt.get(row.uid);
  // A second later it is only asked for again.
  if (at === undefined || at <= pass.input.now + 1) return undefined;
  if (at === Infinity)
    return 'workloads that it could preempt keep their nodes: they were preempted as often as the preemption.limit of their queue allows';
  if ((pass.reservations.of(row.uid)?.allocation.start ?? Infinity) <= at) return undefined;
  const time = new Date(at * 1000).toISOString().replace('.000Z', 'Z');
  return `others may be evicted for it from ${time} on, when they have run for the preemption.minRuntime of their queue`;
}

function leavingText(row: WorkloadRow, victims: readonly WorkloadRow[]): string {
  const names = shownNames(row, victims);
  const more = names.length - MOST_NAMES;
  const shown = [...names.slice(0, MOST_NAMES), ...(more > 0 ? [`${more} more`] : [])];
  return `${joined(shown)} ${victims.length === 1 ? 'has' : 'have'} to leave for it`;
}
