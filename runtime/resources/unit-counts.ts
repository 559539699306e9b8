import { countIdset } from './idset';
import type { Allocation, UnitCounts } from './types';

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
