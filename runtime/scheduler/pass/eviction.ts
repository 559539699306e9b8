/** Evicts workloads for another one, if Fluxion and the quotas confirm that this one then starts. */
import { QUEUE_DEFAULTS } from '../../../constructs/api/queue-defaults';
import type { MatchResult } from '../../fluxion/types';
import { isImmovable, isPastRequeueLimit, type WorkloadRow } from '../../queue/workload';
import type { Allocation } from '../../resources/types';
import { unitCounts } from '../../resources/unit-counts';
import { askedShape } from './avoidance';
import { FreeCapacity, unitsByNode, withoutUnits } from './free-capacity';
import { takeNear } from './near-starts';
import { priorityOf } from './order';
import { LEAST_GAIN_SECONDS, TERMINATION_SECONDS, terminationOf, withoutGrace } from './planned-end';
import { markMoved } from './reservation-updates';
import { forecastOf, type Pass } from './state';
import type { EvictionCandidate, Room } from './victims';

/** A workload that may be evicted, with what it holds. */
export interface Holder extends EvictionCandidate {
  readonly row: WorkloadRow;
  readonly allocation: Allocation;
}

/** Who has left for the row once, and runs again until its place, is not told to leave for it a second time. */
export function evictableFor(pass: Pass, row: WorkloadRow): Holder[] {
  const before = victimsOf(pass, row);
  return evictable(pass).filter((holder) => before?.has(holder.uid) !== true);
}

/** Who was evicted for what the row asks for: if its user has changed that since, it is another question. */
function victimsOf(
  { beneficiaries }: Pass,
  row: Pick<WorkloadRow, 'uid' | 'shape'>,
): ReadonlySet<string> | undefined {
  const before = beneficiaries.get(row.uid);
  return before?.shape === askedShape(row) ? before.victims : undefined;
}

/** What is found is the same until somebody is evicted: in a cohort each of a thousand queues may ask. */
function untilEviction<T>(find: (pass: Pass) => T): (pass: Pass) => T {
  const known = new WeakMap<Pass, { readonly evictions: number; readonly found: T }>();
  return (pass) => {
    const last = known.get(pass);
    if (last?.evictions === pass.evictions.length) return last.found;
    const found = find(pass);
    known.set(pass, { evictions: pass.evictions.length, found });
    return found;
  };
}

/**
 * All workloads that can be evicted. A bare pod can't be suspended; a workload that lost a node is requeued anyway; one past
 * its end is leaving already; and who needs longer to leave than to end frees nothing.
 */
const evictable = untilEviction(findEvictable);

function findEvictable(pass: Pass): Holder[] {
  const told = evicted(pass).map(({ row }) => row);
  const going = new Set([...told, ...goneBy(pass), ...pass.overruns].map(({ uid }) => uid));
  return pass.holders
    .filter(
      (row) =>
        !isImmovable(row) &&
        // Nothing would pin its pods again.
        pass.input.hasLeft?.(row) !== true &&
        pass.input.isUnlisted?.(row) !== true &&
        !going.has(row.uid) &&
        withoutGrace(row, row.allocation!).end > pass.input.now + terminationOf(row) &&
        row.allocation!.nodes.every(({ name }) => pass.cluster.isUp(name)),
    )
    .map((row) => ({
      uid: row.uid,
      priority: priorityOf(row, pass.budgets.get(row.queue)?.settings),
      since: runsSince(row),
      loss: lossOf(pass, row),
      row,
      allocation: row.allocation!,
    }));
}

/** The lowest priority of a workload that others may preempt; Infinity if there is none. */
export const lowestPreemptible = untilEviction((pass) =>
  evictable(pass)
    .filter(({ row }) => row.preemptible)
    .reduce((lowest, { priority }) => Math.min(lowest, priority), Infinity),
);

/** The start of its first pod, or before that its grant. */
function runsSince({ startedAt, allocatedAt }: WorkloadRow): number {
  return startedAt ?? allocatedAt ?? 0;
}

/** What an eviction costs on top of the work that is lost: to start all pods again, and a wait in the queue. */
const RESTART = { seconds: 60, coreSeconds: 600 };
/** Beyond that the cost is that of months. */
const MOST_DOUBLED = 16;

/**
 * The core-seconds that are lost if it is evicted: since its start, or since a checkpoint of which nobody knows when it was.
 * A whole number, so that sums can be compared. Each eviction doubles what the next one costs beside the work: who was evicted has run
 * least, and would be chosen every time.
 */
function lossOf({ units, input }: Pass, row: WorkloadRow): number {
  const { core = 0 } = unitCounts(row.allocation!);
  const cores = Math.max(1, (core * units.cpuMillis) / 1000);
  const ran = Math.max(0, input.now - runsSince(row));
  const { checkpointSeconds = Infinity } = row.jobspec.attributes.user ?? {};
  const again = 2 ** Math.min(row.preemptions, MOST_DOUBLED);
  const restart = (cores * RESTART.seconds + RESTART.coreSeconds) * again;
  return Math.round(cores * Math.min(ran, checkpointSeconds) + restart);
}

/** Nobody leaves in a plan. What failed too often for causes of its own ends nobody's work: it would do so once an hour, in vain. */
export function mayEndOthers(pass: Pass, row: WorkloadRow): boolean {
  if (pass.input.evicts === false) return false;
  const { requeue } = pass.budgets.get(row.queue)?.settings ?? QUEUE_DEFAULTS;
  return !isPastRequeueLimit(row, requeue);
}

/** How long its queue protects it from preemption, as Unix seconds; Infinity: it was preempted as often as it may be. */
export function protectedUntil(pass: Pass, { row, since }: Holder): number {
  const { preemption } = pass.budgets.get(row.queue)?.settings ?? QUEUE_DEFAULTS;
  if (row.preemptions >= preemption.limit) return Infinity;
  // A leader whose clock was ahead may have written a later start.
  return Math.min(since, pass.input.now) + preemption.minRuntimeSeconds;
}

type Holdings = ReadonlyMap<number, Allocation>;

const holdings = new WeakMap<Pass, Holdings>();

/**
 * By job id: what Fluxion holds for the rows. It holds a row on other units where its node has lost some, and not at all where another row
 * has the same units. No pass changes that.
 */
async function holdingsOf(pass: Pass): Promise<Holdings> {
  const known = holdings.get(pass);
  if (known !== undefined) return known;
  const { jobs } = await pass.input.matcher.state();
  const found = new Map(jobs.map((job) => [job.jobid, job]));
  holdings.set(pass, found);
  return found;
}

const NONE: Pick<Allocation, 'nodes'> = { nodes: [] };

/**
 * Room on nodes for the row when those that leave soon have left, beside the reservations of the rows before it and without regard to
 * quota. Who leaves later is no reason to wait: others may be gone long before.
 * @param notBefore when the row may start at the earliest. @default - now
 */
export async function nodeRoom(pass: Pass, row: WorkloadRow, notBefore?: number): Promise<Room<Holder>> {
  const { input } = pass;
  const at = leavesBy(pass, notBefore);
  const held = await holdingsOf(pass);
  const unitsOf = ({ jobid }: WorkloadRow) => held.get(jobid) ?? NONE;
  const free = new FreeCapacity(row.jobspec, await input.matcher.state());
  for (const other of goneBy(pass, at)) free.release(unitsOf(other));
  // Who comes after one that leaves late takes nothing more than that one holds until then.
  const late = unitsByNode(goneAfter(pass, at).map(unitsOf));
  for (const { uid, allocation } of pass.reservations.reachedBefore(input.now + row.walltime))
    if (uid !== row.uid) free.take(withoutUnits(allocation, late));
  takeNear(pass, row, free);
  return {
    get missing() {
      return free.missing;
    },
    release: (holder) => free.release(unitsOf(holder.row)),
    take: (holder) => free.take(unitsOf(holder.row)),
  };
}

interface Evicted {
  readonly row: WorkloadRow;
  readonly end: number;
}

/** Workloads that were evicted by this pass or an earlier one, with the planned end of each. */
export const evicted = untilEviction(findEvicted);

function findEvicted({ holders, evictions }: Pass): readonly Evicted[] {
  const ends = new Map(evictions.map(({ uid, end }) => [uid, end]));
  return holders
    .filter(({ uid, evictionReason }) => evictionReason !== null || ends.has(uid))
    .map((row) => ({ row, end: Math.min(row.allocation!.end, ends.get(row.uid) ?? Infinity) }));
}

/** Whether workloads that were evicted for the row have not left: then nobody else leaves in their place. */
export function isAwaiting(pass: Pass, row: WorkloadRow): boolean {
  const victims = victimsOf(pass, row);
  return victims !== undefined && evicted(pass).some((other) => victims.has(other.row.uid));
}

/** When the pods of a workload that is evicted now would be gone, or the later time at which the row may start. */
export function leavesBy({ input }: Pass, notBefore = input.now): number {
  return Math.max(input.now + TERMINATION_SECONDS, notBefore);
}

/** At their end by then: they have to leave, or it is that of their walltime, which is no prediction. */
function goneBy(pass: Pass, by = leavesBy(pass)): WorkloadRow[] {
  const ends = new Map(evicted(pass).map(({ row, end }) => [row, end]));
  const late = new Set(pass.overruns.map(({ uid }) => uid));
  return pass.holders.filter(
    (row) => (ends.get(row) ?? (late.has(row.uid) ? Infinity : row.allocation!.end)) <= by,
  );
}

/** Those that have to leave, and are there longer. */
export function goneAfter(pass: Pass, by: number): WorkloadRow[] {
  return evicted(pass)
    .filter(({ end }) => end > by)
    .map(({ row }) => row);
}

/** Asks for a start that evictions make possible. */
export interface EvictionPlan<V extends Holder = Holder> {
  /** Why the victim has to leave, for its user. */
  readonly messageFor: (victim: V) => string;
  /** Asks Fluxion for the row. */
  readonly match: () => Promise<MatchResult>;
  /** When the row would start without evictions. @default - not known */
  readonly otherwise?: number;
  /** When the row may start at the earliest. @default - now */
  readonly notBefore?: number;
}

/**
 * Evicts the victims if the row then starts as soon as their pods are gone.
 * @returns the answer of Fluxion; undefined if the row would not start: nothing is evicted then
 */
export async function evictFor<V extends Holder>(
  pass: Pass,
  row: WorkloadRow,
  chosen: readonly V[],
  { messageFor, match, otherwise = Infinity, notBefore = pass.input.now }: EvictionPlan<V>,
): Promise<MatchResult | undefined> {
  const { matcher, now } = pass.input;
  const cut = (victim: V) => withEnd(victim.allocation, Math.max(now + terminationOf(victim.row), notBefore));
  const gone = Math.max(goneOf(pass, chosen), notBefore);
  if (!isWorth(otherwise, gone)) return undefined;
  for (const victim of chosen) await hold(pass, victim, victim.allocation, cut(victim));
  const answer = await match();
  if (startsBetween(pass, row, answer, { notBefore, gone })) {
    for (const victim of chosen) markEvicted(pass, victim, messageFor(victim), cut(victim).end);
    pass.quotas.kept.due.add(row.uid);
    const before = pass.beneficiaries.get(row.uid)?.victims ?? [];
    const victims = new Set([...before, ...chosen.map(({ uid }) => uid)]);
    pass.beneficiaries.set(row.uid, { victims, shape: askedShape(row) });
    return answer;
  }
  await matcher.cancel(row.jobid);
  for (const victim of chosen) await hold(pass, victim, cut(victim), victim.allocation);
  return undefined;
}

/** When the pods of all of them should be gone. */
export function goneOf({ input: { now } }: Pass, chosen: readonly Holder[]): number {
  return Math.max(now + TERMINATION_SECONDS, ...chosen.map(({ row }) => now + terminationOf(row)));
}

/** Whether somebody should leave for a start at `gone` of what would start at `otherwise`. */
export function isWorth(otherwise: number, gone: number): boolean {
  return gone + LEAST_GAIN_SECONDS <= otherwise;
}

function startsBetween(
  pass: Pass,
  row: WorkloadRow,
  answer: MatchResult,
  { notBefore, gone }: { readonly notBefore: number; readonly gone: number },
): boolean {
  if (answer.status !== 'OK') return false;
  const { allocation } = answer;
  if (allocation.start < notBefore || allocation.start > gone) return false;
  // Nodes may be free before the quota is, which the victims hold until they are gone.
  const later = { ...allocation, start: gone, end: gone + row.walltime };
  return [allocation, later].some((span) => pass.quotas.refuses(row, span) === undefined);
}

/** Plans with another end of the victim. */
async function hold(pass: Pass, { row }: Holder, before: Allocation, allocation: Allocation): Promise<void> {
  const { matcher, now } = pass.input;
  const held = (await holdingsOf(pass)).get(row.jobid);
  if (held !== undefined) {
    await matcher.cancel(row.jobid);
    await matcher.replay([withUnitsOf(held, allocation)], now);
  }
  pass.quotas.hold(row, allocation.start, allocation.end, allocation);
  const forecast = forecastOf(pass);
  forecast.remove(before);
  forecast.add(allocation);
}

/** Fluxion does not know how many pods of each pod set a node has. */
function withUnitsOf(held: Allocation, allocation: Allocation): Allocation {
  const parts = new Map(allocation.nodes.map((part) => [part.name, part]));
  return { ...allocation, nodes: held.nodes.map((part) => ({ ...parts.get(part.name), ...part })) };
}

function markEvicted(pass: Pass, { uid }: Holder, message: string, gone: number): void {
  pass.evictions.push({ uid, message, end: gone });
  // What waited for the old end may start now.
  markMoved(pass);
}

function withEnd(allocation: Allocation, gone: number): Allocation {
  return { ...allocation, end: Math.min(allocation.end, gone) };
}
