/** The plan of the queue as it is some time after a pass. */
import type { FairUsage } from '../queue/fair-usage';
import { runtimesBy } from '../queue/usual-runtimes';
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

/** When the first of each queue start. */
export interface Starts {
  /** By walltimes, of those without a promise. */
  readonly planned: PlannedStarts;
  /** By usual runtimes. */
  readonly likely: PlannedStarts;
}

/** @returns undefined if the time was used up before anything could be planned */
export async function planAfter(
  { workloadCache, queue, queues, nodes, config, now }: Shared,
  { line, reservations }: PassResult,
  { fairUsage, ...given }: Given,
): Promise<Starts | undefined> {
  // What started or left since the pass is not in line any more; a promise may be lost with it.
  const rows = line.map(({ uid }) => workloadCache.byUid(uid)).filter((row) => row !== undefined);
  const waiting = plannedLine(rows.filter(mayBePlanned));
  if (waiting.length === 0) return { planned: new Map(), likely: new Map() };
  const runtimeOf = runtimesBy(await queue.usualParts());
  const second = Math.floor(now());
  const fairShare = fairUsage(second);
  const present = new Set(waiting.map(({ uid }) => uid));
  const input: PlanInput = {
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
  };
  const planned = needsPlan(waiting) ? await planStarts(input) : new Map();
  const likely = runtimeOf === undefined ? new Map() : await planStarts({ ...input, runtimeOf });
  return planned && { planned, likely: likely ?? new Map() };
}
