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

/**
 * @param known the nodes of the graph
 * @param replaced names of nodes that are replaced as a whole
 */
export function diffGraph(
  known: Nodes,
  desired: Nodes,
  replaced: ReadonlySet<string> = new Set(),
): GraphDiff {
  const others = [...desired.values()].filter(({ name }) => !replaced.has(name));
  const turned = others.filter((node) => {
    const before = known.get(node.name);
    return before !== undefined && before !== node && isUp(before) !== isUp(node);
  });
  return {
    removed: [...known.keys()].filter((name) => !desired.has(name)),
    added: others.filter(({ name }) => !known.has(name)),
    up: turned.filter(isUp).map(({ name }) => name),
    down: turned.filter((node) => !isUp(node)).map(({ name }) => name),
  };
}

/**
 * The nodes under which allocations have to be replayed: those that changed their units, and those that came back under
 * the jobs that hold them.
 * @param held allocations of the queue
 */
export function replacedNodes(
  known: Nodes,
  desired: Nodes,
  held: readonly Allocation[],
): ReadonlySet<string> {
  const changed = [...desired.values()].filter((node) => known.get(node.name) !== node);
  const replaced = new Set<string>();
  const fresh = new Set<string>();
  for (const node of changed) {
    const before = known.get(node.name);
    if (before === undefined) fresh.add(node.name);
    else if (!hasSameUnits(before, node)) replaced.add(node.name);
  }
  if (fresh.size === 0) return replaced;
  for (const { nodes } of held) for (const { name } of nodes) if (fresh.has(name)) replaced.add(name);
  return replaced;
}

/** Whether the node offers no unit and no property that it did not offer before. */
export function onlyShrank(before: GraphNode, after: GraphNode): boolean {
  const types = Object.keys(after.units);
  return (
    types.every((type) => after.units[type]! <= (before.units[type] ?? 0)) &&
    isDeepStrictEqual({ ...before, units: {} }, { ...after, units: {} })
  );
}

export function isUp(node: GraphNode): boolean {
  return node.up ?? true;
}

function hasSameUnits(a: GraphNode, b: GraphNode): boolean {
  return isDeepStrictEqual({ ...a, up: true }, { ...b, up: true });
}
