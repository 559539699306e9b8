/** Compares what Fluxion holds with what it should hold. */
import { countIdset } from '../resources/idset';
import type { Allocation } from '../resources/types';

/**
 * The first job that holds other units than it should. The order of nodes and units does not matter.
 * @param moved jobs that had to get other units: only their number has to be right
 * @returns undefined if there is none
 */
export function firstDifference(
  held: ReadonlyMap<number, Allocation>,
  expected: ReadonlyMap<number, Allocation>,
  moved: ReadonlySet<number> = new Set(),
): string | undefined {
  for (const jobid of new Set([...expected.keys(), ...held.keys()])) {
    const text = moved.has(jobid) ? countsOf : idsOf;
    const [should, does] = [unitsOf(expected.get(jobid), text), unitsOf(held.get(jobid), text)];
    if (should !== does) return `job ${jobid} should hold ${should} but holds ${does}`;
  }
  return undefined;
}

type UnitText = (type: string, ids: string) => string;
const idsOf: UnitText = (type, ids) => `${type} ${ids}`;
const countsOf: UnitText = (type, ids) => `${countIdset(ids)} ${type}`;

/** Which units of which nodes, in a fixed order. */
function unitsOf(allocation: Allocation | undefined, text: UnitText): string {
  if (allocation === undefined) return 'nothing';
  const parts = allocation.nodes.map(({ name, units }) => {
    const held = Object.entries(units).map(([type, ids]) => text(type, ids));
    return `${name} (${held.sort().join(', ')})`;
  });
  return parts.sort().join(', ');
}
