/** Turns the last answer of Fluxion for a workload into a decision: it starts, has a reservation, or waits for a reason. */
import { FluxqError } from '../../errors';
import type { MatchResult } from '../../fluxion/types';
import type { WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import { isClaimOf } from './claims';
import { postpone } from './costly-plans';
import { closeBehind } from './fcfs-head';
import { withoutGrace } from './planned-end';
import type { QueueBudget } from './queue-budget';
import type { Refusal } from './quota-shortage';
import { addReservation, claimQuota, markMoved } from './reservation-updates';
import { isSamePlan } from './reservations';
import { passOver } from './shared-reservations';
import { cacheFor, type Pass } from './state';
import type { Candidate } from './strategies';
import { BEHIND_ENDLESS, COSTLY_NOW } from './wait-reasons';
import { withinQuota } from './within-quota';

/** @param given Fluxion's last answer */
export async function record(pass: Pass, candidate: Candidate, given: MatchResult): Promise<void> {
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
      if (reservation !== undefined && !answer.reserved && (budget.refusedFirst > 0 || budget.closed))
        pass.restart = true;
      return;
    case 'BUSY':
      if (shortage !== undefined) return refuseForQuota(pass, candidate, shortage.message);
      // Fluxion calls more nodes than there are busy if it may reserve.
      if (pass.input.nodes !== undefined && !pass.cluster.fits(row.jobspec))
        return refuseForGood(pass, row, answer.text);
      return refuseForNow(pass, candidate, answer.text);
    case 'UNSATISFIABLE':
      return refuseForGood(pass, row, answer.text);
    case 'INVALID':
      if (answer.text !== COSTLY_NOW) return pass.waits.markInvalid(row, answer.text);
      postpone(pass, row);
      return pass.waits.markCostly(row);
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
  shortage: Refusal | undefined,
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
  shortage: Refusal | undefined,
): void {
  // Nodes may be free now for others that ask for as much.
  if (shortage === undefined) cacheFor(pass, row).busy.add(row.jobspec);
  const { uid, jobid } = row;
  // A claim stays one when the workloads that return its quota need longer to leave than planned.
  const isClaim = reservation?.isClaim === true || isClaimOf(pass, row);
  addReservation(pass, row, {
    uid,
    jobid,
    allocation,
    ofUser: budget.isOfUser(reservation, false),
    ...(isClaim && { isClaim }),
    ...(shortage !== undefined && { shortage: shortage.message, ofCohort: shortage.ofCohort }),
  });
  closeBehind(pass, row, budget);
}

function grant(pass: Pass, budget: QueueBudget, row: WorkloadRow, allocation: Allocation): void {
  budget.started.push(row);
  const written = withoutGrace(row, allocation);
  // It may have been placed as it is planned after all.
  const [lasts, extra] = [allocation.end - allocation.start, pass.extra.get(row.uid) ?? 0];
  const end = lasts < row.jobspec.attributes.system.duration + extra ? written.end : written.end - extra;
  pass.grants.push({ uid: row.uid, allocation, written: { ...written, end } });
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
  else passOver(pass, row);
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
