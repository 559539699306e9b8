/** Restores allocations: finds their vertices and checks that these are free. */
import { FluxqError } from '../../errors';
import { parseIdset } from '../../resources/idset';
import type { Allocation } from '../../resources/types';
import type { Branch } from './branch';
import { grantOf } from './grant';
import { unitNumber } from './match-writer';
import type { ResourceGraph } from './resource-graph';
import type { Grant, Spans } from './spans';

/**
 * The grant of an allocation whose vertices are all free from now on.
 * @throws FluxqError FLUXQ_FLUXION_REPLAY
 */
export function grantFor(graph: ResourceGraph, spans: Spans, allocation: Allocation): Grant {
  const { jobid, start, end } = allocation;
  if (spans.jobs.has(jobid)) throw refusal(jobid, 'the job id is in use', 'jobid');
  if (!(start < end)) throw refusal(jobid, 'the allocation ends before it starts', 'end');
  const held = verticesOf(graph, allocation);
  // The past does not matter; an allocation past its end holds for one more second.
  const from = Math.max(start, spans.now);
  const until = Math.max(end, spans.now + 1);
  for (const v of held) {
    if (!isUnheld(graph, spans, v, from, until)) {
      throw refusal(jobid, `${graph.nameOf(v)} is unavailable`, graph.pathOf(v));
    }
  }
  return grantOf(graph, held, [...held, ...sharedAbove(graph, held)]);
}

function refusal(jobid: number, text: string, field: string): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_REPLAY', text, {
    field: `job ${jobid}: ${field}`,
    remedy: 'cancel the conflicting job or drop this allocation',
  });
}

function verticesOf(graph: ResourceGraph, { jobid, nodes }: Allocation): number[] {
  const held: number[] = [];
  for (const { name, units, exclusive } of nodes) {
    const node = graph.nodes.get(name);
    if (node === undefined) throw refusal(jobid, 'the node is not in the graph', name);
    for (const [type, ids] of Object.entries(units)) {
      for (const v of unitsBelow(graph, node, type, ids, jobid)) held.push(v);
    }
    if (exclusive === true) held.push(node.vertex);
  }
  if (new Set(held).size < held.length) throw refusal(jobid, 'a unit is listed twice', 'nodes');
  return held;
}

/** Whether no job holds the vertex, an ancestor of it, or, for a whole node, a descendant of it. */
function isUnheld(graph: ResourceGraph, spans: Spans, v: number, start: number, end: number): boolean {
  for (let at = v; at >= 0; at = graph.parent[at]!) if (!spans.isFree(at, start, end)) return false;
  return graph.branchOf.get(v)?.planner.untouched(start, end, spans.now) ?? true;
}

/** The ancestors of held vertices, deeper ones first, as in an answer. */
function sharedAbove(graph: ResourceGraph, held: readonly number[]): number[] {
  const given = new Set(held);
  const above = new Set<number>();
  for (const v of held) {
    for (let at = graph.parent[v]!; at >= 0; at = graph.parent[at]!) if (!given.has(at)) above.add(at);
  }
  return [...above].sort((a, b) => depthOf(graph, b) - depthOf(graph, a));
}

function depthOf(graph: ResourceGraph, v: number): number {
  const parent = graph.parent[v]!;
  return parent < 0 ? 0 : 1 + depthOf(graph, parent);
}

function unitsBelow(
  graph: ResourceGraph,
  node: Branch,
  typeName: string,
  ids: string,
  jobid: number,
): number[] {
  const type = graph.types.find(typeName);
  const byNumber = new Map<number, number>();
  const collect = (branch: Branch): void => {
    for (const child of branch.children)
      if (graph.type[child] === type) byNumber.set(unitNumber(graph, child), child);
    branch.branches.forEach(collect);
  };
  collect(node);
  return parseIdset(ids).map((number) => {
    const v = byNumber.get(number);
    if (v === undefined)
      throw refusal(jobid, 'the unit is not in the graph', `${node.name}/${typeName}${number}`);
    return v;
  });
}
