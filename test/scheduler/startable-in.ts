/** What waits in a simulation although it could start, as the controller counts it. */
import type { WorkloadRow } from '../../runtime/queue/workload';
import { inOrder } from '../../runtime/scheduler/pass/order';
import { mayBePlanned } from '../../runtime/scheduler/queue-plan';
import { type StartableInput, startable } from '../../runtime/scheduler/startable';
import type { Simulation } from './pass/simulation';

/** @returns none if the time was used up */
export async function startableIn(
  sim: Simulation,
  over: Partial<StartableInput> = {},
): Promise<readonly WorkloadRow[]> {
  const rows = [...sim.rows.values()].filter(({ phase }) => phase !== 'Finished');
  const found = await startable({
    now: sim.now,
    nodes: new Map(sim.nodes.map((node) => [node.name, node])),
    unmanaged: new Map(),
    match: 'lonode',
    queues: sim.queuesOf(rows).map(({ settings }) => settings),
    holders: rows.filter(({ allocation }) => allocation !== null),
    line: inOrder(rows.filter(mayBePlanned)),
    reservations: sim.reservations,
    surroundings: sim.surroundings(),
    isOver: () => false,
    rest: () => undefined,
    ...over,
  });
  return found ?? [];
}
