/** Reservations that are made again. */
import { isDeepStrictEqual } from 'node:util';
import { narrowed } from '../../jobspec/constraints';
import type { Jobspec } from '../../jobspec/types';
import type { Allocation } from '../../resources/types';

/** Whether two allocations have the same start and the same units of the same nodes. */
export function sameGrant(a: Allocation, b: Allocation): boolean {
  const nodesOf = ({ nodes }: Allocation) => new Map(nodes.map((node) => [node.name, node]));
  return a.start === b.start && isDeepStrictEqual(nodesOf(a), nodesOf(b));
}

/** The jobspec with the constraint that it runs on these nodes only. */
export function onNodes(jobspec: Jobspec, nodes: Allocation['nodes']): Jobspec {
  const { attributes } = jobspec;
  const constraints = narrowed(attributes.system.constraints, { hostlist: nodes.map(({ name }) => name) });
  return { ...jobspec, attributes: { ...attributes, system: { ...attributes.system, constraints } } };
}
