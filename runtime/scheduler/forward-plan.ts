/**
 * What the queue would do if nothing were submitted and every workload used its walltime: passes with the policies of the
 * queues, from one end of a workload to the next, on a matcher of their own. Planned starts, `plan` and `whatif` are all this play, so
 * they have one answer. Nothing of it is decided (docs/decisions/0038-defaults.md).
 */
import type { Fluxion } from '../fluxion/types';
import type { WaitUpdate, WorkloadRow } from '../queue/workload';
import { isForeseeable } from '../resources/endless';
import type { Allocation, GraphNode } from '../resources/types';
import { runPass } from './pass/pass';
import type { PassCache } from './pass/pass-cache';
import { plannedEnd } from './pass/planned-end';
import type { Reservation } from './pass/reservations';
import type { PassQueue, PassResult } from './pass/types';
import { matcherFor, type PlanInput, type PlannedStarts, plannedRows, type QueuePlan } from './queue-plan';

/** @returns undefined if the time was used up before the first pass; else the starts that were reached within the time */
export async function playForward(input: PlanInput): Promise<QueuePlan | undefined> {
  const matcher = await matcherFor(input);
  if (matcher === undefined) return undefined;
  const play = new Play(input, matcher);
  await play.run();
  await matcher.close();
  return play;
}

/** @returns undefined if the time was used up before anything could be planned */
export async function planStarts(input: PlanInput): Promise<PlannedStarts | undefined> {
  const plan = await playForward(input);
  if (plan === undefined) return undefined;
  const starts = new Map([...plan.allocations].map(([uid, { start }]) => [uid, start] as const));
  for (const { uid } of input.reservations) starts.delete(uid);
  return starts;
}

class Play implements QueuePlan {
  readonly allocations = new Map<string, Allocation>();
  readonly waits = new Map<string, WaitUpdate>();
  private readonly running: Map<string, WorkloadRow>;
  private readonly waiting: Map<string, WorkloadRow>;
  /** Namespace and name of the workloads that ended. */
  private readonly ended = new Set<string>();
  private reservations: readonly Reservation[];
  private cache: PassCache | undefined;
  private freed = true;
  /** One array for all passes: what is counted over it is kept with it. */
  private readonly nodes: readonly GraphNode[];

  constructor(
    private readonly input: PlanInput,
    private readonly matcher: Fluxion,
  ) {
    this.running = new Map(input.holders.map((row) => [row.uid, row]));
    // Without a message every wait is news.
    this.waiting = new Map(plannedRows(input).map((row) => [row.uid, { ...row, message: '' }]));
    this.reservations = input.reservations;
    this.nodes = [...input.nodes.values()];
  }

  async run(): Promise<void> {
    await this.playEvents();
    // A promise is kept, also where the time for the play did not reach it.
    for (const { uid, allocation } of this.input.reservations)
      if (!this.allocations.has(uid)) this.allocations.set(uid, allocation);
  }

  /** Ends where nobody knows what comes next: at the end of a workload that should have ended before. */
  private async playEvents(): Promise<void> {
    const { input } = this;
    for (let now = input.now; this.waiting.size > 0 && !input.isOver(); ) {
      const { more, nextAt = Number.POSITIVE_INFINITY, waits } = await this.pass(now);
      if (now === input.now) for (const wait of waits) this.waits.set(wait.uid, wait);
      await input.rest();
      if (more) continue;
      const end = this.nextEnd();
      // Behind what has no end nothing is planned.
      if (!isForeseeable(Math.min(end.at, nextAt), input.now)) return;
      if (end.isPredicted && end.at <= nextAt) return;
      now = Math.max(now + 1, Math.min(end.at, nextAt));
      await this.endUntil(now);
    }
  }

  private async pass(now: number): Promise<PassResult> {
    const { surroundings, units, fairShare, outcomeOf, unmanaged, isOver, rest } = this.input;
    const result = await runPass({
      now,
      queues: this.queues(),
      matcher: this.matcher,
      reservations: this.reservations,
      cache: this.cache,
      freed: this.freed,
      graphGrew: this.cache === undefined,
      nodes: this.nodes,
      unmanaged,
      interrupted: isOver,
      rest,
      ...(surroundings && { surroundings }),
      ...(units && { units }),
      ...(fairShare && { fairShare }),
      outcomeOf: (namespace, name) =>
        this.ended.has(`${namespace}/${name}`) ? 'Succeeded' : outcomeOf?.(namespace, name),
    });
    this.reservations = result.reservations;
    this.cache = result.cache;
    this.freed = false;
    for (const { uid, allocation } of result.grants) this.start(uid, allocation, now);
    return result;
  }

  /** Nobody is evicted in a plan. */
  private queues(): readonly PassQueue[] {
    const rows = Map.groupBy([...this.running.values(), ...this.waiting.values()], ({ queue }) => queue);
    return this.input.queues.map((settings) => ({
      settings: { ...settings, depth: Math.max(1, this.waiting.size), preempts: false, reclaim: false },
      rows: rows.get(settings.name) ?? [],
    }));
  }

  private start(uid: string, allocation: Allocation, now: number): void {
    const row = this.waiting.get(uid)!;
    this.waiting.delete(uid);
    this.allocations.set(uid, allocation);
    this.running.set(uid, { ...row, phase: 'Running', allocation, allocatedAt: now, startedAt: now });
  }

  private nextEnd(): { readonly at: number; readonly isPredicted: boolean } {
    let next = { at: Number.POSITIVE_INFINITY, isPredicted: false };
    for (const row of this.running.values()) {
      const at = this.endOf(row);
      const isPredicted = at !== row.allocation!.end;
      if (at < next.at || (at === next.at && isPredicted)) next = { at, isPredicted };
    }
    return next;
  }

  private async endUntil(now: number): Promise<void> {
    for (const row of [...this.running.values()]) {
      if (this.endOf(row) > now) continue;
      await this.matcher.cancel(row.jobid);
      this.running.delete(row.uid);
      this.ended.add(`${row.namespace}/${row.name}`);
      this.freed = true;
    }
  }

  private endOf({ allocation }: WorkloadRow): number {
    return plannedEnd(allocation!.end, this.input.now);
  }
}
