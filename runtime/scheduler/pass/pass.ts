/**
 * Words of this folder: a *pass* is one run over everything that waits; a
 * *grant* is an allocation that starts now; a *reservation* is one that starts
 * later and stands until it comes due; *backfill* is what starts behind a
 * reservation without delaying it; a *recall* takes a workload back from its
 * nodes for another.
 *
 * A pass is a function of its snapshot: it asks Fluxion and returns decisions;
 * whoever calls it commits them. If it throws (`FLUXQ_FLUXION_IN_DOUBT`), what
 * Fluxion gave is not committed anywhere: the caller rebuilds Fluxion from the
 * queue's rows, forgets the reservations, and nothing is lost.
 */
import type { WorkloadRow } from '../../queue/workload';
import { isEligible } from './eligibility';
import { shareFactors } from './fair-share';
import { inOrder } from './order';
import { Placer } from './placement';
import type { Reservation } from './reservations';
import { beginPass, type Pass } from './state';
import type { PassInput, PassResult } from './types';

/**
 * @throws FluxqError `FLUXQ_FLUXION_IN_DOUBT` if Fluxion has to be rebuilt
 */
export async function runPass(input: PassInput): Promise<PassResult> {
  const pass = beginPass(input);
  // 1. Who belongs to no queue waits until there is one.
  for (const row of input.orphaned ?? []) sayHomeless(pass, row);
  // 2. Who may start at all, in one order over all queues.
  const waiting = input.queues.flatMap(({ rows }) => rows.filter(({ phase }) => phase === 'Waiting'));
  const eligible = waiting.filter((row) => isEligible(row, input, pass.waits));
  const ordered = inOrder(eligible, precedenceOf(pass));
  // 3. Reservations of those who may not, or on nodes that are gone, are given up; the others stand.
  const place = new Placer(pass);
  await place.takeOver(input.reservations, ordered);
  // 4. One after the other.
  for (const row of ordered) if (!(await place.place(row))) break;
  return resultOf(pass, waiting);
}

function sayHomeless({ waits }: Pass, row: WorkloadRow): void {
  if (row.phase !== 'Waiting') return;
  if (row.held) waits.markHeld(row);
  else waits.markOrphaned(row);
}

function precedenceOf({ input, budgets }: Pass) {
  return {
    now: input.now,
    settingsOf: (queue: string) => budgets.get(queue)?.settings,
    shares: input.fairShare && shareFactors(input.fairShare, input.queues),
  };
}

function resultOf(pass: Pass, waiting: readonly WorkloadRow[]): PassResult {
  const { grants, waits, recalls, memory, more, matches } = pass;
  const reservations = pass.reservations.all();
  return {
    grants,
    waits: waits.updates,
    recalls,
    reservations,
    memory: { ...memory, overdue: new Map([...pass.overdue].filter(([uid]) => pass.reservations.of(uid))) },
    more: more || [...pass.budgets.values()].some(({ cutShort }) => cutShort),
    nextAt: nextAt(pass.input.now, waiting, reservations),
    matches,
  };
}

function nextAt(
  now: number,
  waiting: readonly WorkloadRow[],
  reservations: readonly Reservation[],
): number | undefined {
  let next = Infinity;
  for (const { allocation } of reservations) next = Math.min(next, Math.max(allocation.start, now + 1));
  for (const { notBefore } of waiting)
    if (notBefore !== null && notBefore > now) next = Math.min(next, Math.ceil(notBefore));
  return next === Infinity ? undefined : next;
}
