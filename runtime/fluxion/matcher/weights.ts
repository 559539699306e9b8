/**
 * The order in which policies that stop early explore children: by weight and unique id, highest first. The weight of a
 * vertex is infinite until a first grant on it; then it is the free size at its last grant. A cancel does not change it,
 * so, as in flux-sched, the order depends on history.
 */
import type { Branch } from './branch';
import type { PruneFilters } from './prune-filters';
import type { ResourceGraph } from './resource-graph';
import type { Spans } from './spans';

export class Weights {
  /** By branch type: dimension of the type that decides the weight; 0 for a type not in the graph, -1 for no type. */
  private readonly dimensionByType = new Map<number, number>();

  constructor(
    private readonly graph: ResourceGraph,
    private readonly filters: PruneFilters,
  ) {}

  /** Sorts all children, after each change of the graph. */
  sortAll(): void {
    this.dimensionByType.clear();
    for (const branch of this.graph.branchOf.values()) {
      if (branch.branches.length === 0) continue;
      branch.order = branch.children.slice().sort((a, b) => this.compare(a, b));
    }
  }

  /** Updates the weights of all branches of a grant but the root. */
  update(touched: readonly Branch[], spans: Spans): void {
    for (const branch of touched) {
      if (branch.parent === undefined || branch.children.length === 0) continue;
      const dimension = this.dimension(branch);
      if (dimension < 0) continue;
      const used = dimension === 0 ? 0 : branch.planner.usedAt(dimension, spans.now, spans.now);
      const left = dimension === 0 ? 0 : branch.totals[dimension]! - used;
      if (left > 0 || branch.planner.spans > 0) this.reweigh(branch, branch.parent, left);
    }
  }

  private reweigh(branch: Branch, parent: Branch, weight: number): void {
    if (branch.weight === weight) return;
    const { order } = parent;
    order.splice(this.position(order, branch.vertex), 1);
    branch.weight = weight;
    order.splice(this.position(order, branch.vertex), 0, branch.vertex);
  }

  /** The position of `v`, or its insertion point. */
  private position(order: readonly number[], v: number): number {
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.compare(order[middle]!, v) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private compare(a: number, b: number): number {
    const [x, y] = [this.weightOf(a), this.weightOf(b)];
    if (x !== y) return x < y ? -1 : 1;
    return this.graph.uniqId[a]! - this.graph.uniqId[b]!;
  }

  private weightOf(v: number): number {
    return this.graph.branchOf.get(v)?.weight ?? Number.POSITIVE_INFINITY;
  }

  private dimension(branch: Branch): number {
    const known = this.dimensionByType.get(branch.type);
    if (known !== undefined) return known;
    const type = this.filters.typesAt(branch, this.graph).at(-1);
    const dimension = type === undefined ? -1 : (this.graph.dimensionOf[type] ?? 0);
    this.dimensionByType.set(branch.type, dimension);
    return dimension;
  }
}
