/**
 * How a workload gets units: named strategies, tried in order. The first one asks Fluxion as things are. Each of the
 * others frees units in its own way and asks again, but only while the answer so far is not good enough for it: BUSY,
 * or for the last two a start that is too late.
 */
import type { MatchOperation, MatchResult } from '../../fluxion/types';
import type { Jobspec } from '../../jobspec/types';
import type { WorkloadRow } from '../../queue/workload';
import { isForeseeable } from '../../resources/endless';
import { mayTakeFromPlans, takeFromPlans } from './borrowed-plans';
import { takePlaces } from './claims';
import { isAwaiting, mayEndOthers } from './eviction';
import { mayEvictBehind, noteEvictionInVain } from './eviction-tries';
import { competes, isNear, noteNear } from './near-starts';
import { preferredRequests, rankOf } from './node-preference';
import { lastingLonger, TERMINATION_SECONDS } from './planned-end';
import { evictLowerPriority } from './preemptor';
import type { QueueBudget } from './queue-budget';
import { dropReservation, priorityIn } from './reservation-updates';
import { hasPassed, type Reservation } from './reservations';
import { hasShare, type Lack } from './shared-reservations';
import { budgetOf, isOwed, type Pass } from './state';
import { BEHIND_ENDLESS } from './wait-reasons';

/** A workload for which Fluxion is asked. */
export interface Candidate {
  readonly row: WorkloadRow;
  readonly budget: QueueBudget;
  /** The reservation that it had until this pass reached it. */
  readonly reservation: Reservation | undefined;
  /** Whether it may evict: it is next in its queue, or may start before those that are. */
  readonly isNext: boolean;
  /** Whether Fluxion may reserve units for it if it can't start now. */
  readonly mayReserve: boolean;
  /** The start of who comes before it in a fcfs queue: an eviction may start it then at the earliest. @default - now */
  readonly notBefore?: number;
  /** When it may start in the place of others, which come after it. @default - it may take none */
  readonly otherwise?: number;
}

export type Applicant = Omit<Candidate, 'isNext' | 'mayReserve'>;

/** @returns a new answer; undefined if the strategy does not apply */
type Strategy = (
  pass: Pass,
  candidate: Candidate,
  answer: MatchResult | undefined,
) => Promise<MatchResult | undefined>;

const STRATEGIES: readonly Strategy[] = [
  tryNow,
  displaceLowerPriority,
  displacePlansToBorrow,
  replanBehindDelay,
  preemptLowerPriority,
];

/** Asks Fluxion for the workload. @returns the answer of the last strategy that applied */
export async function matchWorkload(pass: Pass, candidate: Candidate): Promise<MatchResult> {
  let answer: MatchResult | undefined;
  for (const strategy of STRATEGIES) answer = (await strategy(pass, candidate, answer)) ?? answer;
  const { row, mayReserve: mayHave } = candidate;
  if (answer!.status !== 'OK' || !answer!.reserved || mayHave || pass.beneficiaries.has(row.uid))
    return answer!;
  // It was asked only to know whether an eviction would start it earlier.
  await pass.input.matcher.cancel(row.jobid);
  return { status: 'BUSY', text: 'is planned for later' };
}

/** Starts it now if units are free; else reserves them, unless it may take those of reservations that have to yield. */
async function tryNow(pass: Pass, candidate: Candidate): Promise<MatchResult> {
  const { row } = candidate;
  const plans = candidate.mayReserve || mayPreempt(pass, candidate);
  return match(pass, row, operationFor(pass, row, plans && yielding(pass, candidate).length === 0));
}

/** A reservation of lower priority was made before this workload came: it is planned again behind it. */
async function displaceLowerPriority(
  pass: Pass,
  candidate: Candidate,
  answer: MatchResult | undefined,
): Promise<MatchResult | undefined> {
  if (answer?.status !== 'BUSY') return undefined;
  const { row } = candidate;
  const others = yielding(pass, candidate);
  const rest = others.filter((other) => !isOwed(pass, other));
  const given = rest.length === 0 ? undefined : await matchWithout(pass, rest, row);
  if (given !== undefined && startOf(given) <= pass.input.now) return given;
  if (others.length === 0 || rest.length === others.length) return given;
  const earlier = await preemptBefore(pass, candidate, firstOwed(pass, others));
  if (earlier !== undefined) return earlier;
  await takePlaces(pass, row, others);
  return match(pass, row, 'allocate_orelse_reserve');
}

/** Who takes the place of others may have to wait for those that leave for them: it is worth it only where nobody else leaves sooner. */
async function preemptBefore(
  pass: Pass,
  candidate: Candidate,
  otherwise: number,
): Promise<MatchResult | undefined> {
  if (!mayPreempt(pass, candidate)) return undefined;
  const { row } = candidate;
  const lift = async () => {
    await pass.input.matcher.cancel(row.jobid);
    return match(pass, row, 'allocate_orelse_reserve');
  };
  const better = await evictLowerPriority(pass, row, { match: lift, otherwise });
  return better === 'enough' ? undefined : better;
}

/** When the first of those starts for which others leave; Infinity: there are none. */
export function firstOwed(pass: Pass, others: readonly Reservation[]): number {
  const starts = others.filter((other) => isOwed(pass, other)).map(({ allocation }) => allocation.start);
  return Math.min(...starts);
}

/** Own quota of a queue that reclaims comes before what others plan to borrow of it, on nodes as well. */
async function displacePlansToBorrow(
  pass: Pass,
  { row }: Candidate,
  answer: MatchResult | undefined,
): Promise<MatchResult | undefined> {
  // A start that is near is worth nobody's promise.
  if (startOf(answer!) <= pass.input.now + TERMINATION_SECONDS || !mayTakeFromPlans(pass, row))
    return undefined;
  const isHeld = answer!.status === 'OK';
  if (isHeld) await pass.input.matcher.cancel(row.jobid);
  if (await takeFromPlans(pass, row)) return match(pass, row, 'allocate');
  return isHeld ? match(pass, row, 'allocate_orelse_reserve') : undefined;
}

/**
 * Its promised start is lost to a workload that runs past its end, to pods outside the queue or to nodes that are gone:
 * the plan behind it is void, the order is not.
 */
async function replanBehindDelay(
  pass: Pass,
  { row, reservation, mayReserve }: Candidate,
  answer: MatchResult | undefined,
): Promise<MatchResult | undefined> {
  // It was only asked for longer, in front of a promise that is late: its own one stays.
  if (reservation !== undefined && pass.extra.has(row.uid)) return undefined;
  const promised = reservation?.allocation.start ?? pass.broken.get(row.uid);
  if (!mayReserve || promised === undefined || startOf(answer!) <= Math.max(promised, pass.input.now))
    return undefined;
  const behind = plannedBehind(pass);
  return behind.length === 0 ? undefined : matchWithout(pass, behind, row);
}

/** The reservations behind a row whose promised start is lost, but not those for which others have left. */
export function plannedBehind(pass: Pass): readonly Reservation[] {
  return pass.reservations.unreached().filter((other) => !isOwed(pass, other));
}

export function startOf(answer: MatchResult): number {
  return answer.status === 'OK' ? answer.allocation.start : Infinity;
}

/** Evicts preemptible workloads of lower priority. */
async function preemptLowerPriority(
  pass: Pass,
  candidate: Candidate,
  answer: MatchResult | undefined,
): Promise<MatchResult | undefined> {
  const { row } = candidate;
  if (!mayPreempt(pass, candidate)) return undefined;
  const { matcher } = pass.input;
  // A start that is near is worth nobody's eviction, unless it is that of another one that waits before it.
  const near = answer?.status === 'OK' && isNear(pass, answer.allocation) ? answer.allocation : undefined;
  if (near !== undefined && near.start <= pass.input.now) return undefined;
  const isTaken = near !== undefined && competes(pass, row, near);
  if (near !== undefined) noteNear(pass, row, { allocation: near });
  if (near !== undefined && !isTaken) return undefined;
  let isLifted = false;
  const lift = async () => {
    isLifted = answer!.status === 'OK';
    if (isLifted) await matcher.cancel(row.jobid);
    return match(pass, row, 'allocate_orelse_reserve');
  };
  const otherwise = isTaken ? Infinity : startOf(answer!);
  const better = await evictLowerPriority(pass, row, { match: lift, otherwise });
  if (better === 'enough') return undefined;
  if (better === undefined) noteEvictionInVain(pass, candidate.budget, row);
  return better ?? (isLifted ? match(pass, row, 'allocate_orelse_reserve') : undefined);
}

/** Whether the row may reserve units if it can't start now: it is next in its queue, and first in line with other queues. */
export function mayReserve(pass: Pass, budget: QueueBudget, row: WorkloadRow, lack?: Lack): boolean {
  if (pass.beneficiaries.has(row.uid)) return true;
  if (!isNext(pass, budget, row)) return false;
  return hasShare(pass, budget, row, lack) || isBeforeLower(pass, budget, row);
}

/** Whether a reservation of its line has to yield to it. */
function isBeforeLower(pass: Pass, { line }: QueueBudget, row: WorkloadRow): boolean {
  return ofLowerPriority(pass, row).some(
    (other) => budgetOf(pass, pass.reservations.rowOf(other)).line === line,
  );
}

/**
 * Whether others have to leave for the row, or the queue has a reservation left for it, or gets one back from a reservation behind it: from
 * one that has to yield, or from any with fcfs, and for a promise that is lost.
 */
function isNext(pass: Pass, budget: QueueBudget, row: WorkloadRow): boolean {
  if (budget.reservationsLeft > 0 || pass.beneficiaries.has(row.uid)) return true;
  const isHere = (other: Reservation) => pass.reservations.rowOf(other).queue === row.queue;
  if (pass.broken.has(row.uid)) return pass.reservations.unreached().some(isHere);
  if (budget.isStrict && pass.reservations.unreached().some((other) => yieldsToHead(pass, other, row)))
    return true;
  return ofLowerPriority(pass, row).some(isHere);
}

/**
 * A fcfs queue has a reservation for its head only: an earlier workload may have been released since it was made. Those for which others
 * leave behind its promised start are in their order.
 */
export async function becomeHead(
  pass: Pass,
  row: WorkloadRow,
  budget: QueueBudget,
  before?: Reservation,
): Promise<void> {
  if (!budget.isStrict) return;
  const promised = before?.allocation.start ?? pass.broken.get(row.uid) ?? Infinity;
  for (const other of pass.reservations.unreached()) {
    const follows = isOwed(pass, other) && other.allocation.start >= promised;
    if (!follows && yieldsToHead(pass, other, row)) await dropReservation(pass, other);
  }
}

/** Whether the reservation is one of a fcfs queue, which has one for its head only, and would be behind the row. */
function yieldsToHead({ reservations }: Pass, other: Reservation, row: WorkloadRow): boolean {
  return other.ofUser !== true && !hasPassed(other, row) && reservations.rowOf(other).queue === row.queue;
}

/**
 * Whether it may evict: nobody before it in its queue was refused while the queue had a reservation left, which another queue
 * of its line took; or it may start before those.
 */
export function mayEvict(pass: Pass, budget: QueueBudget, row: WorkloadRow): boolean {
  const isFirst =
    pass.beneficiaries.has(row.uid) || budget.refusedFirst < Math.max(1, budget.reservationsLeft);
  return (isFirst && isNext(pass, budget, row)) || mayEvictBehind(pass, budget, row);
}

/** Reservations that have to yield to a workload that may reserve and has no reservation itself. */
function yielding(pass: Pass, { row, reservation, mayReserve }: Candidate): readonly Reservation[] {
  return reservation === undefined && mayReserve ? ofLowerPriority(pass, row) : [];
}

/** Reservations of lower priority that the pass has not reached. Own quota comes before the priority of other queues. */
export function ofLowerPriority(pass: Pass, row: WorkloadRow): readonly Reservation[] {
  const priority = priorityIn(pass, row);
  if (priority <= pass.lowestReserved) return [];
  return pass.reservations.unreached().filter((other) => {
    const owner = pass.reservations.rowOf(other);
    return priorityIn(pass, owner) < priority && (other.isClaim !== true || owner.queue === row.queue);
  });
}

/** Gives the workload the units of reservations; their workloads are planned again when the pass reaches them. */
async function matchWithout(
  pass: Pass,
  others: readonly Reservation[],
  row: WorkloadRow,
): Promise<MatchResult> {
  for (const other of others) await dropReservation(pass, other);
  await pass.input.matcher.cancel(row.jobid);
  return match(pass, row, 'allocate_orelse_reserve');
}

function mayPreempt(pass: Pass, { row, budget, isNext }: Candidate): boolean {
  if (!budget.settings.preempts || row.preemptions > 0 || !isNext || !mayEndOthers(pass, row)) return false;
  return !isAwaiting(pass, row);
}

/** Asks for the row, which has to fit for longer in front of promises that are late (late-promises.ts). */
export async function match(pass: Pass, row: WorkloadRow, operation: MatchOperation): Promise<MatchResult> {
  const answer = await matchPreferred(pass, row, operation);
  pass.extra.delete(row.uid);
  if (answer.status !== 'OK' || pass.late === undefined) return answer;
  const extra = pass.late.missing(row, answer.allocation, (uid) => pass.reservations.of(uid)?.allocation);
  if (extra === 0) return answer;
  await pass.input.matcher.cancel(row.jobid);
  pass.extra.set(row.uid, extra);
  return matchPreferred(pass, lastingLonger(row, extra), operation);
}

/** Asks for the nodes that suit the row best first, and then for all. */
async function matchPreferred(pass: Pass, row: WorkloadRow, operation: MatchOperation): Promise<MatchResult> {
  const choices = preferredRequests(pass, row);
  const { jobid } = row;
  const now = await firstOk(choices, (jobspec) => ask(pass, { jobid, jobspec }, 'allocate'));
  if (now !== undefined) return now;
  const planned = await ask(pass, row, operation);
  if (planned.status !== 'OK' || !planned.reserved || choices.length === 0) return planned;
  return reserveOnPreferred(pass, row, choices, planned);
}

type Planned = Extract<MatchResult, { status: 'OK' }>;

/** The same start, on the nodes that suit the row best: what is reserved on others is lost to those that need them. */
async function reserveOnPreferred(
  pass: Pass,
  row: WorkloadRow,
  choices: readonly Jobspec[],
  planned: Planned,
): Promise<MatchResult> {
  const { jobid } = row;
  const better = choices.slice(0, rankOf(pass, row, planned.allocation));
  if (better.length === 0) return planned;
  await pass.input.matcher.cancel(jobid);
  const reserved = await firstOk(better, async (jobspec) => {
    const answer = await ask(pass, { jobid, jobspec }, 'allocate_orelse_reserve');
    if (answer.status !== 'OK' || answer.allocation.start <= planned.allocation.start) return answer;
    await pass.input.matcher.cancel(jobid);
    return undefined;
  });
  return reserved ?? ask(pass, row, 'allocate_orelse_reserve');
}

async function firstOk(
  choices: readonly Jobspec[],
  request: (jobspec: Jobspec) => Promise<MatchResult | undefined>,
): Promise<MatchResult | undefined> {
  for (const jobspec of choices) {
    const answer = await request(jobspec);
    if (answer?.status === 'OK') return answer;
    // What is not valid, or too costly to plan, is so on all nodes.
    if (answer?.status === 'INVALID') return undefined;
  }
  return undefined;
}

type Request = Pick<WorkloadRow, 'jobid' | 'jobspec'>;

/** A start behind something that has no end is no plan: it is refused, and nothing is reserved. */
async function ask(pass: Pass, { jobid, jobspec }: Request, operation: MatchOperation): Promise<MatchResult> {
  const { matcher, now } = pass.input;
  pass.matches += 1;
  const answer = await matcher.match({ jobid, jobspec, operation, now });
  if (answer.status !== 'OK' || isForeseeable(answer.allocation.start, now)) return answer;
  await matcher.cancel(jobid);
  return { status: 'BUSY', text: BEHIND_ENDLESS };
}

/** Fluxion answers a plain allocate far sooner, but with BUSY even to the impossible: so only what fits the cluster. */
function operationFor(pass: Pass, { jobspec }: WorkloadRow, mayReserve: boolean): MatchOperation {
  if (mayReserve) return 'allocate_orelse_reserve';
  return pass.cluster.fits(jobspec) ? 'allocate' : 'allocate_with_satisfiability';
}
