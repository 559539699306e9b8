/** What is left of a grant when its workload runs fewer pods at once: the lowest units of each node. */
import { askOf } from '../jobspec/jobspec';
import type { WorkloadRow } from '../queue/workload';
import { formatIdset, parseIdset } from '../resources/idset';
import type { AllocatedNode, Allocation } from '../resources/types';
import { placementOf } from './assignment';

export interface ReducedGrant {
  readonly allocation: Allocation;
  readonly freed: readonly AllocatedNode[];
}

/**
 * @param needed pods that may still run at once on each node
 * @returns undefined if the grant stays as it is: whole nodes are never divided, and the last pod is freed by the end of the
 *   workload
 */
export function reducedGrant(
  row: Pick<WorkloadRow, 'allocation' | 'jobspec'>,
  needed: ReadonlyMap<string, number>,
): ReducedGrant | undefined {
  const { allocation } = row;
  const { exclusive, perPod } = askOf(row.jobspec);
  if (allocation === null || exclusive || allocation.nodes.some((node) => node.exclusive === true))
    return undefined;
  const slots = new Map(placementOf(row).map(({ node, pods }) => [node, pods]));
  const parts = allocation.nodes.map((node) => {
    const before = slots.get(node.name) ?? 0;
    return divided(node, perPod, Math.min(before, needed.get(node.name) ?? 0), before);
  });
  const kept = parts.flatMap((part) => part.kept ?? []);
  const freed = parts.flatMap((part) => part.freed ?? []);
  if (kept.length === 0 || freed.length === 0) return undefined;
  return { allocation: { ...allocation, nodes: kept }, freed };
}

interface Parts {
  readonly kept?: AllocatedNode;
  readonly freed?: AllocatedNode;
}

/** @param before pods that the units of the node make */
function divided(
  node: AllocatedNode,
  perPod: Readonly<Record<string, number>>,
  after: number,
  before: number,
): Parts {
  if (after === before) return { kept: node };
  if (after === 0) return { freed: node };
  return {
    kept: withUnits(node, perPod, (ids, count) => ids.slice(0, after * count)),
    freed: withUnits(node, perPod, (ids, count) => ids.slice(after * count)),
  };
}

function withUnits(
  node: AllocatedNode,
  perPod: Readonly<Record<string, number>>,
  part: (ids: readonly number[], count: number) => readonly number[],
): AllocatedNode {
  const units = Object.entries(node.units).map(
    ([type, ids]) => [type, formatIdset(part(parseIdset(ids), perPod[type] ?? 0))] as const,
  );
  return { ...node, units: Object.fromEntries(units) };
}
