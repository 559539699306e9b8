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
  const kept: AllocatedNode[] = [];
  const freed: AllocatedNode[] = [];
  for (const node of allocation.nodes) {
    const before = slots.get(node.name) ?? 0;
    const after = Math.min(before, needed.get(node.name) ?? 0);
    if (after > 0)
      kept.push(
        after === before ? node : withUnits(node, perPod, (ids, count) => ids.slice(0, after * count)),
      );
    if (after < before)
      freed.push(after === 0 ? node : withUnits(node, perPod, (ids, count) => ids.slice(after * count)));
  }
  return kept.length === 0 || freed.length === 0
    ? undefined
    : { allocation: { ...allocation, nodes: kept }, freed };
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
