/** When those at the front of the queue would start, planned as the controller plans it, but from rows and to the second. */
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { GraphNode } from '../../runtime/resources/types';
import { planStarts } from '../../runtime/scheduler/forward-plan';
import { inOrder } from '../../runtime/scheduler/pass/order';
import { type Plans, precedenceAt, QUEUE } from './snapshot';

/** With more nodes a plan would take longer than the time between two pictures. */
const MOST_NODES = 500;

/** @param now Unix seconds */
export async function plansOf(
  rows: readonly WorkloadRow[],
  graph: readonly GraphNode[],
  now: number,
): Promise<Plans> {
  if (graph.length > MOST_NODES) return new Map();
  const line = rows.filter(({ phase, reason }) => phase === 'Waiting' && reason !== 'Unsatisfiable');
  const plans = await planStarts({
    now: Math.floor(now),
    nodes: new Map(graph.map((node) => [node.name, node])),
    unmanaged: new Map(),
    match: 'lonode',
    queues: [QUEUE],
    holders: rows.filter(({ phase, allocation }) => phase !== 'Finished' && allocation !== null),
    line: inOrder(line, precedenceAt(now)),
    reservations: [],
    isOver: () => false,
    rest: () => undefined,
  });
  return plans ?? new Map();
}
