/** Verifies a run: every pod runs where its allocation says, no workload is lost, and no unit is granted twice. */
import { ASSIGNMENT_ANNOTATION, COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import type { Queue } from '../../runtime/queue/store';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { parseIdset } from '../../runtime/resources/idset';
import type { AllocatedNode } from '../../runtime/resources/types';
import { secondsOf } from '../../runtime/workloads/adapter';
import { isBeyondAssignment, placementOf } from '../../runtime/workloads/assignment';

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

type History = Awaited<ReturnType<Queue['history']>>;
type Histories = ReadonlyMap<string, History>;

/** The event logs of these workloads. */
export async function historiesOf(queue: Queue, uids: readonly string[]): Promise<Histories> {
  const histories = new Map<string, History>();
  for (const uid of uids) histories.set(uid, await queue.history(uid));
  return histories;
}

/**
 * @param uids of the workloads that were submitted
 * @param rows of the queue, finished ones included
 * @param pods all pods of the namespace
 * @param histories tell exactly what was held when; without them the rows do, as far as they know
 */
export function judge(
  uids: readonly string[],
  rows: readonly WorkloadRow[],
  pods: readonly Pod[],
  histories?: Histories,
): Verdict {
  const byUid = new Map(rows.map((row) => [row.uid, row]));
  const known = uids.flatMap((uid) => byUid.get(uid) ?? []);
  const finished = known.filter(({ phase }) => phase === 'Finished').length;
  const unsatisfiable = known.filter(
    ({ reason, phase }) => phase === 'Waiting' && reason === 'Unsatisfiable',
  ).length;
  const grants = known.map((row) => {
    const history = histories?.get(row.uid);
    return { row, grants: history === undefined ? grantOf(row) : grantsIn(history) };
  });
  return {
    jobs: uids.length,
    finished,
    unsatisfiable,
    misplaced: grants.reduce((sum, { row, grants }) => sum + misplacedPods(row, grants, pods), 0),
    lost: uids.length - finished - unsatisfiable,
    doubleGranted: countOverlaps(grants.flatMap(({ grants }) => grants)),
  };
}

/** One allocation, from its commit until each of its nodes was given back. */
interface Grant {
  readonly from: number;
  readonly nodes: readonly AllocatedNode[];
  /** Node -> when it was given back; nothing: it is held. */
  readonly freed: Map<string, number>;
}

function grantOf({ allocation, allocatedAt, finishedAt }: WorkloadRow): Grant[] {
  if (allocation === null || allocatedAt === null) return [];
  const ends = finishedAt === null ? [] : allocation.nodes.map(({ name }) => [name, finishedAt] as const);
  return [{ from: allocatedAt, nodes: allocation.nodes, freed: new Map(ends) }];
}

function grantsIn(history: History): Grant[] {
  const grants: Grant[] = [];
  for (const { at, event, detail } of history) {
    const { nodes = [] } = detail as { nodes?: readonly AllocatedNode[] };
    if (event === 'Allocated') grants.push({ from: at, nodes, freed: new Map() });
    if (event === 'Reallocated') giveBack(grants.at(-1), at, new Set(nodes.map(({ name }) => name)));
    if (event === 'Requeued' || event === 'Finished') giveBack(grants.at(-1), at, new Set());
  }
  return grants;
}

function giveBack(grant: Grant | undefined, at: number, kept: ReadonlySet<string>): void {
  for (const { name } of grant?.nodes ?? [])
    if (!kept.has(name) && !grant!.freed.has(name)) grant!.freed.set(name, at);
}

function misplacedPods(row: WorkloadRow, grants: readonly Grant[], all: readonly Pod[]): number {
  const bound = all.filter((pod) => pod.spec.nodeName !== undefined && belongsTo(row, pod));
  const byGrant = Map.groupBy(bound, (pod) => grants.findLast(({ from }) => wasThere(row, pod, from)));
  let misplaced = 0;
  for (const [grant, pods] of byGrant)
    misplaced += grant === undefined ? pods.length : outside(row, grant, pods);
  return misplaced;
}

/** Whether the pod is of this grant or a later one. Kubernetes tells whole seconds. */
function wasThere({ uid }: WorkloadRow, { metadata }: Pod, from: number): boolean {
  return metadata.uid === uid || Math.floor(from) <= secondsOf(metadata.creationTimestamp);
}

function outside(row: WorkloadRow, { nodes }: Grant, pods: readonly Pod[]): number {
  const allocation = { jobid: row.jobid, start: 0, end: 0, nodes };
  const places = new Map(placementOf({ ...row, allocation }).map(({ node, pods: count }) => [node, count]));
  // Pods of a Job that makes more than run at once take the same place one after the other. An array may have fewer places than it asks for.
  const once = pods.length <= [...places.values()].reduce((sum, count) => sum + count, 0);
  let misplaced = 0;
  for (const { spec } of pods) {
    const left = places.get(spec.nodeName!) ?? 0;
    if (left === 0) misplaced++;
    else if (once) places.set(spec.nodeName!, left - 1);
  }
  return misplaced;
}

function belongsTo({ uid }: WorkloadRow, { metadata }: Pod): boolean {
  if (metadata.uid === uid) return true;
  // A pod beyond the gang of its Job stands for itself.
  const { annotations, ownerReferences = [] } = metadata;
  const index = Number(annotations?.[COMPLETION_INDEX_ANNOTATION]);
  if (isBeyondAssignment(annotations?.[ASSIGNMENT_ANNOTATION] ?? '', index)) return false;
  return ownerReferences.some((owner) => owner.uid === uid);
}

interface Span {
  readonly from: number;
  readonly until: number;
}

function countOverlaps(grants: readonly Grant[]): number {
  const held = new Map<string, Span[]>();
  for (const grant of grants)
    for (const { unit, node } of unitsOf(grant)) {
      const spans = held.get(unit) ?? [];
      spans.push({ from: grant.from, until: grant.freed.get(node) ?? Number.POSITIVE_INFINITY });
      held.set(unit, spans);
    }
  return [...held.values()].reduce((sum, spans) => sum + overlapsIn(spans), 0);
}

function* unitsOf({ nodes }: Grant): Iterable<{ unit: string; node: string }> {
  for (const { name, units } of nodes)
    for (const [type, ids] of Object.entries(units))
      for (const id of parseIdset(ids)) yield { unit: `${name}/${type}${id}`, node: name };
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
