/** What a plan of the queue is made of, and which workloads are in it. How it is made: forward-plan.ts. */
import type { MatchPolicy } from '../../constructs/api/policies';
import { hasCode } from '../errors';
import { embeddedFluxion } from '../fluxion/matcher/engine';
import type { Fluxion } from '../fluxion/types';
import type { Logger } from '../observability/log';
import type { QueueSettings } from '../queue/settings';
import type { WaitUpdate, WorkloadRow } from '../queue/workload';
import type { Allocation, GraphNode, UnitCounts } from '../resources/types';
import type { Reservation } from './pass/reservations';
import type { PassInput } from './pass/types';
import { heldAllocations } from './replay';
import { UnmanagedUsage } from './unmanaged-usage';

/** So many workloads of each queue are planned for FluxJobs. */
export const PLANNED = 16;

export interface PlanInput
  extends Pick<PassInput, 'now' | 'surroundings' | 'units' | 'fairShare' | 'outcomeOf'> {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly unmanaged: ReadonlyMap<string, UnitCounts>;
  readonly match: MatchPolicy;
  readonly queues: readonly QueueSettings[];
  /** Rows with an allocation. */
  readonly holders: readonly WorkloadRow[];
  /** Waiting rows in the order in which a pass places them. */
  readonly line: readonly WorkloadRow[];
  /** The promises of the last pass. They are kept. */
  readonly reservations: readonly Reservation[];
  /** How many workloads of each queue are planned. @default PLANNED */
  readonly perQueue?: number;
  /** Whether the time for the plan is used up: it ends with what it has. */
  readonly isOver: () => boolean;
  /** Called between parts of the work. */
  readonly rest: () => Promise<void> | undefined;
}

/** uid -> Unix seconds, of workloads without a reservation. */
export type PlannedStarts = ReadonlyMap<string, number>;

/** Whether one of the first in line has no promised start. */
export function needsPlan(line: readonly WorkloadRow[]): boolean {
  return [...firstInLine(line).values()].flat().some(({ estimatedStart }) => estimatedStart === null);
}

/** What a plan says of the workloads that it contains. */
export interface QueuePlan {
  /** uid -> what it would hold and when, also of those with a reservation. A start that nobody can tell is left out. */
  readonly allocations: ReadonlyMap<string, Allocation>;
  /** uid -> why it does not start at once. */
  readonly waits: ReadonlyMap<string, WaitUpdate>;
}

/** The first of each queue, by queue. */
function firstInLine(
  line: readonly WorkloadRow[],
  perQueue = PLANNED,
): ReadonlyMap<string, readonly WorkloadRow[]> {
  const first = new Map<string, WorkloadRow[]>();
  for (const row of line) {
    const rows = first.get(row.queue) ?? [];
    first.set(row.queue, rows);
    if (rows.length < perQueue) rows.push(row);
  }
  return first;
}

/** The first of each queue, and all that are promised a start. */
export function plannedRows({
  line,
  reservations,
  perQueue,
}: Pick<PlanInput, 'line' | 'reservations' | 'perQueue'>): readonly WorkloadRow[] {
  const promised = new Set(reservations.map(({ uid }) => uid));
  const first = new Set([...firstInLine(line, perQueue).values()].flat());
  return line.filter((row) => first.has(row) || promised.has(row.uid));
}

/** A matcher that holds what Fluxion holds; undefined if the time was used up before it was ready. */
export async function matcherFor(input: PlanInput): Promise<Fluxion | undefined> {
  const { nodes, match, now, unmanaged, holders, reservations, rest, isOver } = input;
  const matcher = embeddedFluxion();
  await matcher.init({ nodes: [...nodes.values()], policy: match, now });
  const held = [...heldAllocations(holders, nodes, now).byJob.values()];
  const usage = new UnmanagedUsage(matcher, SILENT);
  const parts = [
    ...held.map((allocation) => () => replayed(matcher, allocation, now)),
    () =>
      usage.update(
        [...unmanaged.keys()].filter((name) => nodes.has(name)),
        unmanaged,
        now,
      ),
    ...reservations.map(
      ({ allocation }) =>
        () =>
          replayed(matcher, allocation, now),
    ),
  ];
  for (const part of parts) {
    await part();
    await rest();
    if (isOver()) return undefined;
  }
  return matcher;
}

/** Units that two workloads hold are the concern of the controller's own graph. */
async function replayed(matcher: Fluxion, allocation: Allocation, now: number): Promise<void> {
  try {
    await matcher.replay([allocation], now);
  } catch (error) {
    if (!hasCode(error, 'FLUXQ_FLUXION_REPLAY')) throw error;
  }
}

/** What it would say was said for the controller's own graph. */
const SILENT: Pick<Logger, 'warn' | 'debug'> = { warn: () => undefined, debug: () => undefined };
