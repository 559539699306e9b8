/** Compares what Fluxion holds with what it should hold. */
import { countIdset } from '../resources/idset';
import type { Allocation } from '../resources/types';

/** A job that holds other units than it should. */
export interface Difference {
  readonly text: string;
  /** The nodes on which it holds units or should. */
  readonly nodes: readonly string[];
}

type Jobs = ReadonlyMap<number, Allocation>;

/**
 * The jobs that hold other units than they should. The order of nodes and units does not matter.
 * @param moved jobs that had to get other units: only their number has to be right
 */
export function* differences(
  held: Jobs,
  expected: Jobs,
  moved: ReadonlySet<number> = new Set(),
): Iterable<Difference> {
  for (const jobid of new Set([...expected.keys(), ...held.keys()])) {
    const text = moved.has(jobid) ? countsOf : idsOf;
    const [wanted, has] = [expected.get(jobid), held.get(jobid)];
    const [should, does] = [unitsOf(wanted, text), unitsOf(has, text)];
    if (should === does) continue;
    const nodes = new Set([...(wanted?.nodes ?? []), ...(has?.nodes ?? [])].map(({ name }) => name));
    yield { text: `job ${jobid} should hold ${should} but holds ${does}`, nodes: [...nodes] };
  }
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
