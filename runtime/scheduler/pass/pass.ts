/**
 * Terms of this folder: a *pass* decides about everything that waits; a *grant* is an allocation that starts now; a
 * *reservation* is one that starts later and is kept until then; *backfill* starts a workload behind a reservation
 * without delaying it; an *eviction* takes a workload from its nodes, either for one of higher priority (preemption)
 * or for the queue that had lent it quota (reclaim).
 *
 * A pass is a function of its snapshot: it asks Fluxion and returns decisions, and the caller commits them. If it
 * throws (`FLUXQ_FLUXION_IN_DOUBT`), nothing that Fluxion gave is committed anywhere: the caller rebuilds Fluxion from
 * the rows of the queue, forgets the reservations, and nothing is lost.
 */
import type { WorkloadRow } from '../../queue/workload';
import { avoidanceEnd, avoiding } from './avoidance';
import { DependencyCycles } from './dependency-cycles';
import { isEligible } from './eligibility';
import { shareFactors } from './fair-share';
import { inOrder, type Precedence } from './order';
import { placeInOrder } from './placement';
import { keepReservations } from './reservation-updates';
import type { Reservation } from './reservations';
import { beginPass, type Pass } from './state';
import type { PassInput, PassResult } from './types';

/**
 * @throws FluxqError `FLUXQ_FLUXION_IN_DOUBT` if Fluxion has to be rebuilt
 */
export async function runPass(input: PassInput): Promise<PassResult> {
  const pass = beginPass(input);
  input.onStep?.('order');
  // 1. Workloads whose queue does not exist wait for it.
  for (const row of input.orphaned ?? []) waitForQueue(pass, row);
  // 2. Workloads that may start, of all queues in one order.
  const rows = input.queues.flatMap((queue) => queue.rows);
  const waiting = rows.filter(({ phase }) => phase === 'Waiting');
  const fits = input.nodes && pass.cluster.fits;
  const eligibility = { ...input, fits, cycles: new DependencyCycles(rows) };
  const eligible = waiting
    .filter((row) => isEligible(row, eligibility, pass.waits))
    .map((row) => avoiding(pass, row));
  const ordered = inOrder(eligible, precedenceOf(pass));
  for (const row of ordered) pass.eligible.set(row.uid, row);
  input.onStep?.('match');
  // 3. Valid reservations are kept; those of workloads that may not start, or on nodes that are gone, are cancelled.
  await keepReservations(pass, input.reservations, ordered);
  // 4. Place one workload after the other.
  await placeInOrder(pass, ordered);
  return resultOf(pass, waiting, ordered);
}

function waitForQueue({ waits }: Pass, row: WorkloadRow): void {
  if (row.phase !== 'Waiting') return;
  if (row.held) waits.markHeld(row);
  else waits.markOrphaned(row);
}

function precedenceOf({ input, budgets }: Pass): Precedence {
  return {
    now: input.now,
    settingsOf: (queue: string) => budgets.get(queue)?.settings,
    shares: input.fairShare && shareFactors(input.fairShare, input.queues),
  };
}

function resultOf(pass: Pass, waiting: readonly WorkloadRow[], line: readonly WorkloadRow[]): PassResult {
  const { grants, waits, evictions, cache, interrupted, restart, matches } = pass;
  const reservations = pass.reservations.all();
  return {
    grants,
    waits: waits.updates,
    evictions,
    line,
    reservations,
    cache: {
      ...cache,
      endlessUsage: pass.endlessUsage,
      promised: promisedStarts(pass, reservations),
      preemptAt: pendingPreemptions(pass),
    },
    more: interrupted || restart || [...pass.budgets.values()].some(({ cutShort }) => cutShort),
    nextAt: nextChange(pass, waiting, reservations),
    matches,
  };
}

/** A pass that ended early may not have reached a row whose reservation was lost. */
function promisedStarts(
  { broken, interrupted, restart }: Pass,
  reservations: readonly Reservation[],
): ReadonlyMap<string, number> {
  const starts = new Map(interrupted || restart ? broken : []);
  for (const { uid, allocation } of reservations) starts.set(uid, allocation.start);
  return starts;
}

/** A pass that ended early may not have reached a row that was due. */
function pendingPreemptions({ input, eligible, preemptAt, interrupted, restart }: Pass): Map<string, number> {
  const isPending = (at: number) => interrupted || restart || at > input.now;
  return new Map([...preemptAt].filter(([uid, at]) => eligible.has(uid) && isPending(at)));
}

/** The second at which a workload may be preempted, a reservation is due, a backoff ends, or a node is no longer avoided. */
function nextChange(
  { input: { now }, preemptAt }: Pass,
  waiting: readonly WorkloadRow[],
  reservations: readonly Reservation[],
): number | undefined {
  let next = Infinity;
  for (const { allocation } of reservations) next = Math.min(next, Math.max(allocation.start, now + 1));
  for (const at of preemptAt.values()) if (at > now) next = Math.min(next, at);
  for (const row of waiting) {
    const { notBefore } = row;
    if (notBefore !== null && notBefore > now) next = Math.min(next, Math.ceil(notBefore));
    next = Math.min(next, avoidanceEnd(row, now) ?? Infinity);
  }
  return next === Infinity ? undefined : next;
}
