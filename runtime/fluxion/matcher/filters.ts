/**
 * Pruning filters: which types a branch counts below it. For the answers only
 * two things of them matter: the last type is what `first` weighs a child by,
 * and the root's types decide at which times a reservation is tried.
 */
import type { Branch } from './branch';
import type { ResourceGraph } from './resource-graph';

const EVERY = '*';

export class PruneFilters {
  /** Anchor type name, or `*` -> the types counted there, in the order of the type table. */
  private readonly anchors = new Map<string, number[]>();

  /** @param text flux-sched's form, e.g. `ALL:core,ALL:node,cluster:gpu` */
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
    // Since flux-sched 0.46 every other leaf type is counted at the cluster.
    for (const type of leaves) if (!pruned.has(type)) this.count('cluster', type);
  }

  private count(anchor: string, type: number): void {
    const types = this.anchors.get(anchor) ?? [];
    if (!types.includes(type)) types.push(type);
    this.anchors.set(
      anchor,
      types.sort((a, b) => a - b),
    );
  }

  /** In flux-sched's order: those of the anchor, then those counted everywhere. */
  typesAt(branch: Branch, graph: ResourceGraph): number[] {
    const own = this.anchors.get(graph.types.names[branch.type]!) ?? [];
    const everywhere = (this.anchors.get(EVERY) ?? []).filter((type) => type !== branch.type);
    return [...own, ...everywhere];
  }
}
