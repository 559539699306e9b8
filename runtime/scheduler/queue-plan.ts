/**
 * What the queue would do if nothing were submitted and every workload used its walltime: passes with the policies of the
 * queues, from one end of a workload to the next, on a matcher of their own. Nothing of it is decided. Estimates of FluxJobs,
 * `plan` and `whatif` are this one answer (docs/decisions/0038-defaults.md).
 */
import type { Fluxion } from '../fluxion/types';
import type { QueueSettings } from '../queue/settings';
import type { RuntimeOf } from '../queue/usual-runtimes';
import type { WaitUpdate, WorkloadRow } from '../queue/workload';
import { isEndless } from '../resources/endless';
import type { Allocation, GraphNode } from '../resources/types';
import { NEVER_MET } from './pass/dependencies';
import { runPass } from './pass/pass';
import { newPassCache, type PassCache } from './pass/pass-cache';
import { dueEnd, plannedEndOf, TERMINATION_SECONDS, withoutGrace } from './pass/planned-end';
import type { Reservation } from './pass/reservations';
import type { PassInput, PassQueue, PassResult } from './pass/types';
import { type GraphInput, type PlanGraph, planGraph } from './plan-graph';

/** FluxJobs show when so many workloads of each queue start. */
export const PLANNED = 16;
/** So many waiting workloads are planned, beside the first of each queue. */
export const MOST_PLANNED = 200;
/** With many queues, not all of their first are planned. */
const MOST_ROWS = 1_000;
/** Seconds for which a plan goes on: what waits then waits for services. */
const HORIZON_SECONDS = 365 * 24 * 3600;

export interface PlanInput
  extends GraphInput,
    Pick<PassInput, 'surroundings' | 'surpluses' | 'units' | 'fairShare' | 'outcomeOf'> {
  readonly queues: readonly QueueSettings[];
  /** Waiting rows in the order in which a pass places them. */
  readonly line: readonly WorkloadRow[];
  /** How long workloads are played to run, within their walltimes. @default - as long as these */
  readonly runtimeOf?: RuntimeOf | undefined;
}

/** uid -> Unix seconds. */
export type PlannedStarts = ReadonlyMap<string, number>;

/** What a plan says of the workloads that it contains. */
export interface QueuePlan {
  /** uid -> what it would hold and when, also of those with a reservation. A start that nobody can tell is left out. */
  readonly allocations: ReadonlyMap<string, Allocation>;
  /** uid -> why it does not start at once. */
  readonly waits: ReadonlyMap<string, WaitUpdate>;
}

/** Whether one of the first in line has no promised start. */
export function needsPlan(line: readonly WorkloadRow[]): boolean {
  return firstInLine(line).some(({ estimatedStart }) => estimatedStart === null);
}

const IMPOSSIBLE: ReadonlySet<string | null> = new Set([
  'Held',
  'Invalid',
  'RequeueLimit',
  'DependencyPending',
  'GroupIncomplete',
  'NoFluxSetup',
  'NamespaceLeft',
  'KindNotListed',
  'SchedulingGated',
  'Unsatisfiable',
]);

/** Whether it waits, and the last pass did not find that it can never start as it is. */
export function mayBePlanned({ phase, held, reason, message }: WorkloadRow): boolean {
  const isPossible = !IMPOSSIBLE.has(reason) && message?.startsWith(NEVER_MET) !== true;
  return phase === 'Waiting' && !held && isPossible;
}

/** The rows of a plan: promises are kept, and more than the first would cost time and say nothing that anybody waits for. */
export function plannedLine(line: readonly WorkloadRow[]): readonly WorkloadRow[] {
  const rows = new Set([...line.slice(0, MOST_PLANNED), ...firstInLine(line).slice(0, MOST_ROWS)]);
  return line.filter((row) => rows.has(row) || row.estimatedStart !== null);
}

/**
 * The starts of the first of each queue. By walltimes, those with a reservation have a better one already.
 * @returns undefined if the time was used up before anything could be planned
 */
export async function planStarts(input: PlanInput): Promise<PlannedStarts | undefined> {
  const promised = input.runtimeOf ? undefined : promisedAllocations(input);
  const first = firstInLine(input.line).map(({ uid }) => uid);
  const wanted = new Set(first.filter((uid) => promised?.has(uid) !== true));
  const plan = await planQueue(input, wanted);
  if (plan === undefined) return undefined;
  return new Map(
    [...plan.allocations].flatMap(([uid, { start }]) => (wanted.has(uid) ? [[uid, start] as const] : [])),
  );
}

/**
 * @param wanted the plan ends when these have started. @default - when nothing waits any more
 * @returns undefined if the time was used up before the first pass; else the starts that were reached within the time
 */
export async function planQueue(
  given: PlanInput,
  wanted?: ReadonlySet<string>,
): Promise<QueuePlan | undefined> {
  const input = { ...given, holders: given.holders.map((row) => startedBy(row, given.now)) };
  const graph = await planGraph(input);
  if (graph === undefined) return undefined;
  const play = new Play(input, graph);
  await play.run(wanted ?? new Set(input.line.map(({ uid }) => uid)));
  await graph.matcher.close();
  // A promise that the time did not reach is kept.
  for (const [uid, allocation] of promisedAllocations(input))
    if (!play.allocations.has(uid)) play.allocations.set(uid, allocation);
  return play;
}

/** What is late with its start is played to start now. */
function startedBy(row: WorkloadRow, now: number): WorkloadRow {
  const { allocation, startedAt, evictionReason, walltime } = row;
  if (allocation === null || startedAt !== null || evictionReason !== null || isEndless(allocation))
    return row;
  const isLate = now - allocation.start > TERMINATION_SECONDS && dueEnd(row) > now;
  return isLate ? { ...row, startedAt: now, allocation: { ...allocation, end: now + walltime } } : row;
}

/** By uid, as they will be written in the rows. A reservation behind an end that nobody knows is no promise. */
export function promisedAllocations({
  line,
  reservations,
}: Pick<PlanInput, 'line' | 'reservations'>): ReadonlyMap<string, Allocation> {
  const rows = new Map(line.map((row) => [row.uid, row]));
  return new Map(
    reservations.flatMap(({ uid, allocation }) => {
      const row = rows.get(uid);
      return row === undefined || row.estimatedStart === null ? [] : [[uid, withoutGrace(row, allocation)]];
    }),
  );
}

/** The first of each queue, in line. */
function firstInLine(line: readonly WorkloadRow[]): readonly WorkloadRow[] {
  const counts = new Map<string, number>();
  return line.filter(({ queue }) => {
    const count = (counts.get(queue) ?? 0) + 1;
    counts.set(queue, count);
    return count <= PLANNED;
  });
}

class Play implements QueuePlan {
  readonly allocations = new Map<string, Allocation>();
  readonly waits = new Map<string, WaitUpdate>();
  private readonly running: Map<string, WorkloadRow>;
  /** uid -> when a running one is played to end. */
  private readonly ends = new Map<string, number>();
  private readonly waiting: Map<string, WorkloadRow>;
  /** Namespace and name of the workloads that ended. */
  private readonly ended = new Set<string>();
  /** Uids of those that wait for what should have ended before: its end is predicted, and their starts are no estimates. */
  private readonly unknown = new Set<string>();
  private readonly matcher: Fluxion;
  /** The same objects for all passes, with which what they found out is kept. */
  private readonly settings: readonly QueueSettings[];
  private reservations: readonly Reservation[];
  private cache: PassCache;
  private isFirst = true;
  private freed = true;
  /** One array for all passes: what is counted over it is kept with it. */
  private readonly nodes: readonly GraphNode[];

  constructor(
    private readonly input: PlanInput,
    { matcher, reservations }: PlanGraph,
  ) {
    const { holders, line, now } = input;
    this.matcher = matcher;
    const depth = Math.max(1, line.length);
    this.settings = input.queues.map((queue) => ({ ...queue, depth }));
    this.running = new Map(holders.map((row) => [row.uid, row]));
    for (const row of holders) this.ends.set(row.uid, this.endOf(row, now));
    // Without a message every wait is news.
    this.waiting = new Map(input.line.map((row) => [row.uid, { ...row, message: '' }]));
    this.reservations = reservations;
    // What it cannot hold of the promises is lost, and has its rights.
    const reserved = new Map(input.reservations.map((one) => [one.uid, one]));
    const promised = new Map(input.reservations.map(({ uid, allocation }) => [uid, allocation.start]));
    this.cache = { ...newPassCache(), reserved, promised };
    this.nodes = [...input.nodes.values()];
  }

  async run(wanted: ReadonlySet<string>): Promise<void> {
    const { input } = this;
    const left = new Set(wanted);
    for (let now = input.now; left.size > 0 && !input.isOver(); ) {
      const { more, nextAt = Number.POSITIVE_INFINITY, waits, grants } = await this.pass(now);
      if (now === input.now) this.tell(waits);
      for (const { uid } of grants) left.delete(uid);
      await input.rest();
      if (more) continue;
      const next = Math.min(this.nextEnd(), nextAt);
      if (next >= input.now + HORIZON_SECONDS) return;
      now = Math.max(now + 1, next);
      await this.endUntil(now);
    }
  }

  private tell(waits: readonly WaitUpdate[]): void {
    const reserved = new Set(this.reservations.map(({ uid }) => uid));
    for (const wait of waits) {
      this.waits.set(wait.uid, wait);
      if (wait.estimatedStart === null && reserved.has(wait.uid)) this.unknown.add(wait.uid);
    }
  }

  private async pass(now: number): Promise<PassResult> {
    const { surroundings, surpluses, units, fairShare, outcomeOf, unmanaged, isOver, rest } = this.input;
    const result = await runPass({
      now,
      queues: this.queues(),
      matcher: this.matcher,
      reservations: this.reservations,
      cache: this.cache,
      freed: this.freed,
      graphGrew: this.isFirst,
      nodes: this.nodes,
      evicts: false,
      unmanaged,
      interrupted: isOver,
      rest,
      ...(surroundings && { surroundings }),
      ...(surpluses && { surpluses }),
      ...(units && { units }),
      ...(fairShare && { fairShare }),
      outcomeOf: (namespace, name) =>
        this.ended.has(`${namespace}/${name}`) ? 'Succeeded' : outcomeOf?.(namespace, name),
    });
    this.reservations = result.reservations;
    this.cache = result.cache;
    this.isFirst = false;
    this.freed = false;
    for (const { uid, allocation } of result.grants) this.start(uid, allocation, now);
    return result;
  }

  private queues(): readonly PassQueue[] {
    const rows = Map.groupBy([...this.running.values(), ...this.waiting.values()], ({ queue }) => queue);
    return this.settings.map((settings) => ({ settings, rows: rows.get(settings.name) ?? [] }));
  }

  private start(uid: string, allocation: Allocation, now: number): void {
    const row = this.waiting.get(uid)!;
    this.waiting.delete(uid);
    if (!this.unknown.has(uid)) this.allocations.set(uid, allocation);
    const started: WorkloadRow = { ...row, phase: 'Running', allocation, allocatedAt: now, startedAt: now };
    this.running.set(uid, started);
    this.ends.set(uid, this.endOf(started, now));
  }

  /** One that has run for longer than usual is played to run for as long again. */
  private endOf(row: WorkloadRow, now: number): number {
    const due = plannedEndOf(row, now);
    const usual = isEndless(row.allocation!) ? undefined : this.input.runtimeOf?.(row);
    if (usual === undefined) return due;
    const ran = now - (row.startedAt ?? row.allocation!.start);
    const left = usual > ran ? usual - ran : ran;
    return Math.min(due, now + Math.max(1, Math.ceil(left)));
  }

  private nextEnd(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const end of this.ends.values()) next = Math.min(next, end);
    return next;
  }

  private async endUntil(now: number): Promise<void> {
    for (const [uid, end] of [...this.ends]) {
      if (end > now) continue;
      const row = this.running.get(uid)!;
      await this.matcher.cancel(row.jobid);
      this.ends.delete(uid);
      this.running.delete(uid);
      this.ended.add(`${row.namespace}/${row.name}`);
      this.freed = true;
    }
  }
}
