/** Gives Fluxion back the allocations of the queue's rows after it has lost them. */
import { hasCode, messageOf } from '../errors';
import type { Fluxion, InitRequest } from '../fluxion/types';
import type { Logger } from '../observability/log';
import type { Allocation, GraphNode } from '../resources/types';
import { type FittedAllocations, fitAllocations, type MovedJobs } from './fit-allocations';
import { type Holder, plannedAllocation } from './pass/planned-end';

/**
 * The allocations of rows as Fluxion can hold them now, with their planned ends.
 * @param before what it holds of jobs that have other units than they were granted
 */
export function heldAllocations(
  holders: readonly Holder[],
  nodes: ReadonlyMap<string, GraphNode>,
  now: number,
  before?: MovedJobs,
): FittedAllocations {
  return fitAllocations(
    holders.map((holder) => plannedAllocation(holder, now)),
    nodes,
    before,
  );
}

/**
 * Starts Fluxion from nothing and replays these allocations. Two rows that hold the same unit must not keep everything
 * else from being scheduled: the later one is left out.
 */
export async function replayAll(
  fluxion: Fluxion,
  init: InitRequest,
  allocations: readonly Allocation[],
  logger: Logger,
): Promise<void> {
  await fluxion.init(init);
  try {
    return await fluxion.replay(allocations, init.now);
  } catch (error) {
    if (!hasCode(error, 'FLUXQ_FLUXION_REPLAY')) throw error;
  }
  await fluxion.init({ ...init, warm: false });
  for (const allocation of allocations)
    await fluxion.replay([allocation], init.now).catch((error: unknown) => {
      if (!hasCode(error, 'FLUXQ_FLUXION_REPLAY')) throw error;
      logger.error(
        { jobid: allocation.jobid, error: messageOf(error) },
        'two workloads hold the same unit; the later one is not in the graph',
      );
    });
}
