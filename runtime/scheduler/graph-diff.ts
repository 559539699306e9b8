/** What has to change in Fluxion's graph when nodes change. */
import { isDeepStrictEqual } from 'node:util';
import type { Allocation, GraphNode } from '../resources/types';

type Nodes = ReadonlyMap<string, GraphNode>;

export interface GraphDiff {
  /** Names of nodes to remove. */
  readonly removed: readonly string[];
  readonly added: readonly GraphNode[];
  /** Names of nodes that came up. */
  readonly up: readonly string[];
  /** Names of nodes that went down. */
  readonly down: readonly string[];
}

/** @param known the nodes of the graph */
export function diffGraph(known: Nodes, desired: Nodes): GraphDiff {
  const turned = [...desired.values()].filter((node) => {
    const before = known.get(node.name);
    return before !== undefined && isUp(before) !== isUp(node);
  });
  return {
    removed: [...known.keys()].filter((name) => !desired.has(name)),
    added: [...desired.values()].filter(({ name }) => !known.has(name)),
    up: turned.filter(isUp).map(({ name }) => name),
    down: turned.filter((node) => !isUp(node)).map(({ name }) => name),
  };
}

/**
 * Whether allocations have to be replayed: a node changed its units, or a node came back under the jobs that hold it.
 * @param held allocations of the queue
 */
export function needsReplay(known: Nodes, desired: Nodes, held: readonly Allocation[]): boolean {
  const heldNodes = new Set(held.flatMap(({ nodes }) => nodes.map(({ name }) => name)));
  for (const [name, node] of desired) {
    const before = known.get(name);
    if (before === node) continue;
    if (before === undefined ? heldNodes.has(name) : !hasSameUnits(before, node)) return true;
  }
  return false;
}

export function isUp(node: GraphNode): boolean {
  return node.up ?? true;
}

function hasSameUnits(a: GraphNode, b: GraphNode): boolean {
  return isDeepStrictEqual({ ...a, up: true }, { ...b, up: true });
}
