/**
 * The order in which policies that stop early look at children: by weight and
 * unique id, highest first. A vertex weighs infinitely much until something of it
 * was given; then what it has left, as of the last grant: a cancel doesn't
 * change it. So the order depends on history, and has to.
 */
import type { Branch } from './branch';
import type { PruneFilters } from './filters';
import type { ResourceGraph } from './resource-graph';
import type { Spans } from './spans';

export class Weights {
  /** Branch type -> dimension of the type that weighs; 0 for a type that is not in the graph, -1 for none. */
  private readonly dimensionByType = new Map<number, number>();

  constructor(
    private readonly graph: ResourceGraph,
    private readonly filters: PruneFilters,
  ) {}

  /** Sorts all children; needed once per graph change. */
  sortAll(): void {
    this.dimensionByType.clear();
    for (const branch of this.graph.branchOf.values()) {
      if (branch.branches.length === 0) continue;
      branch.order = branch.children.slice().sort((a, b) => this.compare(a, b));
    }
  }

  /** After a grant: every branch that gave something, but the root, is weighed anew. */
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

  /** Where `v` is, or belongs. */
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
