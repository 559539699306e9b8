/** A matcher of its own for what is only asked: a plan, or whether work waits that could start. */
import type { MatchPolicy } from '../../constructs/api/policies';
import { hasCode } from '../errors';
import { embeddedFluxion } from '../fluxion/matcher/engine';
import type { Fluxion } from '../fluxion/types';
import type { Logger } from '../observability/log';
import type { WorkloadRow } from '../queue/workload';
import type { Allocation, GraphNode, UnitCounts } from '../resources/types';
import type { Reservation } from './pass/reservations';
import { heldAllocations } from './replay';
import { UnmanagedUsage } from './unmanaged-usage';

export interface GraphInput {
  /** Unix seconds. */
  readonly now: number;
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly unmanaged: ReadonlyMap<string, UnitCounts>;
  readonly match: MatchPolicy;
  /** Rows with an allocation. */
  readonly holders: readonly WorkloadRow[];
  /** The promises of the last pass. They are kept. */
  readonly reservations: readonly Reservation[];
  /** Whether the time for it is used up: it ends with what it has. */
  readonly isOver: () => boolean;
  /** Called between parts of the work. */
  readonly rest: () => Promise<void> | undefined;
}

/** What Fluxion holds, as far as a matcher of its own can hold it. */
export interface PlanGraph {
  readonly matcher: Fluxion;
  readonly reservations: readonly Reservation[];
}

/** A plan graph that gets what it holds. */
interface Filling extends PlanGraph {
  readonly reservations: Reservation[];
}

/** @returns undefined if the time was used up before it was ready */
export async function planGraph(input: GraphInput): Promise<PlanGraph | undefined> {
  const { rest, isOver } = input;
  const graph: Filling = { matcher: embeddedFluxion(), reservations: [] };
  for await (const _part of filling(graph, input)) {
    await rest();
    if (isOver()) return undefined;
  }
  return graph;
}

/** Gives the matcher all that it has to hold, one node, workload or promise after the other. */
async function* filling(
  { matcher, reservations }: Filling,
  { nodes, match, now, unmanaged, holders, reservations: promised }: GraphInput,
): AsyncGenerator<unknown> {
  yield await matcher.init({ nodes: [...nodes.values()], policy: match, now });
  for (const allocation of heldAllocations(holders, nodes, now).byJob.values()) {
    yield await replayed(matcher, allocation, now);
  }
  for (const reservation of promised) {
    if (await replayed(matcher, reservation.allocation, now)) reservations.push(reservation);
    yield reservation;
  }
  // Promises name units, and what pods outside the queue use is a number: these take what promises leave.
  const usage = new UnmanagedUsage(matcher, SILENT);
  const missing = () => usage.changedNodes(nodes, unmanaged, false);
  yield* usage.updates(missing(), unmanaged, now);
  // They run already: where they find too little, promises keep nothing from them.
  const crowded = new Set(missing());
  if (crowded.size === 0) return;
  for (const reservation of reservations.splice(0)) {
    const isInTheWay = reservation.allocation.nodes.some(({ name }) => crowded.has(name));
    if (isInTheWay) await matcher.cancel(reservation.jobid);
    else reservations.push(reservation);
  }
  yield* usage.updates([...crowded], unmanaged, now);
}

/** Units that two workloads hold are the concern of the controller's own graph. @returns whether the matcher holds it now */
async function replayed(matcher: Fluxion, allocation: Allocation, now: number): Promise<boolean> {
  try {
    await matcher.replay([allocation], now);
    return true;
  } catch (error) {
    if (!hasCode(error, 'FLUXQ_FLUXION_REPLAY')) throw error;
    return false;
  }
}

/** What it would say was said for the controller's own graph. */
const SILENT: Pick<Logger, 'warn' | 'debug'> = { warn: () => undefined, debug: () => undefined };
