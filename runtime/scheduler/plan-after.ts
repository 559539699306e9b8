/** The plan of the queue as it is some time after a pass. */
import type { FairUsage } from '../queue/fair-usage';
import type { Shared } from '../shared/shared';
import type { Surroundings } from './pass/placed-pods';
import type { PassResult } from './pass/types';
import {
  mayBePlanned,
  needsPlan,
  type PlanInput,
  type PlannedStarts,
  plannedLine,
  planStarts,
} from './queue-plan';

interface Given extends Pick<PlanInput, 'unmanaged' | 'surpluses' | 'isOver' | 'rest'> {
  readonly surroundings: Surroundings;
  /** As for a pass at this second. */
  readonly fairUsage: (now: number) => FairUsage | undefined;
}

/** @returns undefined if the time was used up before anything could be planned */
export async function planAfter(
  { workloadCache, queues, nodes, config, now }: Shared,
  { line, reservations }: PassResult,
  { fairUsage, ...given }: Given,
): Promise<PlannedStarts | undefined> {
  // What started or left since the pass is not in line any more; a promise may be lost with it.
  const rows = line.map(({ uid }) => workloadCache.byUid(uid)).filter((row) => row !== undefined);
  const waiting = plannedLine(rows.filter(mayBePlanned));
  if (!needsPlan(waiting)) return new Map();
  const second = Math.floor(now());
  const fairShare = fairUsage(second);
  const present = new Set(waiting.map(({ uid }) => uid));
  return planStarts({
    ...given,
    now: second,
    nodes: nodes.graphNodes(),
    match: config.fluxion.policy,
    queues: queues.all(),
    holders: [...workloadCache.active()].filter(({ allocation }) => allocation !== null),
    line: waiting,
    reservations: reservations.filter(({ uid }) => present.has(uid)),
    units: config.units,
    outcomeOf: workloadCache.outcomeOf.bind(workloadCache),
    ...(fairShare && { fairShare }),
  });
}
