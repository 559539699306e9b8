/**
 * Places one waiting workload: units now, units later, or a reason to wait. First come the checks that need no answer
 * of Fluxion, then the strategies, then the answer is recorded.
 */
import { isDeepStrictEqual } from 'node:util';
import { FluxqError } from '../../errors';
import type { MatchResult } from '../../fluxion/types';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import { avoidsFewerNodes } from './avoidance';
import { isUnplannable, wasRefused } from './known-refusals';
import { inOrder } from './order';
import { isPreemptDue } from './preemptor';
import type { QueueBudget } from './queue-budget';
import type { QuotaShortage } from './quota';
import {
  type Applicant,
  becomeHead,
  keepReservation,
  shortageOf,
  waitsForQuota,
  waitsInLine,
  withinQuota,
} from './quota-wait';
import {
  addReservation,
  claimQuota,
  dropReservation,
  liftReservation,
  markMoved,
} from './reservation-updates';
import { isSamePlan, type Reservation } from './reservations';
import { budgetOf, cacheFor, forecastOf, type Pass } from './state';
import { type Candidate, match, matchWorkload, mayReserve } from './strategies';
import { inTurn } from './turns';
import { BEHIND_ENDLESS } from './wait-reasons';

/** Places the rows one after the other; ends early when the pass is interrupted or has to begin at the front. */
export async function placeInOrder(pass: Pass, ordered: readonly WorkloadRow[]): Promise<void> {
  for (const row of inTurn(pass, ordered)) {
    const pending = place(pass, row);
    if (pending !== undefined) await pending;
    if (pass.interrupted || pass.restart) return;
    const rest = pass.input.rest?.();
    if (rest !== undefined) await rest;
  }
  for (let round = 0; pass.moved && round < ROUNDS; round++) await startReserved(pass, ordered);
}

/** Each reservation that moves may let another one start. */
const ROUNDS = 3;

/** Starts what has a reservation and was in the way of nothing but reservations that have moved since it was reached. */
async function startReserved(pass: Pass, ordered: readonly WorkloadRow[]): Promise<void> {
  pass.moved = false;
  for (const row of ordered) {
    const reservation = pass.reservations.of(row.uid);
    const budget = budgetOf(pass, row);
    if (reservation === undefined || !mayStartNow(pass, budget, row, reservation)) continue;
    if (shortageOf(pass, row) === undefined) await decideByFluxion(pass, { row, budget, reservation });
    else claimQuota(pass, row, reservation.allocation);
    if (pass.interrupted || pass.restart) return;
  }
}

function mayStartNow(
  pass: Pass,
  budget: QueueBudget,
  row: WorkloadRow,
  { allocation }: Reservation,
): boolean {
  const { now, nodes } = pass.input;
  if (allocation.start <= now || budget.matchesLeft === 0 || budget.cutShort) return false;
  if (!pass.quotas.mayStartBefore(row, now + 1)) return false;
  return nodes === undefined || forecastOf(pass).mayStartBefore(now + 1, row, allocation);
}

/** Most rows are decided without a question to Fluxion, and then at once: a promise for each of ten thousand is slow. */
function place(pass: Pass, row: WorkloadRow): Promise<void> | undefined {
  return decide(pass, row, pass.reservations.reach(row));
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
    keepReservation(pass, budget, row, reservation);
    return undefined;
  }
  // 3. The queue may be done for this pass.
  if (budget.cutShort) return undefined;
  if (budget.closed && reservation === undefined) {
    pass.waits.markBehind(row);
    return undefined;
  }
  // 4. What can't be planned takes neither units nor quota from those behind it.
  if (reservation === undefined && isUnplannable(pass, row)) return undefined;
  // 5. Limits of running workloads, and quota.
  const applicant = { row, budget, reservation };
  const shortage = shortageOf(pass, row);
  if (shortage !== undefined)
    return waitsInLine(pass, applicant, shortage) ? undefined : decideWithShortage(pass, applicant, shortage);
  // 6. What was refused before is refused again.
  if (reservation === undefined && wasRefused(pass, budget, row)) return undefined;
  return decideByFluxion(pass, applicant);
}

async function decideWithShortage(pass: Pass, applicant: Applicant, shortage: QuotaShortage): Promise<void> {
  const { row, budget, reservation } = applicant;
  if (await waitsForQuota(pass, applicant, shortage)) return;
  if (reservation === undefined && wasRefused(pass, budget, row)) return;
  await decideByFluxion(pass, applicant);
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
  const candidate = {
    row,
    budget,
    reservation,
    mayReserve: reservation !== undefined || mayReserve(pass, budget, row),
  };
  budget.matchesLeft -= 1;
  // The units of its own reservation must be free for the question; nobody else may have them.
  if (reservation !== undefined) await liftReservation(pass, reservation);
  await matchInOrder(pass, candidate);
}

/**
 * A new workload may take nodes from reservations of lower priority, and one that has a reservation may not. Where equal
 * workloads that came before only have reservations, they start first, and the new one is planned behind them.
 */
async function matchInOrder(pass: Pass, candidate: Candidate): Promise<void> {
  const { row, budget, reservation } = candidate;
  let answer = await matchWorkload(pass, candidate);
  const equals = reservation === undefined && startsNow(answer) ? equalsBefore(pass, row) : [];
  for (const first of equals) {
    if (!startsNow(answer)) break;
    if (!pass.quotas.mayStartBefore(first, pass.input.now + 1)) continue;
    await pass.input.matcher.cancel(row.jobid);
    await startInstead(pass, budget, first);
    const applicant = { row, budget, reservation: undefined };
    if (await waitsForQuota(pass, applicant, shortageOf(pass, row))) return;
    answer = await matchWorkload(pass, { ...candidate, mayReserve: mayReserve(pass, budget, row) });
  }
  await record(pass, candidate, answer);
}

function startsNow(answer: MatchResult): boolean {
  return answer.status === 'OK' && !answer.reserved;
}

/** Workloads with the same request that were reached before and have reservations, in order. */
function equalsBefore(pass: Pass, row: WorkloadRow): readonly WorkloadRow[] {
  const { reservations } = pass;
  const reserved = reservations.reachedBefore(Infinity).map((other) => reservations.rowOf(other));
  return inOrder(reserved.filter((other) => isEqualRequest(other, row)));
}

function isEqualRequest(a: WorkloadRow, b: WorkloadRow): boolean {
  return (
    a.queue === b.queue &&
    a.priority === b.priority &&
    a.walltime === b.walltime &&
    a.shape === b.shape &&
    isDeepStrictEqual(a.jobspec, b.jobspec)
  );
}

/** The units that an equal workload would take are free for it. */
async function startInstead(pass: Pass, budget: QueueBudget, row: WorkloadRow): Promise<void> {
  const reservation = pass.reservations.of(row.uid)!;
  await liftReservation(pass, reservation);
  const candidate = { row, budget, reservation, mayReserve: true };
  await record(pass, candidate, await match(pass, row, 'allocate_orelse_reserve'));
}

async function waitForLimit(
  pass: Pass,
  row: WorkloadRow,
  reservation: Reservation | undefined,
  limit: string,
): Promise<void> {
  if (reservation !== undefined) await dropReservation(pass, reservation);
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
  if (budget.matchesLeft === 0 || budget.cutShort) return false;
  // It was promised, so no earlier workload that now blocks a fcfs queue keeps it from starting.
  if (allocation.start <= now) return true;
  if (budget.closed) return false;
  if (isPreemptDue(pass, row)) return true;
  if (!pass.freed && !avoidsFewerNodes(row, now)) return false;
  if (nodes === undefined) return pass.quotas.mayStartBefore(row, allocation.start);
  // Beyond the first few it is enough to know what could start now: later plans improve when they come near.
  const before = budget.improvementsLeft > 0 ? allocation.start : now + 1;
  if (!pass.quotas.mayStartBefore(row, before)) return false;
  if (!forecastOf(pass).mayStartBefore(before, row, allocation)) return false;
  budget.improvementsLeft -= 1;
  return true;
}

/** The depth of the queue is used up. */
function endQueue({ waits }: Pass, budget: QueueBudget, row: WorkloadRow): void {
  budget.markExhausted();
  if (budget.closed) waits.markBehind(row);
}

/** Turns Fluxion's last answer into a decision. */
async function record(pass: Pass, candidate: Candidate, given: MatchResult): Promise<void> {
  const { row, budget, reservation } = candidate;
  const { answer, shortage } = await withinQuota(pass, candidate, given);
  const kept =
    reservation !== undefined &&
    answer.status === 'OK' &&
    isSamePlan(answer.allocation, reservation.allocation);
  if (reservation !== undefined && !kept) markMoved(pass);
  switch (answer.status) {
    case 'OK':
      accept(pass, candidate, answer, shortage);
      // Its reservation is free for the workload that was passed over, not for the next in order.
      // The rest of a strict queue was told to wait behind it.
      if (reservation !== undefined && !answer.reserved && (budget.passedOver || budget.closed))
        pass.restart = true;
      return;
    case 'BUSY':
      if (shortage !== undefined) return refuseForQuota(pass, candidate, shortage);
      // Fluxion calls more nodes than there are busy if it may reserve.
      if (pass.input.nodes !== undefined && !pass.cluster.fits(row.jobspec))
        return refuseForGood(pass, row, answer.text);
      return refuseForNow(pass, candidate, answer.text);
    case 'UNSATISFIABLE':
      return refuseForGood(pass, row, answer.text);
    case 'INVALID':
      return pass.waits.markInvalid(row, answer.text);
    case 'NOT_READY':
      throw new FluxqError('FLUXQ_FLUXION_IN_DOUBT', `Fluxion has no graph: ${answer.text}`, {
        remedy: 'init and replay, then go on',
        retryable: true,
      });
  }
}

function accept(
  pass: Pass,
  candidate: Candidate,
  { allocation, reserved }: MatchResult & { status: 'OK' },
  shortage: string | undefined,
): void {
  const { row, budget } = candidate;
  if (reserved) reserve(pass, candidate, allocation, shortage);
  else grant(pass, budget, row, allocation);
  pass.forecast?.add(allocation);
}

function reserve(
  pass: Pass,
  { row, budget, reservation }: Candidate,
  allocation: Allocation,
  shortage: string | undefined,
): void {
  // Nodes may be free now for others that ask for as much.
  if (shortage === undefined) cacheFor(pass, row).busy.add(row.jobspec);
  const { uid, jobid } = row;
  // A claim stays one when the workloads that return its quota need longer to leave than planned.
  const isOwed = pass.beneficiaries.has(uid) && budget.reservationsLeft <= 0;
  const isClaim = reservation?.isClaim === true || isOwed;
  addReservation(pass, row, {
    uid,
    jobid,
    allocation,
    ...(isClaim && { isClaim }),
    ...(shortage !== undefined && { shortage }),
  });
  if (budget.isStrict) budget.closed = true;
}

function grant(pass: Pass, budget: QueueBudget, row: WorkloadRow, allocation: Allocation): void {
  budget.granted = true;
  pass.grants.push({ uid: row.uid, allocation });
  pass.waits.clear(row);
  claimQuota(pass, row, allocation);
}

/** The quota allows none of the nodes that it could have now. */
function refuseForQuota({ waits }: Pass, { row, budget }: Candidate, shortage: string): void {
  budget.refuseOverQuota(row.jobspec, shortage);
  waits.markQuota(row, shortage);
}

function refuseForNow(pass: Pass, { row, budget, mayReserve }: Candidate, text: string): void {
  const { waits } = pass;
  const cache = cacheFor(pass, row);
  if (text === BEHIND_ENDLESS) {
    cache.endless.add(row.jobspec);
    waits.markBehindEndless(row);
    return;
  }
  cache.busy.add(row.jobspec);
  if (mayReserve) cache.unplannable.add(row.jobspec);
  else budget.passedOver = true;
  pass.waits.markBusy(row);
  if (budget.isStrict) budget.closed = true;
}

/** While nodes are down, Fluxion says unsatisfiable to a request for more nodes than are up, though it fits the cluster. */
async function refuseForGood(pass: Pass, row: WorkloadRow, text: string): Promise<void> {
  const { waits, input } = pass;
  const cache = cacheFor(pass, row);
  const { satisfiable } = await input.matcher.satisfiable(row.jobspec);
  if (satisfiable) {
    cache.down.add(row.jobspec);
    waits.markDown(row);
  } else {
    cache.never.add(row.jobspec);
    waits.markUnsatisfiable(row, text);
  }
}
