/** The plan of the queue as it is some time after a pass. */
import type { FairUsage } from '../queue/fair-usage';
import { runtimesBy } from '../queue/usual-runtimes';
import type { WorkloadRow } from '../queue/workload';
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
import { startable } from './startable';

/** What is known beside rows and nodes. */
export interface Situation extends Pick<PlanInput, 'unmanaged' | 'surpluses' | 'isOver' | 'rest'> {
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
  shared: Shared,
  result: PassResult,
  given: Situation,
): Promise<Starts | undefined> {
  const waiting = plannedLine(waitingAfter(shared, result));
  if (waiting.length === 0) return { planned: new Map(), likely: new Map() };
  const runtimeOf = runtimesBy(await shared.queue.usualParts());
  const input = inputOf(shared, result, given, waiting);
  const planned = needsPlan(waiting) ? await planStarts(input) : new Map();
  const likely = runtimeOf === undefined ? new Map() : await planStarts({ ...input, runtimeOf });
  return planned && { planned, likely: likely ?? new Map() };
}

/** What waits after a settled pass although it could start; undefined: the time was used up. */
export function startableAfter(
  shared: Shared,
  result: PassResult,
  given: Situation,
): Promise<readonly WorkloadRow[] | undefined> {
  return startable(inputOf(shared, result, given, waitingAfter(shared, result)));
}

/** What started or left since the pass is not in line any more. */
function waitingAfter({ workloadCache }: Shared, { line }: PassResult): readonly WorkloadRow[] {
  const rows = line.map(({ uid }) => workloadCache.byUid(uid)).filter((row) => row !== undefined);
  return rows.filter(mayBePlanned);
}

function inputOf(
  { workloadCache, queues, nodes, config, now }: Shared,
  { reservations }: PassResult,
  { fairUsage, ...given }: Situation,
  line: readonly WorkloadRow[],
): PlanInput {
  const second = Math.floor(now());
  const fairShare = fairUsage(second);
  // A promise may be lost with a workload that left.
  const present = new Set(line.map(({ uid }) => uid));
  return {
    ...given,
    now: second,
    nodes: nodes.graphNodes(),
    match: config.fluxion.policy,
    queues: queues.all(),
    holders: [...workloadCache.active()].filter(({ allocation }) => allocation !== null),
    line,
    reservations: reservations.filter(({ uid }) => present.has(uid)),
    units: config.units,
    outcomeOf: workloadCache.outcomeOf.bind(workloadCache),
    ...(fairShare && { fairShare }),
  };
}
