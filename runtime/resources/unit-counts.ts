import { countIdset, parseRanges } from './idset';
import type { AllocatedNode, Allocation, UnitCounts, UnitIds } from './types';

/** Every pass counts all allocations. They never change, so the counts are kept with them. */
const counted = new WeakMap<Allocation, UnitCounts>();

/** Number of units of an allocation by type. */
export function unitCounts(allocation: Allocation): UnitCounts {
  const known = counted.get(allocation);
  if (known !== undefined) return known;
  const counts: Record<string, number> = {};
  for (const { units } of allocation.nodes)
    for (const type in units) counts[type] = (counts[type] ?? 0) + countIdset(units[type]!);
  counted.set(allocation, counts);
  return counts;
}

const countedByNode = new WeakMap<Allocation, ReadonlyMap<string, UnitCounts | 'all'>>();

/** Number of units that the allocation has of a node by type; none where it has nothing, `all` where it has the node. */
export function unitsOn(allocation: Allocation, node: string): UnitCounts | 'all' {
  let nodes = countedByNode.get(allocation);
  if (nodes === undefined) {
    nodes = new Map(
      allocation.nodes.map(({ name, units, exclusive }) => [name, exclusive ? 'all' : countsOf(units)]),
    );
    countedByNode.set(allocation, nodes);
  }
  return nodes.get(node) ?? {};
}

/** Number of units by type. */
export function countsOf(units: UnitIds): UnitCounts {
  return Object.fromEntries(Object.entries(units).map(([type, ids]) => [type, countIdset(ids)]));
}

export function addUnits(all: readonly UnitCounts[]): UnitCounts {
  const sum: Record<string, number> = {};
  for (const counts of all) for (const type in counts) sum[type] = (sum[type] ?? 0) + counts[type]!;
  return sum;
}

/** Whether both have a unit of the node in common. */
export function shareUnits(a: Pick<AllocatedNode, 'units'>, b: Pick<AllocatedNode, 'units'>): boolean {
  return Object.entries(a.units).some(([type, ids]) => {
    const others = parseRanges(b.units[type] ?? '');
    return parseRanges(ids).some(([from, to]) => others.some(([first, last]) => first < to && from < last));
  });
}
