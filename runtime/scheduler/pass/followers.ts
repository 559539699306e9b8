/**
 * Workloads behind the head of a fcfs queue. None of them starts before it, but where the head starts soon, because others leave or end
 * for it, somebody may leave for those behind it too: one after the other they would wait for a grace period each.
 */
import type { MatchResult } from '../../fluxion/types';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import { mayEvictBehind, noteEvictionInVain } from './eviction-tries';
import { isNear } from './near-starts';
import { evictLowerPriority } from './preemptor';
import type { QueueBudget } from './queue-budget';
import { evictForQuota } from './quota-evictions';
import { planWithinQuota } from './quota-plan';
import type { QuotaShortage } from './quota-shortage';
import { shortageOf } from './quota-wait';
import { addReservation } from './reservation-updates';
import { budgetOf, type Pass } from './state';
import type { Candidate } from './strategies';

type Follower = Candidate & { readonly notBefore: number };

/**
 * Promises a start to a row behind the head of its queue, no earlier than those before it, if others leave for it or what it needs is
 * free soon.
 * @returns undefined if nobody may have to leave for it
 */
export function follow(pass: Pass, row: WorkloadRow, budget: QueueBudget): Promise<void> | undefined {
  const notBefore = budget.follows;
  // Who waits for the limit of its own user does not keep other users from starting.
  if (notBefore === undefined || budget.limitedUsers.has(row.user)) return undefined;
  // Behind one that has to wait longer nobody leaves.
  budget.follows = undefined;
  const mayEvict = mayEvictBehind(pass, budget, row) || budget.settings.reclaim;
  return mayEvict && budget.matchesLeft > 0 ? planBehind(pass, row, budget, notBefore) : undefined;
}

/** Each of them has a place before the next one is looked at: else that one would be planned on what this one counts on. */
async function planBehind(
  pass: Pass,
  row: WorkloadRow,
  budget: QueueBudget,
  notBefore: number,
): Promise<void> {
  budget.matchesLeft -= 1;
  const shortage = shortageOf(pass, row);
  if (shortage?.never === true || shortage?.ofUser === true) return;
  const planned = await planFrom(pass, row, notBefore);
  // Who starts with the one before it gains nothing by evictions either.
  const isSoon = planned !== undefined && (isNear(pass, planned) || planned.start <= notBefore);
  if (isSoon) return reserveBehind(pass, row, planned, shortage);
  if (planned !== undefined) await pass.input.matcher.cancel(row.jobid);
  const follower = { row, budget, reservation: undefined, isNext: true, mayReserve: true, notBefore };
  const isEvicted =
    shortage === undefined
      ? await evictOnNodes(pass, follower, planned?.start)
      : await evictForQuota(pass, follower, shortage);
  const place = isEvicted ? await planFrom(pass, row, notBefore) : undefined;
  // Fluxion may refuse what the plan allows: then it has its place when the pass looks again, as one for which others leave.
  if (place !== undefined) reserveBehind(pass, row, place, shortage);
}

function planFrom(pass: Pass, row: WorkloadRow, from: number): Promise<Allocation | undefined> {
  return planWithinQuota(pass, row, { from });
}

/** It is not one of the reservations that its queue may have. */
function reserveBehind(
  pass: Pass,
  row: WorkloadRow,
  allocation: Allocation,
  shortage: QuotaShortage | undefined,
): void {
  const { uid, jobid } = row;
  addReservation(pass, row, {
    ...{ uid, jobid, allocation, isClaim: true },
    ...(shortage !== undefined && { shortage: shortage.message, ofCohort: shortage.ofCohort }),
  });
  pass.forecast?.add(allocation);
  budgetOf(pass, row).follows = allocation.start;
}

async function evictOnNodes(
  pass: Pass,
  { row, budget, notBefore }: Follower,
  otherwise = Infinity,
): Promise<boolean> {
  const { matcher, now } = pass.input;
  const match = async (): Promise<MatchResult> => {
    const allocation = await planFrom(pass, row, notBefore);
    if (allocation === undefined) return { status: 'BUSY', text: '' };
    return { status: 'OK', allocation, reserved: allocation.start > now };
  };
  const answer = await evictLowerPriority(pass, row, { notBefore, otherwise, match });
  if (answer === undefined) noteEvictionInVain(pass, budget, row);
  if (answer === undefined || answer === 'enough') return false;
  await matcher.cancel(row.jobid);
  return true;
}
