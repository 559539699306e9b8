/** Restores allocations: finds their vertices and checks that these are free. */
import { FluxqError } from '../../errors';
import { parseRanges } from '../../resources/idset';
import type { Allocation } from '../../resources/types';
import type { Branch } from './branch';
import { grantOf } from './grant';
import { unitNumber } from './match-writer';
import { type Piece, wholeVertex } from './piece';
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
  const held = piecesOf(graph, allocation);
  // The past does not matter; an allocation past its end holds for one more second.
  const from = Math.max(start, spans.now);
  const until = Math.max(end, spans.now + 1);
  for (const piece of held) {
    const unit = firstUnavailable(graph, spans, piece, from, until);
    if (unit < 0) continue;
    const { vertex } = piece;
    throw refusal(jobid, `${graph.nameOf(vertex, unit)} is unavailable`, graph.pathOf(vertex, unit));
  }
  return grantOf(graph, held, [...held, ...sharedAbove(graph, held)]);
}

function refusal(jobid: number, text: string, field: string): FluxqError {
  return new FluxqError('FLUXQ_FLUXION_REPLAY', text, {
    field: `job ${jobid}: ${field}`,
    remedy: 'cancel the conflicting job or drop this allocation',
  });
}

function piecesOf(graph: ResourceGraph, { jobid, nodes }: Allocation): Piece[] {
  const held: Piece[] = [];
  for (const { name, units, exclusive } of nodes) {
    const node = graph.nodes.get(name);
    if (node === undefined) throw refusal(jobid, 'the node is not in the graph', name);
    for (const [type, ids] of Object.entries(units)) {
      for (const piece of unitsBelow(graph, node, type, ids, jobid)) held.push(piece);
    }
    if (exclusive === true) held.push(wholeVertex(node.vertex));
  }
  if (hasOverlap(held)) throw refusal(jobid, 'a unit is listed twice', 'nodes');
  return held;
}

function hasOverlap(pieces: readonly Piece[]): boolean {
  const sorted = [...pieces].sort((a, b) => a.vertex - b.vertex || a.from - b.from);
  return sorted.some(({ vertex, from }, i) => {
    const before = sorted[i - 1];
    return before?.vertex === vertex && before.to > from;
  });
}

/** The first unit that a job holds, itself or with an ancestor or, of a whole node, a descendant; -1 for none. */
function firstUnavailable(
  graph: ResourceGraph,
  spans: Spans,
  piece: Piece,
  start: number,
  end: number,
): number {
  const { vertex, from } = piece;
  for (let at = graph.parent[vertex]!; at >= 0; at = graph.parent[at]!)
    if (!spans.isFree(at, start, end)) return from;
  const branch = graph.branchOf.get(vertex);
  if (branch !== undefined && !branch.planner.untouched(start, end, spans.now)) return from;
  return spans.firstHeld(piece, start, end);
}

/** The ancestors of held vertices, deeper ones first, as in an answer. */
function sharedAbove(graph: ResourceGraph, held: readonly Piece[]): Piece[] {
  const given = new Set(held.map(({ vertex }) => vertex));
  const above = new Set<number>();
  for (const { vertex } of held) {
    for (let at = graph.parent[vertex]!; at >= 0; at = graph.parent[at]!) if (!given.has(at)) above.add(at);
  }
  return [...above].sort((a, b) => depthOf(graph, b) - depthOf(graph, a)).map((v) => wholeVertex(v));
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
): Piece[] {
  const type = graph.types.find(typeName);
  const byNumber = new Map<number, number>();
  const runs: number[] = [];
  const collect = (branch: Branch): void => {
    for (const child of branch.children) {
      if (graph.type[child] !== type) continue;
      if (graph.run[child]! > 1) runs.push(child);
      else byNumber.set(unitNumber(graph, child), child);
    }
    branch.branches.forEach(collect);
  };
  collect(node);
  const pieces: Piece[] = [];
  for (const [first, end] of parseRanges(ids)) {
    for (let number = first; number < end; number += pieces.at(-1)!.to - pieces.at(-1)!.from) {
      const single = byNumber.get(number);
      const piece = single === undefined ? pieceOfRuns(graph, runs, number, end) : wholeVertex(single);
      if (piece === undefined)
        throw refusal(jobid, 'the unit is not in the graph', `${node.name}/${typeName}${number}`);
      pieces.push(piece);
    }
  }
  return pieces;
}

/** The units with these numbers, up to the end of the leaf that has the first of them. */
function pieceOfRuns(
  graph: ResourceGraph,
  runs: readonly number[],
  number: number,
  end: number,
): Piece | undefined {
  for (const vertex of runs) {
    const first = graph.number[vertex]!;
    const last = first + graph.run[vertex]!;
    if (first <= number && number < last)
      return { vertex, from: number - first, to: Math.min(end, last) - first };
  }
  return undefined;
}
