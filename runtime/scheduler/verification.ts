/** Compares what Fluxion holds with what it should hold. */
import type { Allocation } from '../resources/types';

/**
 * The first job that holds other units than it should. The order of nodes and units does not matter.
 * @returns undefined if there is none
 */
export function firstDifference(
  held: ReadonlyMap<number, Allocation>,
  expected: ReadonlyMap<number, Allocation>,
): string | undefined {
  for (const jobid of new Set([...expected.keys(), ...held.keys()])) {
    const [should, does] = [unitsOf(expected.get(jobid)), unitsOf(held.get(jobid))];
    if (should !== does) return `job ${jobid} should hold ${should} but holds ${does}`;
  }
  return undefined;
}

/** Which units of which nodes, in a fixed order. */
function unitsOf(allocation: Allocation | undefined): string {
  if (allocation === undefined) return 'nothing';
  const parts = allocation.nodes.map(({ name, units }) => {
    const held = Object.entries(units).map(([type, ids]) => `${type} ${ids}`);
    return `${name} (${held.sort().join(', ')})`;
  });
  return parts.sort().join(', ');
}
