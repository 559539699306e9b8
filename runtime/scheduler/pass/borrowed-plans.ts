/**
 * What queues have only planned to borrow. In a cohort with a queue that reclaims, own quota comes before that: who borrows may have to
 * leave at any time, so the promise to borrow is kept only as long as the owner does not need its quota.
 */
import type { WorkloadRow } from '../../queue/workload';
import { putBack } from './claims';
import { isEntitled } from './entitlement';
import { TERMINATION_SECONDS } from './planned-end';
import type { Quotas } from './quota';
import { planWithinQuota } from './quota-plan';
import {
  claimQuota,
  dropReservation,
  holdUncharged,
  liftReservation,
  markMoved,
} from './reservation-updates';
import type { Reservation } from './reservations';
import { budgetOf, isOwed, type Pass } from './state';
import { addTo, NOTHING, plus, type Usage } from './usage';

/** Of the workloads whose promised start has come, those that would borrow. */
export interface DueBorrowers {
  readonly uids: ReadonlySet<string>;
  /** By queue: what they are charged for. */
  readonly charged: ReadonlyMap<string, Usage>;
}

/** The last of a queue borrow first. @param due in line */
export function dueBorrowers({ quotas, reservations }: Pass, due: readonly WorkloadRow[]): DueBorrowers {
  const uids = new Set<string>();
  const charged = new Map<string, Usage>();
  for (const row of due.toReversed()) {
    const sum = charged.get(row.queue) ?? NOTHING.slice();
    if (!isBeyond(quotas, row, plus(quotas.leftOf(row.queue), sum))) continue;
    uids.add(row.uid);
    addTo(sum, quotas.chargedBy(row, reservations.of(row.uid)!.allocation));
    charged.set(row.queue, sum);
  }
  return { uids, charged };
}

/** Whether it is worth to look: its queue has own quota for it, and others plan to borrow. */
export function mayTakeFromPlans(pass: Pass, row: WorkloadRow): boolean {
  if (!pass.quotas.isReclaiming(row.queue) || budgetOf(pass, row).reclaimsLeft === 0) return false;
  return othersPlanToBorrow(pass, row.queue) && isEntitled(pass, row, pass.input.now);
}

/**
 * Gives up what others plan to borrow if a workload that may take it, and is not charged for anything, can start now without that.
 * @param reservation what Fluxion holds for it, before and after. @default - nothing
 * @returns whether it can
 */
export async function takeFromPlans(
  pass: Pass,
  row: WorkloadRow,
  reservation?: Reservation,
): Promise<boolean> {
  const { quotas, reservations, input } = pass;
  const { now, matcher } = input;
  const plans = freePlans(pass, row);
  const owners = plans.map((plan) => reservations.rowOf(plan));
  const reached = owners.filter((owner) => reservations.isReached(owner));
  if (plans.length === 0 || quotas.shortageOf(row) !== undefined) {
    plans.forEach((plan, i) => {
      claimQuota(pass, owners[i]!, plan.allocation);
    });
    return false;
  }
  // It would be in its own way.
  if (reservation !== undefined) await liftReservation(pass, reservation);
  for (const plan of plans) await liftReservation(pass, plan);
  const found = await planWithinQuota(pass, row, { from: now, before: now + 1 });
  await matcher.cancel(row.jobid);
  if (found === undefined) {
    for (const [i, plan] of plans.entries()) await putBack(pass, plan, owners[i]!);
    for (const owner of reached) reservations.reach(owner);
    budgetOf(pass, row).reclaimsLeft -= 1;
  } else {
    markMoved(pass);
    // Those that have had their turn are planned again.
    if (reached.length > 0) pass.restart = true;
  }
  if (reservation !== undefined) {
    await matcher.replay([reservation.allocation], now);
    holdUncharged(pass, row, reservation);
  }
  return found !== undefined;
}

/** Each is asked on its own whether it is in the way. */
const MOST_ASKED = 64;

/**
 * Gives up what others plan to borrow where own quota would be free for a workload earlier without that: at that time it would have to
 * be given up in any case.
 * @returns whether any is given up
 */
export async function giveUpPlans(pass: Pass, row: WorkloadRow): Promise<boolean> {
  const { quotas, reservations, input } = pass;
  if (!quotas.isReclaiming(row.queue) || !othersPlanToBorrow(pass, row.queue)) return false;
  const before = quotas.freeFrom(row);
  // A start that is near is worth nobody's promise.
  if (before <= input.now + TERMINATION_SECONDS) return false;
  const plans = freePlansToBorrow(pass, row);
  const start = quotas.freeFrom(row);
  const isEarlier = start < before && isEntitled(pass, row, start);
  const given: Reservation[] = [];
  // Who comes first in line keeps his plan, if it is not in the way.
  plans.toReversed().forEach((plan, i) => {
    const owner = reservations.rowOf(plan);
    claimQuota(pass, owner, plan.allocation);
    if (!isEarlier || i >= MOST_ASKED || quotas.freeFrom(row) <= start) return;
    quotas.free(owner);
    given.push(plan);
  });
  for (const plan of given) await dropReservation(pass, plan);
  return given.length > 0;
}

/**
 * Ends the charges of the reservations with which other queues of its cohort would borrow, and that the pass has not reached.
 * @returns these reservations; Fluxion still holds them
 */
export function freePlansToBorrow(pass: Pass, row: WorkloadRow): readonly Reservation[] {
  return freePlans(pass, row, (plan) => !pass.reservations.isReached(plan));
}

/** But not of those for which others have to leave. The last in line come first. */
function freePlans(
  pass: Pass,
  row: WorkloadRow,
  mayGive: (plan: Reservation) => boolean = () => true,
): readonly Reservation[] {
  const { quotas, reservations } = pass;
  const { cohort } = budgetOf(pass, row).settings;
  return (plansOf(pass).get(cohort ?? '') ?? []).filter((plan) => {
    if (reservations.of(plan.uid) !== plan || isOwed(pass, plan) || !mayGive(plan)) return false;
    const owner = reservations.rowOf(plan);
    if (owner.queue === row.queue || !borrowsAtStart(pass, plan)) return false;
    quotas.free(owner);
    return true;
  });
}

/** Whether another queue of its cohort had planned to borrow when the pass first asked. */
export function othersPlanToBorrow(pass: Pass, queue: string): boolean {
  const { cohort } = budgetOf(pass, { queue }).settings;
  const plans = plansOf(pass).get(cohort ?? '');
  return plans?.some((plan) => pass.reservations.rowOf(plan).queue !== queue) === true;
}

const known = new WeakMap<Pass, ReadonlyMap<string, readonly Reservation[]>>();

/** By cohort, the last in line first: each of ten thousand workloads may ask, and few queues have planned to borrow. */
function plansOf(pass: Pass): ReadonlyMap<string, readonly Reservation[]> {
  const found = known.get(pass) ?? findPlans(pass);
  known.set(pass, found);
  return found;
}

function findPlans(pass: Pass): ReadonlyMap<string, readonly Reservation[]> {
  const { reservations } = pass;
  const cohortOf = (plan: Reservation) => budgetOf(pass, reservations.rowOf(plan)).settings.cohort;
  const plans = reservations.all().filter((plan) => cohortOf(plan) !== null && borrowsAtStart(pass, plan));
  return Map.groupBy(plans.toReversed(), (plan) => cohortOf(plan)!);
}

function borrowsAtStart({ quotas, reservations }: Pass, { uid, allocation }: Reservation): boolean {
  const row = reservations.rowOf({ uid });
  return isBeyond(quotas, row, quotas.leftOf(row.queue, allocation.start));
}

/** @param left what is left of the own quota with the row */
function isBeyond(quotas: Quotas, row: WorkloadRow, left: Usage): boolean {
  return quotas.leastOf(row).some((amount, i) => amount > 0 && left[i]! < 0);
}
