/**
 * What queues have only planned to borrow. In a cohort with a queue that reclaims, own quota comes before that: who borrows may have to
 * leave at any time, so the promise to borrow is kept only as long as the owner does not need its quota.
 */
import type { WorkloadRow } from '../../queue/workload';
import { isOwed } from './claims';
import type { Quotas } from './quota';
import type { Reservation } from './reservations';
import { budgetOf, type Pass } from './state';
import { addTo, type Usage } from './usage';

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
    const sum = charged.get(row.queue) ?? new Float64Array(quotas.leastOf(row).length);
    const left = quotas.leftOf(row.queue).map((amount, i) => amount + sum[i]!);
    if (!isBeyond(quotas, row, left)) continue;
    uids.add(row.uid);
    addTo(sum, quotas.chargedBy(row, reservations.of(row.uid)!.allocation));
    charged.set(row.queue, sum);
  }
  return { uids, charged };
}

/**
 * Ends the charges of the reservations with which other queues of its cohort would borrow, but not of those for which others have to leave.
 * The last in line come first.
 * @returns these reservations; Fluxion still holds them
 */
export function freePlansToBorrow(pass: Pass, row: WorkloadRow): readonly Reservation[] {
  const { quotas, reservations } = pass;
  const { cohort } = budgetOf(pass, row).settings;
  return (plansOf(pass).get(cohort ?? '') ?? []).filter((plan) => {
    if (reservations.of(plan.uid) !== plan || reservations.isReached(plan) || isOwed(pass, plan))
      return false;
    const owner = reservations.rowOf(plan);
    if (owner.queue === row.queue || !borrowsAtStart(pass, plan)) return false;
    quotas.free(owner);
    return true;
  });
}

/** Queues that have planned to borrow when the pass first asks, by cohort. */
export function queuesToBorrow(pass: Pass, cohort: string): readonly string[] {
  return (plansOf(pass).get(cohort) ?? []).map((plan) => pass.reservations.rowOf(plan).queue);
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
  const plans = reservations
    .unreached()
    .filter((plan) => cohortOf(plan) !== null && borrowsAtStart(pass, plan));
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
