/** The size of a workload as a factor of its priority: its largest part of the cores, the memory or the GPUs of all nodes. */
import { DEFAULT_UNITS, type UnitSettings } from '../../jobspec/units';
import type { WorkloadRow } from '../../queue/workload';
import type { GraphNode } from '../../resources/types';
import { clusterOf } from './cluster';
import { LeastUsages } from './least-usages';
import { DIMENSIONS, type Usage, usageOf } from './usage';

/** Jobs and pods are counted, and no node has a number of them. */
const MEASURED = DIMENSIONS.map((dimension, i) => ({ dimension, i })).filter(
  ({ dimension }) => dimension !== 'jobs' && dimension !== 'pods',
);

/** Every pass asks, and the answer is the same for as long as no node changes. */
const totals = new WeakMap<readonly GraphNode[], Usage>();

/** @returns for each row a factor from 0 to 1 */
export function jobSizes(
  nodes: readonly GraphNode[],
  units: UnitSettings = DEFAULT_UNITS,
): (row: WorkloadRow) => number {
  const least = new LeastUsages(clusterOf(nodes), units);
  const all = totals.get(nodes) ?? totalOf(nodes, units);
  totals.set(nodes, all);
  return (row) => {
    const { amounts } = least.of(row);
    return MEASURED.reduce(
      (most, { i }) => Math.max(most, all[i] === 0 ? 0 : Math.min(1, amounts[i]! / all[i]!)),
      0,
    );
  };
}

function totalOf(nodes: readonly GraphNode[], units: UnitSettings): Usage {
  const counts: Record<string, number> = {};
  for (const node of nodes)
    for (const [type, count] of Object.entries(node.units)) counts[type] = (counts[type] ?? 0) + count;
  return usageOf(0, units, counts);
}
