import type { Allocation, GraphNode } from '../resources/types';

/** The nodes of a graph as an array, the same one for as long as no node changes. */
export class NodeList {
  private known: ReadonlyMap<string, GraphNode> | undefined;
  private list: readonly GraphNode[] = [];

  /** The array that was made last. */
  get latest(): readonly GraphNode[] {
    return this.list;
  }

  of(known: ReadonlyMap<string, GraphNode>): readonly GraphNode[] {
    if (this.known !== known) this.list = [...known.values()];
    this.known = known;
    return this.list;
  }

  /** Whether a node of the allocation is gone or different since the array was made. */
  isOutdated(allocation: Allocation, nodes: ReadonlyMap<string, GraphNode>): boolean {
    return allocation.nodes.some(({ name }) => nodes.get(name) !== this.known?.get(name));
  }
}
