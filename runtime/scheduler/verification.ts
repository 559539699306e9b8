/** Compares what Fluxion holds with what it should hold. */
import type { Allocation } from '../resources/types';

/** A job that holds other units than it should. */
export interface Difference {
  readonly text: string;
  /** The nodes on which it holds units or should. */
  readonly nodes: readonly string[];
}

type Jobs = ReadonlyMap<number, Allocation>;

/** The jobs that hold other units than they should. The order of nodes and units does not matter. */
export function* differences(held: Jobs, expected: Jobs): Iterable<Difference> {
  for (const jobid of new Set([...expected.keys(), ...held.keys()])) {
    const [wanted, has] = [expected.get(jobid), held.get(jobid)];
    const [should, does] = [unitsOf(wanted), unitsOf(has)];
    if (should === does) continue;
    const nodes = new Set([...(wanted?.nodes ?? []), ...(has?.nodes ?? [])].map(({ name }) => name));
    yield { text: `job ${jobid} should hold ${should} but holds ${does}`, nodes: [...nodes] };
  }
}

/** Which units of which nodes, in a fixed order. */
function unitsOf(allocation: Allocation | undefined): string {
  if (allocation === undefined || allocation.nodes.length === 0) return 'nothing';
  const parts = allocation.nodes.map(({ name, units }) => {
    const held = Object.entries(units).map(([type, ids]) => `${type} ${ids}`);
    return `${name} (${held.sort().join(', ')})`;
  });
  return parts.sort().join(', ');
}
