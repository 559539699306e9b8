/** Reservations that are made again. */
import { isDeepStrictEqual } from 'node:util';
import { narrowedTo } from '../../jobspec/constraints';
import type { Jobspec, JobspecResource } from '../../jobspec/types';
import { parseIdset } from '../../resources/idset';
import type { Allocation } from '../../resources/types';

/** Whether two allocations have the same start and the same units of the same nodes. */
export function sameGrant(a: Allocation, b: Allocation): boolean {
  const nodesOf = ({ nodes }: Allocation) =>
    new Map(nodes.map(({ exclusive = false, ...node }) => [node.name, { ...node, exclusive }]));
  return a.start === b.start && isDeepStrictEqual(nodesOf(a), nodesOf(b));
}

/** The jobspec with the constraint that it runs on these nodes only. */
export function onNodes(jobspec: Jobspec, nodes: Allocation['nodes']): Jobspec {
  return narrowedTo(jobspec, { hostlist: nodes.map(({ name }) => name) });
}

/**
 * A request for the units of an allocation, which finds them where nothing else is free. Undefined if some of its nodes are held as a
 * whole and others are not.
 */
export function requestFor({ nodes, start, end }: Allocation): Jobspec | undefined {
  const whole = nodes.filter(({ exclusive }) => exclusive).length;
  if (nodes.length === 0 || (whole > 0 && whole < nodes.length)) return undefined;
  // A slot would have all of its units on one node.
  const resources: JobspecResource[] =
    whole > 0
      ? [{ type: 'node', count: whole, exclusive: true }]
      : unitsOf(nodes).map(([type, count]) => ({ type, count, exclusive: true }));
  return {
    version: 1,
    resources,
    tasks: [{ command: ['reserve'], slot: 'task', count: { per_slot: 1 } }],
    attributes: { system: { duration: end - start } },
  };
}

function unitsOf(nodes: Allocation['nodes']): [type: string, count: number][] {
  const totals = new Map<string, number>();
  for (const { units } of nodes)
    for (const [type, ids] of Object.entries(units))
      totals.set(type, (totals.get(type) ?? 0) + parseIdset(ids).length);
  return [...totals].filter(([, count]) => count > 0);
}
