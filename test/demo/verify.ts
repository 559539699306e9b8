/** What a run of the demo is judged by: every pod where the allocation says, nothing lost, no unit granted twice. */
import { parseIdset } from '../../runtime/fluxion/allocation';
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/types';
import { placementOf } from '../../runtime/workloads/placement';

export interface Verdict {
  readonly jobs: number;
  readonly finished: number;
  readonly unsatisfiable: number;
  /** Pods on another node than their allocation's, or too many on one. */
  readonly misplaced: number;
  /** Workloads without a row, or not finished and not unsatisfiable. */
  readonly lost: number;
  /** Units that two workloads held at the same time. */
  readonly doubleGranted: number;
}

/**
 * @param uids of the workloads that were submitted
 * @param rows of the queue, finished ones included
 * @param pods all pods of the namespace
 */
export function judge(uids: readonly string[], rows: readonly WorkloadRow[], pods: readonly Pod[]): Verdict {
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const known = uids.flatMap((uid) => byUid.get(uid) ?? []);
  const finished = known.filter(({ phase }) => phase === 'Finished').length;
  const unsatisfiable = known.filter(
    ({ reason, phase }) => phase === 'Waiting' && reason === 'Unsatisfiable',
  ).length;
  return {
    jobs: uids.length,
    finished,
    unsatisfiable,
    misplaced: known.reduce((sum, row) => sum + misplacedPods(row, pods), 0),
    lost: uids.length - finished - unsatisfiable,
    doubleGranted: countOverlaps(known),
  };
}

function misplacedPods(row: WorkloadRow, pods: readonly Pod[]): number {
  const places = new Map(placementOf(row).map(({ node, pods: count }) => [node, count]));
  let misplaced = 0;
  for (const { metadata, spec } of pods) {
    if (spec.nodeName === undefined || !belongsTo(row, metadata)) continue;
    const left = places.get(spec.nodeName) ?? 0;
    if (left === 0) misplaced++;
    else places.set(spec.nodeName, left - 1);
  }
  return misplaced;
}

function belongsTo({ uid }: WorkloadRow, { uid: own, ownerReferences }: Pod['metadata']): boolean {
  return own === uid || (ownerReferences?.some((owner) => owner.uid === uid) ?? false);
}

interface Span {
  readonly from: number;
  readonly until: number;
}

function countOverlaps(rows: readonly WorkloadRow[]): number {
  const held = new Map<string, Span[]>();
  for (const row of rows)
    for (const unit of unitsOf(row)) {
      const spans = held.get(unit) ?? [];
      spans.push({ from: row.allocatedAt!, until: row.finishedAt ?? Number.POSITIVE_INFINITY });
      held.set(unit, spans);
    }
  return [...held.values()].reduce((sum, spans) => sum + overlapsIn(spans), 0);
}

function* unitsOf({ allocation, allocatedAt }: WorkloadRow): Iterable<string> {
  if (allocation === null || allocatedAt === null) return;
  for (const { name, units } of allocation.nodes)
    for (const [type, ids] of Object.entries(units))
      for (const id of parseIdset(ids)) yield `${name}/${type}${id}`;
}

/** Sweeps a unit's holders in the order of their start. */
function overlapsIn(spans: Span[]): number {
  let until = Number.NEGATIVE_INFINITY;
  let overlaps = 0;
  for (const span of spans.sort((a, b) => a.from - b.from)) {
    if (span.from < until) overlaps++;
    until = Math.max(until, span.until);
  }
  return overlaps;
}
