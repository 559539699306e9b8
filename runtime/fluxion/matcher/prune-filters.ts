/**
 * Pruning filters: the types that a branch counts below it. They affect answers in two ways: policy `first` weighs a
 * child by the last type, and the types at the root decide at which times a reservation is tried.
 */
import type { Branch } from './branch';
import type { ResourceGraph } from './resource-graph';

const EVERY = '*';

export class PruneFilters {
  /** Counted types by the name of their anchor type, or `*`, in the order of {@link ResourceTypes}. */
  private readonly anchors = new Map<string, number[]>();

  /** @param text in the syntax of flux-sched, for example `ALL:core,ALL:node,cluster:gpu` */
  constructor(graph: ResourceGraph, text: string) {
    const leaves = new Set<number>();
    for (const branch of graph.branchOf.values()) for (const { type } of branch.groups) leaves.add(type);
    const pruned = new Set<number>();
    for (const pair of text.split(',').filter((word) => word.includes(':'))) {
      const at = pair.indexOf(':');
      const [anchor, typeName] = [pair.slice(0, at), pair.slice(at + 1)];
      const type = graph.types.intern(typeName);
      this.count(anchor === 'ALL' ? EVERY : anchor, type);
      pruned.add(type);
    }
    // Since flux-sched 0.46 the cluster counts all other leaf types.
    const added = [...leaves].filter((type) => !pruned.has(type));
    for (const type of added) this.count('cluster', type);
    graph.uncounted.clear();
    graph.dimensionOf.forEach((dimension, type) => {
      if (!pruned.has(type) && !leaves.has(type)) graph.uncounted.add(dimension);
    });
    graph.rootTotals = graph.root.totals.slice();
    for (const type of added) {
      const dimension = graph.dimensionOf[type] ?? 0;
      if (dimension > 0) graph.rootTotals[dimension]! -= uncounted(graph, type);
    }
  }

  private count(anchor: string, type: number): void {
    const types = this.anchors.get(anchor) ?? [];
    if (!types.includes(type)) types.push(type);
    this.anchors.set(
      anchor,
      types.sort((a, b) => a - b),
    );
  }

  /** In the order of flux-sched: the types of the anchor, then the types counted everywhere. */
  typesAt(branch: Branch, graph: ResourceGraph): number[] {
    const own = this.anchors.get(graph.types.names[branch.type]!) ?? [];
    const everywhere = (this.anchors.get(EVERY) ?? []).filter((type) => type !== branch.type);
    return [...own, ...everywhere];
  }
}

/**
 * flux-sched begins to count a leaf type at the first leaf that it comes to: of racks of which some are empty, the cluster
 * counts only the first empty one and the racks after it. A request for more than it counts can not be reserved.
 */
function uncounted(graph: ResourceGraph, type: number): number {
  let size = 0;
  const hasLeafBelow = (branch: Branch): boolean => {
    for (const v of branch.children) {
      const below = graph.branchOf.get(v);
      if (below === undefined && graph.type[v] === type) return true;
      if (below === undefined) continue;
      if (below.type === type) size += graph.size[v]!;
      if (hasLeafBelow(below)) return true;
    }
    return false;
  };
  const isMixed = [...graph.branchOf.values()].some((branch) => branch.type === type);
  if (isMixed) hasLeafBelow(graph.root);
  return size;
}
