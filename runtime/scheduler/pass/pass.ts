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
import type { Jobspec } from '../../jobspec/types';
import type { WorkloadRow } from '../../queue/workload';
import { besideEndless, countedPart, withinCluster } from './array-width';
import { avoidanceEnd, avoiding } from './avoidance';
import { holdPlaces } from './claims';
import { pendingRetries } from './costly-plans';
import { DependencyCycles } from './dependency-cycles';
import { isEligible } from './eligibility';
import { evicted } from './eviction';
import { evictionOutlook } from './eviction-outlook';
import { shareFactors } from './fair-share';
import { jobSizes } from './job-size';
import { mayGainLater } from './late-evictions';
import { LatePromises } from './late-promises';
import { movePromises } from './moved-promises';
import { inOrder, type Precedence } from './order';
import type { Beneficiary } from './pass-cache';
import { placeInOrder } from './placement';
import { withGrace } from './planned-end';
import { keepReservations } from './reservation-updates';
import type { Reservation } from './reservations';
import { beginPass, type Pass } from './state';
import type { Grant, PassInput, PassResult } from './types';
import { awaitedGrants } from './unstarted';

/**
 * @throws Error that names the workload at which it failed; its cause is `FLUXQ_FLUXION_IN_DOUBT` where Fluxion gave no answer
 */
export async function runPass(input: PassInput): Promise<PassResult> {
  const pass = beginPass(input);
  pass.waits.tellAlso((row) => evictionOutlook(pass, row));
  for (const uid of pass.beneficiaries.keys()) pass.quotas.kept.due.add(uid);
  input.onStep?.('order');
  // 1. Workloads whose queue does not exist wait for it.
  for (const row of input.orphaned ?? []) waitForQueue(pass, row);
  // 2. Workloads that may start, of all queues in one order.
  //    Of arrays that never fit whole, as many pods as fit.
  const inLine = inOrder(await withinCluster(pass, eligibleRows(pass)), precedenceOf(pass));
  const ordered = besideEndless(pass, inLine);
  pass.late = latePromisesOf(pass, ordered);
  input.onStep?.('match');
  pass.quotas.kept.setLine(ordered);
  // 3. Valid reservations are kept; those of workloads that may not start, or on nodes that are gone, are cancelled.
  await keepReservations(pass, input.reservations, ordered);
  //    Those that count on an end that has come later move with it.
  await movePromises(pass, ordered);
  // 4. Those for which others have to leave, and leave late, keep a place until the pass reaches them.
  await holdPlaces(pass, ordered);
  // 5. Place one workload after the other.
  await placeInOrder(pass, ordered);
  return resultOf(pass, ordered);
}

/** One loop: ten thousand rows that wait are looked at in every pass. */
function eligibleRows(pass: Pass): WorkloadRow[] {
  const { input, waits, cluster } = pass;
  const cycles = new DependencyCycles(() => input.queues.flatMap(({ rows }) => rows), input.outcomeOf);
  // An array fits if a part of it does.
  const fits = input.nodes && ((jobspec: Jobspec) => cluster.fits(countedPart(pass, jobspec)));
  const eligibility = { ...input, fits, cycles };
  const eligible: WorkloadRow[] = [];
  for (const { rows } of input.queues)
    for (const row of rows) {
      if (row.phase !== 'Waiting') continue;
      pass.wakeAt = Math.min(pass.wakeAt, wakeTime(row, input.now));
      if (isEligible(row, eligibility, waits)) eligible.push(avoiding(pass, withGrace(row)));
    }
  return eligible;
}

function latePromisesOf(pass: Pass, line: readonly WorkloadRow[]): LatePromises {
  const { held, broken, input } = pass;
  const { reservations, cache, now } = input;
  const lost = [...broken.keys()].flatMap((uid) => cache?.reserved.get(uid) ?? []);
  return new LatePromises(line, { held, reservations, lost, now });
}

/** The second at which its backoff ends, or at which it no longer avoids a node. */
function wakeTime(row: WorkloadRow, now: number): number {
  const { notBefore } = row;
  const avoided = avoidanceEnd(row, now) ?? Infinity;
  return notBefore !== null && notBefore > now ? Math.min(Math.ceil(notBefore), avoided) : avoided;
}

function waitForQueue({ waits, input }: Pass, row: WorkloadRow): void {
  if (row.phase === 'Waiting') waits.markOrphaned(row, input.problemOf?.(row.queue));
}

function precedenceOf({ input, budgets, units }: Pass): Precedence {
  return {
    now: input.now,
    settingsOf: (queue: string) => budgets.get(queue)?.settings,
    shares: input.fairShare && shareFactors(input.fairShare, input.queues),
    sizeOf: input.nodes && jobSizes(input.nodes, units),
  };
}

function resultOf(pass: Pass, line: readonly WorkloadRow[]): PassResult {
  const { grants, waits, evictions, cache, interrupted, restart, matches } = pass;
  const reservations = pass.reservations.all();
  const more = interrupted || restart || [...pass.budgets.values()].some(({ cutShort }) => cutShort);
  return {
    grants: grants.map(writtenGrant),
    waits: waits.updates,
    evictions,
    line,
    reservations,
    cache: {
      ...cache,
      endlessUsage: pass.endlessUsage,
      promised: promisedStarts(pass, reservations),
      reserved: new Map(reservations.map((one) => [one.uid, one])),
      ends: endsAfter(pass),
      preemptAt: pendingPreemptions(pass, line),
      beneficiaries: pendingBeneficiaries(pass, line),
      costly: pendingRetries(pass, line),
      crowding: pass.rules?.crowding ?? cache.crowding,
      claims: claimed(pass, reservations),
      freed: more && pass.freed,
      granted: grants.length > 0,
    },
    awaited: awaitedGrants(pass.unstarted, reservations, pass.input.now),
    more,
    nextAt: nextChange(pass, reservations),
    matches,
  };
}

function writtenGrant({ uid, allocation: { end }, written }: Pass['grants'][number]): Grant {
  return { uid, allocation: written, ...(written.end < end && { plannedEnd: end }) };
}

/** With those of this pass. */
function endsAfter({ holders, grants, evictions }: Pass): ReadonlyMap<number, number> {
  const cut = new Map(evictions.map(({ uid, end }) => [uid, end]));
  const ends = new Map(
    holders.map(({ uid, jobid, allocation }) => [jobid, Math.min(allocation!.end, cut.get(uid) ?? Infinity)]),
  );
  for (const { allocation } of grants) ends.set(allocation.jobid, allocation.end);
  return ends;
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

function claimed(
  { claims, interrupted, restart }: Pass,
  reservations: readonly Reservation[],
): ReadonlySet<string> {
  const uids = new Set(interrupted || restart ? claims : []);
  for (const { uid, isClaim } of reservations) if (isClaim === true) uids.add(uid);
  return uids;
}

/** Those that wait while workloads have to leave, or until their start if these have left early. */
function pendingBeneficiaries(pass: Pass, line: readonly WorkloadRow[]): ReadonlyMap<string, Beneficiary> {
  const { beneficiaries, grants } = pass;
  if (beneficiaries.size === 0) return new Map();
  const started = new Set(grants.map(({ uid }) => uid));
  const waiting = new Set(line.map(({ uid }) => uid).filter((uid) => !started.has(uid)));
  const isLeaving = evicted(pass).length > 0;
  return new Map([...beneficiaries].filter(([uid]) => waiting.has(uid) && (isLeaving || isKept(pass, uid))));
}

/** Whether its promised start has not moved to a later time. */
function isKept({ reservations, input }: Pass, uid: string): boolean {
  const start = reservations.of(uid)?.allocation.start;
  return start !== undefined && start <= (input.cache?.promised.get(uid) ?? -Infinity);
}

/** A pass that ended early may not have reached a row that was due. */
function pendingPreemptions(
  { input, preemptAt, interrupted, restart }: Pass,
  line: readonly WorkloadRow[],
): Map<string, number> {
  if (preemptAt.size === 0) return new Map();
  const eligible = new Set(line.map(({ uid }) => uid));
  const isPending = (at: number) => interrupted || restart || at > input.now;
  return new Map([...preemptAt].filter(([uid, at]) => eligible.has(uid) && isPending(at)));
}

/** The second at which a workload may be preempted, for which one was promised that now may, a reservation is due, a backoff ends, or a node is no longer avoided. */
function nextChange(pass: Pass, reservations: readonly Reservation[]): number | undefined {
  const { input, preemptAt, wakeAt, grants } = pass;
  const { now } = input;
  let next = wakeAt;
  // What has started may be what others would have to leave for.
  if (grants.length > 0 && reservations.some((one) => mayGainLater(pass, one)))
    next = Math.min(next, now + 1);
  for (const { allocation } of reservations) next = Math.min(next, Math.max(allocation.start, now + 1));
  for (const at of preemptAt.values()) if (at > now) next = Math.min(next, at);
  return next === Infinity ? undefined : next;
}
