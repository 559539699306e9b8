/** The part of an allocation that still exists in the graph: Fluxion would refuse to replay more. */
import { formatIdset, parseIdset } from '../resources/idset';
import type { AllocatedNode, Allocation, GraphNode } from '../resources/types';

/** @returns undefined if none of its nodes is in the graph */
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
