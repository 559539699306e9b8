/** Collects the grant from the marks of a traversal (flux-sched's `update`, without changing the graph). */
import type { Branch } from './branch';
import { joined, type Piece, wholeVertex } from './piece';
import type { ResourceGraph } from './resource-graph';
import type { Grant } from './spans';
import type { Traverser } from './traverser';

/** Number of children from which on sorting the marked ones is faster than checking all children. */
const MANY = 64;

class Collector {
  readonly held: Piece[] = [];
  readonly emitted: Piece[] = [];
  readonly touched: Branch[] = [];
  readonly counts: Float64Array[] = [];

  constructor(
    private readonly graph: ResourceGraph,
    private readonly traverser: Traverser,
    private readonly wholeTypes: ReadonlySet<number>,
  ) {}

  /**
   * Collects the children in the order of their edges, then the branch itself.
   * @param given the branch itself is allocated
   * @param wholeAbove all vertices below are allocated, marked or not
   * @returns the allocated size of the branch and its descendants, by dimension; undefined for none
   */
  visit(branch: Branch, given: boolean, wholeAbove: boolean): Float64Array | undefined {
    const { graph, traverser } = this;
    const whole = wholeAbove || this.wholeTypes.has(branch.type);
    const exclusive = given || whole;
    const counts = new Float64Array(graph.dimensions);
    let any = exclusive;
    const children = whole ? branch.children : this.childrenToLookAt(branch);
    for (let i = 0; i < children.length; i++) {
      const v = children[i]!;
      const mark = traverser.mark[v]!;
      const marked = mark >> 1 === traverser.round;
      if (!marked && !whole) continue;
      if (this.child(v, whole || (marked && (mark & 1) === 1), whole, counts)) any = true;
    }
    if (!any) return undefined;
    counts[0] = 1;
    this.touched.push(branch);
    this.counts.push(counts);
    const piece = wholeVertex(branch.vertex);
    this.emitted.push(piece);
    if (exclusive) this.held.push(piece);
    return counts;
  }

  /** All children, or only the marked ones if these are few among many. */
  private childrenToLookAt({ vertex, children, ascending }: Branch): readonly number[] {
    const { marked } = this.traverser;
    if (!ascending || children.length < MANY || marked.length > children.length / 4) return children;
    return marked.filter((v) => this.graph.parent[v] === vertex).sort((a, b) => a - b);
  }

  private child(v: number, exclusive: boolean, whole: boolean, counts: Float64Array): boolean {
    const { graph } = this;
    const branch = graph.branchOf.get(v);
    if (branch === undefined) {
      if (!exclusive) return false;
      return this.leaf(v, whole, counts);
    } else {
      const below = this.visit(branch, exclusive, whole);
      if (below === undefined) return false;
      for (let k = 1; k < below.length; k++) counts[k]! += below[k]!;
      if (!exclusive && !this.wholeTypes.has(branch.type)) return true;
    }
    const dimension = graph.dimensionOf[graph.type[v]!]!;
    counts[dimension]! += graph.size[v]!;
    return true;
  }

  /** @param whole all units of the leaf are allocated, marked or not */
  private leaf(v: number, whole: boolean, counts: Float64Array): true {
    const { graph, traverser } = this;
    const units = graph.run[v]!;
    const chosen = units > 1 && !whole ? joined(traverser.pieces.get(v)!) : [wholeVertex(v, units)];
    const dimension = graph.dimensionOf[graph.type[v]!]!;
    for (const piece of chosen) {
      this.held.push(piece);
      this.emitted.push(piece);
      counts[dimension]! += graph.size[v]! * (piece.to - piece.from);
    }
    return true;
  }
}

/** @param wholeTypes types whose vertices are allocated as a whole when any of their descendants is */
export function collectGrant(
  graph: ResourceGraph,
  traverser: Traverser,
  wholeTypes: ReadonlySet<number>,
): Grant {
  const collector = new Collector(graph, traverser, wholeTypes);
  collector.visit(graph.root, traverser.exclusive, false);
  const { held, emitted, touched, counts } = collector;
  return { held, emitted, touched, counts };
}

/** The part of a grant that is not at or below the given nodes. */
export function withoutNodes(graph: ResourceGraph, grant: Grant, nodes: ReadonlySet<Branch>): Grant {
  const stays = ({ vertex }: Piece): boolean => !nodes.has(graph.nodeAbove(vertex)!);
  return grantOf(graph, grant.held.filter(stays), grant.emitted.filter(stays));
}

/**
 * Counts the held vertices below each branch.
 * @param emitted held and shared vertices; the result omits shared ones without a held vertex below
 */
export function grantOf(graph: ResourceGraph, held: readonly Piece[], emitted: readonly Piece[]): Grant {
  const countsOf = new Map<number, Float64Array>();
  const counted = (v: number): Float64Array => {
    const known = countsOf.get(v);
    if (known !== undefined) return known;
    const fresh = new Float64Array(graph.dimensions);
    fresh[0] = 1;
    countsOf.set(v, fresh);
    return fresh;
  };
  for (const { vertex: v, from, to } of held) {
    if (graph.branchOf.has(v)) counted(v);
    const dimension = graph.dimensionOf[graph.type[v]!] ?? 0;
    for (let above = graph.parent[v]!; above >= 0; above = graph.parent[above]!) {
      const counts = counted(above);
      if (dimension > 0) counts[dimension]! += graph.size[v]! * (to - from);
    }
  }
  const left = emitted.filter(({ vertex }) => countsOf.has(vertex) || !graph.branchOf.has(vertex));
  const branches = left.map(({ vertex }) => vertex).filter((v) => countsOf.has(v));
  return {
    held,
    emitted: left,
    touched: branches.map((v) => graph.branchOf.get(v)!),
    counts: branches.map((v) => countsOf.get(v)!),
  };
}
