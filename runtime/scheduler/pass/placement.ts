/**
 * Places one waiting workload: units now, units later, or a reason to wait. First come the checks that need no answer
 * of Fluxion, then the strategies, then the answer is recorded.
 */
import { isDeepStrictEqual } from 'node:util';
import type { MatchResult } from '../../fluxion/types';
import { isArray } from '../../jobspec/jobspec';
import type { WorkloadRow } from '../../queue/workload';
import { record } from './answers';
import { avoidsFewerNodes } from './avoidance';
import { inBackfillOrder } from './backfill-order';
import { failureOf } from './failures';
import { follow } from './followers';
import { isUnplannable, wasRefused } from './known-refusals';
import { mayGainByEviction } from './late-evictions';
import { inOrder } from './order';
import { countImprovement, mayImprove } from './plan-improvements';
import { isPreemptDue } from './preemptor';
import type { QueueBudget } from './queue-budget';
import type { QuotaShortage } from './quota-shortage';
import { keepReservation, restore, shortageOf, waitsForQuota, waitsInLine } from './quota-wait';
import { claimQuota, dropReservation, liftReservation } from './reservation-updates';
import type { Reservation } from './reservations';
import { budgetOf, forecastOf, type Pass } from './state';
import {
  type Applicant,
  becomeHead,
  type Candidate,
  match,
  matchWorkload,
  mayEvict,
  mayReserve,
  startOf,
} from './strategies';
import { inTurn } from './turns';

/** Places the rows one after the other; ends early when the pass is interrupted or has to begin at the front. */
export async function placeInOrder(pass: Pass, ordered: readonly WorkloadRow[]): Promise<void> {
  if (hasEnded(pass)) return;
  let before = await placeEach(pass, ordered, place);
  for (let round = 1; before.size > 0 && !hasEnded(pass) && round <= ROUNDS; round++) {
    const started = new Set(pass.grants.map(({ uid }) => uid));
    const again = ordered.filter((row) => before.has(row) && !started.has(row.uid));
    const heads: Heads = new Map();
    const next = await placeEach(pass, again, (_, row) => placeNow(pass, row, heads));
    // Those that were not asked again may start as well.
    before = next.size > 0 ? new Set(ordered) : next;
  }
}

/** Each reservation that moves may let others start. */
const ROUNDS = 3;

/** @returns the rows that were placed before a reservation moved for the last time: those behind it have been asked with that */
async function placeEach(
  pass: Pass,
  ordered: readonly WorkloadRow[],
  placeOne: typeof place,
): Promise<ReadonlySet<WorkloadRow>> {
  const reached: WorkloadRow[] = [];
  let before = 0;
  for (const row of inBackfillOrder(pass, ordered, inTurn(pass, ordered))) {
    reached.push(row);
    pass.moved = false;
    try {
      const pending = placeOne(pass, row);
      if (pending !== undefined) await pending;
    } catch (error) {
      throw failureOf(row, error);
    }
    if (pass.moved) before = reached.length;
    if (hasEnded(pass)) break;
    const rest = pass.input.rest?.();
    if (rest !== undefined) await rest;
  }
  return new Set(reached.slice(0, before));
}

function hasEnded({ interrupted, restart }: Pass): boolean {
  return interrupted || restart;
}

/** By fcfs queue: the uid of the last one that might have started. */
type Heads = Map<string, string>;

/** Starts what was in the way of nothing but reservations that have moved since it was reached. */
function placeNow(pass: Pass, row: WorkloadRow, heads: Heads): Promise<void> | undefined {
  const budget = budgetOf(pass, row);
  if (budget.matchesLeft === 0 || budget.cutShort || pass.beyondLimit.has(row.uid)) return undefined;
  const reservation = pass.reservations.of(row.uid);
  const mayStart =
    reservation === undefined
      ? !budget.closed && !budget.limitedUsers.has(row.user)
      : isHead(pass, row, reservation, heads) && mayStartNow(pass, row, reservation);
  if (!mayStart) return undefined;
  const shortage = shortageOf(pass, row);
  if (reservation === undefined && isUnplannable(pass, row, shortage)) return undefined;
  if (shortage !== undefined) {
    if (reservation !== undefined) claimQuota(pass, row, reservation.allocation);
    return undefined;
  }
  if (reservation === undefined && wasRefused(pass, budget, row)) return undefined;
  return decideByFluxion(pass, { row, budget, reservation });
}

/** Nobody of a fcfs queue starts before an earlier one that waits for its promised start. */
function isHead(pass: Pass, { uid, queue }: WorkloadRow, { ofUser }: Reservation, heads: Heads): boolean {
  if (ofUser === true || !budgetOf(pass, { queue }).isStrict) return true;
  const before = heads.get(queue);
  if (before !== undefined && !pass.grants.some((grant) => grant.uid === before)) return false;
  heads.set(queue, uid);
  return true;
}

function mayStartNow(pass: Pass, row: WorkloadRow, { allocation }: Reservation): boolean {
  const { now, nodes } = pass.input;
  if (allocation.start <= now) return false;
  // Most of a thousand reservations find no units now, which is cheaper to see than their quota.
  if (nodes !== undefined && !forecastOf(pass).mayStartBefore(now + 1, row, allocation)) return false;
  return pass.quotas.mayStartBefore(row, now + 1);
}

/** Most rows are decided without a question to Fluxion, and then at once: a promise for each of ten thousand is slow. */
function place(pass: Pass, row: WorkloadRow): Promise<void> | undefined {
  const reservation = pass.reservations.reach(row);
  if (reservation === undefined || !pass.heldPlaces.has(row.uid)) return decide(pass, row, reservation);
  return liftReservation(pass, reservation).then(() => decide(pass, row, undefined));
}

/** @returns undefined if the row is decided */
function decide(
  pass: Pass,
  row: WorkloadRow,
  reservation: Reservation | undefined,
): Promise<void> | undefined {
  const budget = budgetOf(pass, row);
  // 1. Limits of waiting workloads: those beyond are not considered at all.
  const limit = budget.limits.countWaiting(row);
  if (limit !== undefined) return waitForLimit(pass, row, reservation, limit);
  // 2. A reservation is kept, unless the workload may start now or earlier.
  if (reservation !== undefined && !mayStartEarlier(pass, budget, row, reservation)) {
    keepReservation(pass, budget, row, toldAgain(pass, row, reservation));
    return undefined;
  }
  // 3. The queue may be done for this pass.
  if (budget.cutShort) return undefined;
  const userLimit = budget.limitedUsers.get(row.user);
  if (reservation === undefined && (budget.closed || userLimit !== undefined))
    return waitBehind(pass, row, budget);
  // 4. What can't be planned takes neither units nor quota from those behind it.
  const shortage = shortageOf(pass, row);
  if (reservation === undefined && isUnplannable(pass, row, shortage)) return undefined;
  // 5. Limits of running workloads, and quota.
  const applicant = { row, budget, reservation };
  if (shortage !== undefined)
    return waitsInLine(pass, applicant, shortage) ? undefined : decideWithShortage(pass, applicant, shortage);
  // 6. What was refused before is refused again.
  if (reservation === undefined && wasRefused(pass, budget, row)) return undefined;
  return decideByFluxion(pass, applicant);
}

/** What it lacks of a quota that has changed. */
function toldAgain(pass: Pass, row: WorkloadRow, reservation: Reservation): Reservation {
  if (!pass.hasNewSettings || reservation.shortage === undefined) return reservation;
  const shortage = shortageOf(pass, row)?.message ?? reservation.shortage;
  claimQuota(pass, row, reservation.allocation);
  const told = { ...reservation, shortage };
  pass.reservations.add(told, row);
  return told;
}

async function decideWithShortage(pass: Pass, applicant: Applicant, shortage: QuotaShortage): Promise<void> {
  const { row, budget } = applicant;
  if (await waitsForQuota(pass, applicant, shortage)) return;
  // It is given up where evictions let the row start now.
  const reservation = pass.reservations.of(row.uid);
  if (reservation === undefined && wasRefused(pass, budget, row)) return;
  await decideByFluxion(pass, { row, budget, reservation });
}

async function decideByFluxion(pass: Pass, { row, budget, reservation }: Applicant): Promise<void> {
  // 7. Fluxion may be asked only if nobody interrupts, and as often as the depth of the queue allows.
  if (pass.input.interrupted?.() === true) {
    pass.interrupted = true;
    return;
  }
  if (budget.matchesLeft === 0) return endQueue(pass, budget, row);
  if (reservation === undefined) await becomeHead(pass, row, budget);
  // 8. Ask Fluxion, and record its answer.
  const candidate = { row, budget, reservation, ...rightsOf(pass, budget, row, reservation) };
  budget.matchesLeft -= 1;
  // The units of its own reservation must be free for the question; nobody else may have them.
  if (reservation !== undefined) await liftReservation(pass, reservation);
  await matchInOrder(pass, candidate);
}

function rightsOf(
  pass: Pass,
  budget: QueueBudget,
  row: WorkloadRow,
  reservation?: Reservation,
): Pick<Candidate, 'isNext' | 'mayReserve'> {
  if (reservation !== undefined) return { isNext: true, mayReserve: true };
  return { isNext: mayEvict(pass, budget, row), mayReserve: mayReserve(pass, budget, row) };
}

/**
 * A new workload may take nodes from reservations of lower priority, and one that has a reservation may not. Where equal
 * workloads that came before only have reservations, they start first, and the new one is planned behind them.
 */
async function matchInOrder(pass: Pass, candidate: Candidate): Promise<void> {
  const { row, budget, reservation } = candidate;
  let answer = await matchWorkload(pass, candidate);
  // It would start in front of a promise that is late: its own one stays.
  if (
    reservation !== undefined &&
    pass.extra.has(row.uid) &&
    startOf(answer) >= reservation.allocation.start
  ) {
    if (answer.status === 'OK') await pass.input.matcher.cancel(row.jobid);
    if (await restore(pass, row, reservation)) return keepReservation(pass, budget, row, reservation);
    answer = await matchWorkload(pass, candidate);
  }
  const equals = reservation === undefined && startsNow(answer) ? equalsBefore(pass, row) : [];
  for (const first of equals) {
    if (!startsNow(answer)) break;
    if (!pass.quotas.mayStartBefore(first, pass.input.now + 1)) continue;
    await pass.input.matcher.cancel(row.jobid);
    await startInstead(pass, budget, first);
    const applicant = { row, budget, reservation: undefined };
    if (await waitsForQuota(pass, applicant, shortageOf(pass, row))) return;
    answer = await matchWorkload(pass, { ...candidate, ...rightsOf(pass, budget, row) });
  }
  await record(pass, candidate, answer);
}

function startsNow(answer: MatchResult): boolean {
  return answer.status === 'OK' && !answer.reserved;
}

/** Workloads with the same request that were reached before and have reservations, in order. */
function equalsBefore(pass: Pass, row: WorkloadRow): readonly WorkloadRow[] {
  const { reservations } = pass;
  const reserved = [...reservations.ofRequest(row)].filter((other) => reservations.isReached(other));
  return inOrder(
    reserved
      .map((other) => reservations.rowOf(other))
      // Nodes that it avoids are not in its shape.
      .filter(({ jobspec }) => isDeepStrictEqual(jobspec, row.jobspec)),
  );
}

/** The units that an equal workload would take are free for it. */
async function startInstead(pass: Pass, budget: QueueBudget, row: WorkloadRow): Promise<void> {
  const reservation = pass.reservations.of(row.uid)!;
  await liftReservation(pass, reservation);
  const candidate = { row, budget, reservation, isNext: true, mayReserve: true };
  await record(pass, candidate, await match(pass, row, 'allocate_orelse_reserve'));
}

async function waitForLimit(
  pass: Pass,
  row: WorkloadRow,
  reservation: Reservation | undefined,
  limit: string,
): Promise<void> {
  if (reservation !== undefined) await dropReservation(pass, reservation);
  pass.beyondLimit.add(row.uid);
  pass.waits.markQuota(row, limit);
}

/** Its reservation is due, or units became free that may let it start earlier. */
function mayStartEarlier(
  pass: Pass,
  budget: QueueBudget,
  row: WorkloadRow,
  { allocation }: Reservation,
): boolean {
  const { now, nodes } = pass.input;
  if (budget.cutShort || !hasDepth(pass, budget)) return false;
  // It was promised, so no earlier workload that now blocks a fcfs queue keeps it from starting.
  if (allocation.start <= now) return true;
  if (budget.closed) return false;
  if (isPreemptDue(pass, row)) return true;
  if ((pass.freed || pass.hasNewHolders) && mayGainByEviction(pass, row, allocation)) return true;
  if (!pass.freed && !avoidsFewerNodes(row, now)) return false;
  if (nodes === undefined) return pass.quotas.mayStartBefore(row, allocation.start);
  // Beyond the first few it is enough to know what could start now: later plans improve when they come near.
  const before = mayImprove(pass, budget) ? allocation.start : now + 1;
  if (!forecastOf(pass).mayStartBefore(before, row, allocation)) return false;
  if (!pass.quotas.mayStartBefore(row, before)) return false;
  countImprovement(pass, budget);
  return true;
}

/** Where the depth is used up, what became free may let a reservation start in the next pass, which begins at once. */
function hasDepth({ freed }: Pass, budget: QueueBudget): boolean {
  if (budget.matchesLeft > 0) return true;
  if (freed && budget.started.length > 0) budget.markExhausted();
  return false;
}

/** @returns undefined if nobody may have to leave for it */
function waitBehind(pass: Pass, row: WorkloadRow, budget: QueueBudget): Promise<void> | undefined {
  markBehind(pass, row, budget.limitedUsers.get(row.user));
  return follow(pass, row, budget);
}

/** What exceeds its quota or the cluster even alone is told so, wherever it stands in line. */
function markBehind({ waits, quotas, cluster, input }: Pass, row: WorkloadRow, userLimit?: string): void {
  const never = quotas.neverText(row);
  // Of an array that is wider than the cluster, as much starts as fits.
  const fits = input.nodes === undefined || isArray(row.jobspec) || cluster.fits(row.jobspec);
  if (never !== undefined) waits.markQuota(row, never);
  else if (fits && userLimit !== undefined) waits.markQuota(row, userLimit);
  else if (fits) waits.markBehind(row);
  else waits.markUnsatisfiable(row, 'the nodes of the cluster are too few or too small for it');
}

/** The depth of the queue is used up. */
function endQueue(pass: Pass, budget: QueueBudget, row: WorkloadRow): void {
  budget.markExhausted();
  if (budget.closed) markBehind(pass, row);
}
