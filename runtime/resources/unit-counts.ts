import { countIdset } from './idset';
import type { Allocation, UnitCounts } from './types';

/** Every pass and every look at shares asks for all allocations there are; none ever changes. */
const counted = new WeakMap<Allocation, UnitCounts>();

/** How many units of each type an allocation has. */
export function unitCounts(allocation: Allocation): UnitCounts {
  const known = counted.get(allocation);
  if (known !== undefined) return known;
  const counts: Record<string, number> = {};
  for (const { units } of allocation.nodes)
    for (const type in units) counts[type] = (counts[type] ?? 0) + countIdset(units[type]!);
  counted.set(allocation, counts);
  return counts;
}
