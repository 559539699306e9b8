/** What keeps a workload from being asked for: it was refused before, or it can't be planned. */
import type { WorkloadRow } from '../../queue/workload';
import { isPostponed } from './costly-plans';
import type { EndlessBlock } from './endless-usage';
import { mayEndOthers } from './eviction';
import { mayEvictBehind, mayPreemptOthers } from './eviction-tries';
import type { QueueBudget } from './queue-budget';
import type { QuotaShortage } from './quota-shortage';
import { passOver } from './shared-reservations';
import { budgetOf, cacheFor, type Pass } from './state';
import { mayEvict, mayReserve } from './strategies';

/**
 * Whether the row can start only when something leaves that has no end, and that nobody may have to leave for it. When that is, is not
 * known: what waits for it blocks nothing, and nothing is reserved for it.
 * @param shortage why quota keeps it from starting
 */
export function isUnplannable(pass: Pass, row: WorkloadRow, shortage: QuotaShortage | undefined): boolean {
  const block = endlessBlock(pass, row);
  if (block === undefined) return false;
  const mayHelp = mayTakeQuota(pass, row, shortage)
    ? pass.endlessUsage.ofImmovable.blocks(row) === undefined
    : block === 'unnamed' && mayPreemptNow(pass, row);
  return !mayHelp && waitsBehindEndless(pass, row);
}

/** @returns `unnamed` if Fluxion found that something has no end; undefined if nothing has that the row waits for */
function endlessBlock(pass: Pass, row: WorkloadRow): EndlessBlock | 'unnamed' | undefined {
  const block = pass.endlessUsage.blocks(row);
  return block ?? (cacheFor(pass, row).endless.covers(row.jobspec) ? 'unnamed' : undefined);
}

/** Whether workloads of other queues may have to return quota to its queue, or to give it up to a queue with a smaller share. */
function mayTakeQuota(pass: Pass, row: WorkloadRow, shortage: QuotaShortage | undefined): boolean {
  if (shortage === undefined || shortage.never || !mayEndOthers(pass, row)) return false;
  const { reclaim, fairSharing } = budgetOf(pass, row).settings;
  return (reclaim && shortage.lent) || (fairSharing !== 'Never' && (shortage.lent || shortage.ofCohort));
}

function mayPreemptNow(pass: Pass, row: WorkloadRow): boolean {
  const budget = budgetOf(pass, row);
  return mayPreemptOthers(pass, budget, row) && mayEvict(pass, budget, row);
}

/** Tells the row so if it waits for something that has no end. @returns whether it does */
export function waitsBehindEndless(pass: Pass, row: WorkloadRow): boolean {
  const { waits, cluster, input } = pass;
  const block = endlessBlock(pass, row);
  if (block === undefined) return false;
  // Nodes that are down, or too few nodes, are the better reason.
  if (input.nodes !== undefined && !cluster.fitsUp(row.jobspec)) return false;
  waits.markBehindEndless(row, block === 'unnamed' ? undefined : block);
  return true;
}

/**
 * While the queue may still reserve, only what can't be planned at all is passed over: a workload that another queue
 * was refused has a right to its reservation here.
 */
export function wasRefused(pass: Pass, budget: QueueBudget, row: WorkloadRow): boolean {
  const { waits, cluster, input } = pass;
  const cache = cacheFor(pass, row);
  if (cache.never.covers(row.jobspec)) {
    waits.markUnsatisfiable(row, 'requests at least as much as another workload that can never start');
    return true;
  }
  if (isPostponed(pass, row)) {
    waits.markCostly(row);
    return true;
  }
  // When nodes that are down come back is not known: what needs them blocks nothing, and nothing is reserved for it.
  const down = cache.down.covers(row.jobspec);
  if (down || (input.nodes !== undefined && !cluster.fitsUp(row.jobspec) && cluster.fits(row.jobspec))) {
    waits.markDown(row);
    return true;
  }
  if (budget.overQuota?.requests.covers(row.jobspec) && !mayReserve(pass, budget, row)) {
    waits.markQuota(row, budget.overQuota.text);
    return true;
  }
  // Fluxion has to be asked for the head of a fcfs queue, or the head would not block the queue.
  const refusals = mayReserve(pass, budget, row) ? cache.unplannable : cache.busy;
  if (budget.isStrict || !refusals.covers(row.jobspec) || mayBeImpossible(pass, row)) return false;
  if (refusals === cache.busy && mayEvictBehind(pass, budget, row)) return false;
  if (refusals === cache.busy) passOver(pass, row);
  waits.markBusy(row);
  return true;
}

/** Fluxion has to be asked for it: to say that it is not free now would be wrong. What is Busy fitted the nodes when it was asked. */
function mayBeImpossible({ input, cluster }: Pass, { reason, jobspec }: WorkloadRow): boolean {
  const { nodes, graphGrew } = input;
  return nodes !== undefined && (reason !== 'Busy' || graphGrew !== false) && !cluster.fits(jobspec);
}
