/** Plans of a simulated cluster. */
import type { QueuePolicy } from '../../constructs/api/policies';
import type { QueueSettings } from '../../runtime/queue/settings';
import type { PassResult } from '../../runtime/scheduler/pass/types';
import { type PlanInput, planStarts } from '../../runtime/scheduler/queue-plan';
import { queueSettings } from './pass/settings';
import type { Simulation } from './pass/simulation';

/** What a plan of the simulated cluster is made of, as it is after a pass. */
export function inputOf(
  sim: Simulation,
  { line, reservations }: PassResult,
  over: Partial<PlanInput>,
): PlanInput {
  const rows = [...sim.rows.values()];
  return {
    now: sim.now,
    nodes: new Map(sim.nodes.map((node) => [node.name, node])),
    unmanaged: new Map(),
    match: 'lonode',
    queues: [settings(sim.policy)],
    holders: rows.filter(({ allocation }) => allocation !== null),
    line: line.map(({ uid }) => sim.row(uid)).filter(({ phase }) => phase === 'Waiting'),
    reservations,
    isOver: () => false,
    rest: () => undefined,
    ...over,
  };
}

/** The plan of the simulated cluster as it is after a pass, in seconds from now. */
export async function planned(sim: Simulation, result: PassResult, over: Partial<PlanInput> = {}) {
  const starts = await planStarts(inputOf(sim, result, over));
  return starts && Object.fromEntries([...starts].map(([uid, start]) => [uid, start - sim.now]));
}

export const settings = (policy: QueuePolicy, over: Partial<QueueSettings> = {}) =>
  queueSettings({ name: 'default', policy, depth: 100, ...over });
