/** What of an allocation still exists in the graph: replaying more would be refused. */
import { formatIdset, parseIdset } from '../fluxion/jgf/allocation';
import type { AllocatedNode, Allocation, GraphNode } from '../resources/types';

/** @returns undefined when none of its nodes is there */
export function clipAllocation(
  allocation: Allocation,
  nodes: ReadonlyMap<string, GraphNode>,
): Allocation | undefined {
  const kept = allocation.nodes.flatMap((part) => {
    const node = nodes.get(part.name);
    return node === undefined ? [] : [clipNode(part, node)];
  });
  if (kept.length === 0) return undefined;
  return { ...allocation, nodes: kept };
}

function clipNode(part: AllocatedNode, { units }: GraphNode): AllocatedNode {
  const kept = Object.entries(part.units)
    .map(([type, ids]) => [type, parseIdset(ids).filter((id) => id < (units[type] ?? 0))] as const)
    .filter(([, ids]) => ids.length > 0)
    .map(([type, ids]) => [type, formatIdset(ids)] as const);
  return { ...part, units: Object.fromEntries(kept) };
}
