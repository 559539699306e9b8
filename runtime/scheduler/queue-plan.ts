/**
 * When the first in line would start if nothing were submitted and every workload used its walltime. A scheduling pass
 * plans it on a matcher of its own, as if every queue were conservative, and nothing of it is decided: quota, limits, order
 * and placement rules count as in any pass (docs/decisions/0038-defaults.md).
 */
import type { MatchPolicy } from '../../constructs/api/policies';
import { hasCode } from '../errors';
import { embeddedFluxion } from '../fluxion/matcher/engine';
import type { Fluxion } from '../fluxion/types';
import type { Logger } from '../observability/log';
import type { QueueSettings } from '../queue/settings';
import type { WaitUpdate, WorkloadRow } from '../queue/workload';
import type { Allocation, GraphNode, UnitCounts } from '../resources/types';
import { runPass } from './pass/pass';
import type { Reservation } from './pass/reservations';
import type { PassInput, PassQueue } from './pass/types';
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

/** @returns undefined if the time was used up before anything could be planned */
export async function planStarts(input: PlanInput): Promise<PlannedStarts | undefined> {
  const plan = await planQueue(input);
  if (plan === undefined) return undefined;
  const starts = new Map([...plan.allocations].map(([uid, { start }]) => [uid, start] as const));
  for (const { uid } of input.reservations) starts.delete(uid);
  return starts;
}

/** @returns undefined if the time was used up before anything could be planned */
export async function planQueue(input: PlanInput): Promise<QueuePlan | undefined> {
  const matcher = await matcherFor(input);
  if (matcher === undefined) return undefined;
  const { now, surroundings, units, fairShare, outcomeOf, reservations } = input;
  const result = await runPass({
    now,
    queues: plannedQueues(input),
    matcher,
    reservations,
    freed: false,
    graphGrew: false,
    nodes: [...input.nodes.values()],
    unmanaged: input.unmanaged,
    interrupted: input.isOver,
    rest: input.rest,
    ...(surroundings && { surroundings }),
    ...(units && { units }),
    ...(fairShare && { fairShare }),
    ...(outcomeOf && { outcomeOf }),
  });
  await matcher.close();
  const waits = new Map(result.waits.map((wait) => [wait.uid, wait]));
  const allocations = new Map(result.grants.map(({ uid, allocation }) => [uid, allocation]));
  // A start that depends on a predicted end is no estimate.
  for (const { uid, allocation } of result.reservations)
    if (waits.get(uid)?.estimatedStart != null) allocations.set(uid, allocation);
  // A promise is kept, unless the plan made another one.
  for (const { uid, allocation } of reservations) if (!allocations.has(uid)) allocations.set(uid, allocation);
  return { allocations: inQueueOrder(allocations, input), waits };
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

/** Nobody is evicted in a plan, and every workload of it is planned behind those before it. */
function plannedQueues({ queues, holders, line, reservations, perQueue }: PlanInput): readonly PassQueue[] {
  const held = Map.groupBy(holders, ({ queue }) => queue);
  const first = firstInLine(line, perQueue);
  const reserved = new Set(reservations.map(({ uid }) => uid));
  const promised = Map.groupBy(
    line.filter(({ uid }) => reserved.has(uid)),
    ({ queue }) => queue,
  );
  return queues.map((settings) => {
    const waiting = new Set([...(promised.get(settings.name) ?? []), ...(first.get(settings.name) ?? [])]);
    return {
      settings: { ...settings, policy: 'conservative', depth: waiting.size, preempts: false, reclaim: false },
      // Without a message every wait is news.
      rows: [...(held.get(settings.name) ?? []), ...[...waiting].map((row) => ({ ...row, message: '' }))],
    };
  });
}

/**
 * In a fcfs queue nobody starts before those ahead: the plan is the earliest start of which that is true. When one starts
 * behind a workload without a plan is not known.
 */
function inQueueOrder(
  planned: Map<string, Allocation>,
  { queues, line, perQueue }: PlanInput,
): ReadonlyMap<string, Allocation> {
  const first = firstInLine(line, perQueue);
  for (const { name } of queues.filter(({ policy }) => policy === 'fcfs')) {
    let earliest = Number.NEGATIVE_INFINITY;
    for (const { uid } of first.get(name) ?? []) {
      const allocation = planned.get(uid);
      earliest = Math.max(earliest, allocation?.start ?? Number.POSITIVE_INFINITY);
      if (allocation === undefined) continue;
      if (Number.isFinite(earliest)) planned.set(uid, startingAt(allocation, earliest));
      else planned.delete(uid);
    }
  }
  return planned;
}

function startingAt(allocation: Allocation, start: number): Allocation {
  return { ...allocation, start, end: allocation.end + start - allocation.start };
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
