/** Writes a grant as {@link Allocation} or as JGF (flux-sched's match writers). */
import { formatRanges, type IdRange } from '../../resources/idset';
import type { AllocatedNode, Allocation } from '../../resources/types';
import type { Branch } from './branch';
import type { Piece } from './piece';
import type { ResourceGraph } from './resource-graph';
import { NODE } from './resource-types';
import type { Grant, Job } from './spans';

/** Lists nodes in the order of the answer; a zone or rack allocated as a whole counts as all its nodes. */
export function allocationOf(
  graph: ResourceGraph,
  { id, start, end }: { readonly id: number; readonly start: number; readonly end: number },
  grant: Grant,
): Allocation {
  const unitsOf = new Map<Branch, Map<string, IdRange[]>>();
  const whole = new Set<Branch>();
  const unitsAt = (node: Branch): Map<string, IdRange[]> => {
    const known = unitsOf.get(node) ?? new Map<string, IdRange[]>();
    unitsOf.set(node, known);
    return known;
  };
  for (const piece of grant.held) {
    const v = piece.vertex;
    const node = graph.nodeAbove(v);
    if (node === undefined) {
      for (const below of nodesBelow(graph.branchOf.get(v))) {
        unitsAt(below);
        whole.add(below);
      }
    } else if (node.vertex === v) {
      unitsAt(node);
      whole.add(node);
    } else {
      const units = unitsAt(node);
      const type = graph.types.names[graph.type[v]!]!;
      const first = unitNumber(graph, v);
      const range = [first + piece.from, first + piece.to] as const;
      const ranges = units.get(type);
      if (ranges === undefined) units.set(type, [range]);
      else ranges.push(range);
    }
  }
  const nodes = [...unitsOf].map(([node, units]): AllocatedNode => {
    const ids = Object.fromEntries([...units].map(([type, ranges]) => [type, formatRanges(ranges)]));
    return { name: node.name, units: ids, ...(whole.has(node) ? { exclusive: true } : {}) };
  });
  return { jobid: id, start, end, nodes };
}

/** The number in the name of the first unit of a leaf, or else its position among the siblings of its type. */
export function unitNumber(graph: ResourceGraph, v: number): number {
  if (!graph.names.has(v)) return graph.number[v]!;
  const type = graph.type[v]!;
  const siblings = graph.branchOf
    .get(graph.parent[v]!)!
    .children.filter((child) => graph.type[child] === type);
  return siblings.indexOf(v);
}

function nodesBelow(branch: Branch | undefined): Branch[] {
  if (branch === undefined) return [];
  return branch.type === NODE ? [branch] : branch.branches.flatMap(nodesBelow);
}

/** JGF exactly as flux-sched writes it: without defaults, with the key order and separators of jansson. */
export function writeJgf(graph: ResourceGraph, job: Job): string {
  const held = new Set(job.held);
  const answered = new Set(job.emitted.map(({ vertex }) => vertex));
  const vertices = job.emitted.flatMap((piece) =>
    unitsOf(piece).map((unit) => jansson(jgfVertex(graph, piece.vertex, unit, held.has(piece)))),
  );
  const edges = job.emitted
    .filter(({ vertex }) => answered.has(graph.parent[vertex]!))
    .flatMap((piece) => {
      const source = `${graph.uniqId[graph.parent[piece.vertex]!]}`;
      return unitsOf(piece).map((unit) =>
        jansson({ source, target: `${graph.uniqId[piece.vertex]! + unit}` }),
      );
    });
  return `{"graph": {"nodes": [${vertices.join(', ')}], "edges": [${edges.join(', ')}]}}\n`;
}

/** The containment paths of the vertices of a piece. */
export function pathsOf(graph: ResourceGraph, piece: Piece): string[] {
  return unitsOf(piece).map((unit) => graph.pathOf(piece.vertex, unit));
}

function unitsOf({ from, to }: Piece): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

function jgfVertex(
  graph: ResourceGraph,
  v: number,
  unitIndex: number,
  exclusive: boolean,
): Record<string, unknown> {
  const type = graph.types.names[graph.type[v]!]!;
  const basename = graph.basenameOf(v);
  const name = graph.nameOf(v, unitIndex);
  const id = graph.id[v]! + unitIndex;
  const properties = [...(graph.branchOf.get(v)?.properties ?? [])];
  const unit = graph.units.get(v);
  return {
    id: `${graph.uniqId[v]! + unitIndex}`,
    metadata: {
      type,
      ...(basename === type ? {} : { basename }),
      ...(name === `${basename}${id}` ? {} : { name }),
      id,
      rank: graph.rank[v],
      ...(properties.length === 0
        ? {}
        : { properties: Object.fromEntries(properties.map((key) => [key, ''])) }),
      ...(unit === undefined ? {} : { unit }),
      ...(exclusive ? { exclusive } : {}),
      ...(graph.size[v] === 1 ? {} : { size: graph.size[v] }),
      paths: { containment: graph.pathOf(v, unitIndex) },
    },
  };
}

/** JSON with a space after commas and colons. */
function jansson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, below]) => `${JSON.stringify(key)}: ${jansson(below)}`);
  return `{${entries.join(', ')}}`;
}
