/**
 * Workloads behind the head of a fcfs queue. None of them starts before it, but where the head starts soon, because others leave or end
 * for it, somebody may leave for those behind it too: one after the other they would wait for a grace period each.
 */
import type { MatchResult } from '../../fluxion/types';
import type { WorkloadRow } from '../../queue/workload';
import { isClaimOf } from './claims';
import { mayEvictBehind, noteEvictionInVain } from './eviction-tries';
import { competes, isNear, noteNear } from './near-starts';
import { evictLowerPriority } from './preemptor';
import type { QueueBudget } from './queue-budget';
import { evictForQuota } from './quota-evictions';
import { planWithinQuota } from './quota-plan';
import type { QuotaShortage } from './quota-shortage';
import { shortageOf } from './quota-wait';
import { addReservation } from './reservation-updates';
import type { Pass } from './state';
import type { Candidate } from './strategies';

type Follower = Candidate & { readonly notBefore: number };

/**
 * Makes others leave for a row behind the head of its queue, which then starts no earlier than those before it.
 * @returns undefined if nobody may have to
 */
export function follow(pass: Pass, row: WorkloadRow, budget: QueueBudget): Promise<void> | undefined {
  const notBefore = budget.follows;
  // Who waits for the limit of its own user does not keep other users from starting.
  if (notBefore === undefined || budget.limitedUsers.has(row.user)) return undefined;
  // Behind one that has to wait longer nobody leaves.
  budget.follows = undefined;
  const mayEvict = mayEvictBehind(pass, budget, row) || budget.settings.reclaim;
  return mayEvict && budget.matchesLeft > 0 ? evictBehind(pass, row, budget, notBefore) : undefined;
}

async function evictBehind(
  pass: Pass,
  row: WorkloadRow,
  budget: QueueBudget,
  notBefore: number,
): Promise<void> {
  budget.matchesLeft -= 1;
  const shortage = shortageOf(pass, row);
  if (shortage?.never === true || shortage?.ofUser === true) return;
  const candidate = { row, budget, reservation: undefined, isNext: true, mayReserve: true, notBefore };
  const isEvicted =
    shortage === undefined
      ? await evictOnNodes(pass, candidate)
      : await evictForQuota(pass, candidate, shortage);
  if (pass.near.has(row.uid)) budget.follows = notBefore;
  if (isEvicted) await reserveBehind(pass, candidate, shortage);
}

async function reserveBehind(
  pass: Pass,
  { row, budget, notBefore }: Follower,
  shortage: QuotaShortage | undefined,
): Promise<void> {
  const { uid, jobid } = row;
  const allocation = (await planWithinQuota(pass, row, { from: notBefore }))!;
  addReservation(pass, row, {
    uid,
    jobid,
    allocation,
    ...(isClaimOf(pass, row) && { isClaim: true }),
    ...(shortage !== undefined && { shortage: shortage.message, ofCohort: shortage.ofCohort }),
  });
  pass.forecast?.add(allocation);
  budget.follows = allocation.start;
}

async function evictOnNodes(pass: Pass, { row, budget, notBefore }: Follower): Promise<boolean> {
  const { matcher, now } = pass.input;
  const plan = async (): Promise<MatchResult> => {
    const allocation = await planWithinQuota(pass, row, { from: notBefore });
    if (allocation === undefined) return { status: 'BUSY', text: '' };
    return { status: 'OK', allocation, reserved: allocation.start > now };
  };
  const planned = await plan();
  let otherwise = Infinity;
  if (planned.status === 'OK') {
    await matcher.cancel(row.jobid);
    const isSoon = isNear(pass, planned.allocation);
    const isTaken = isSoon && competes(pass, row, planned.allocation);
    if (isSoon) noteNear(pass, row, { allocation: planned.allocation });
    if (isSoon && !isTaken) return false;
    if (!isTaken) otherwise = planned.allocation.start;
  }
  const answer = await evictLowerPriority(pass, row, { notBefore, otherwise, match: plan });
  if (answer === undefined) noteEvictionInVain(pass, budget, row);
  if (answer === undefined || answer === 'enough') return false;
  await matcher.cancel(row.jobid);
  return true;
}
