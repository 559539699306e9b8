/**
 * The one loop that decides: settle Fluxion, run a pass, commit the grants,
 * hand the granted workloads on. Triggers are coalesced: however many arrive
 * while a pass runs, one more pass follows. Level-triggered: a pass reads
 * everything it needs and a timer runs one when no trigger came.
 */

import type { Clock } from '../clock';
import { hasCode, messageOf } from '../errors';
import type { UnitSettings } from '../jobspec/units';
import type { Logger } from '../observability/log';
import type { ControllerMetrics } from '../observability/metrics';
import type { QueueSettings } from '../queue/settings';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { GraphNode } from '../resources/types';
import type { Desired, FluxionSync } from './fluxion-sync';
import { type FairShare, shareFactors } from './pass/fair-share';
import type { Precedence } from './pass/order';
import { runPass } from './pass/pass';
import type { PassCache } from './pass/pass-cache';
import type { Reservation } from './pass/reservations';
import type { PassInput, PassQueue, PassResult } from './pass/types';

export interface SchedulingLoopOptions {
  readonly workloadCache: WorkloadCache;
  readonly graph: FluxionSync;
  readonly nodes: () => ReadonlyMap<string, GraphNode>;
  readonly unmanaged: () => ReadonlyMap<string, Readonly<Record<string, number>>>;
  readonly units: UnitSettings;
  /** Undefined: there is no such queue. */
  readonly queueSettings: (name: string) => QueueSettings | undefined;
  /** All queues, also those that nothing is in: others of their cohort may borrow what they don't use. */
  readonly queues: () => readonly QueueSettings[];
  /** Undefined: fair share is off. */
  readonly fairUsage: (now: number) => FairShare | undefined;
  /** Called after the commit, with every workload that is now to be released. */
  readonly onGranted: (row: WorkloadRow) => void;
  /** Called after the commit, with every workload that has to leave its nodes. */
  readonly onRecalled: (row: WorkloadRow) => void;
  /** Compares the rows with the apiserver; resolves to whether to compare again soon. */
  readonly audit: () => Promise<boolean>;
  /** Fluxion did not hold what it was to hold. */
  readonly onFluxionDiffers: (difference: string) => void;
  /** Between two audits. */
  readonly auditMs: number;
  /** The workload cache was read again after a doubt: whoever follows rows should look at all of them. */
  readonly onReloaded: () => void;
  /** The lease was lost or the database has seen a newer leader. */
  readonly onFenced: (error: Error) => void;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  /** Unix seconds; never back. */
  readonly now: () => number;
}

type Snapshot = Omit<PassInput, 'matcher' | 'units' | 'memory' | 'interrupted' | 'nodes'> & {
  readonly nodes: readonly GraphNode[];
};

/** With no trigger at all a pass still runs this often. */
const IDLE_MS = 30_000;
const RETRY_MS = 1_000;
/** What an audit suspects is looked at again after this: longer than any watch lags behind. */
const SUSPECT_MS = 6_000;
/** What is submitted or freed within this time shares a pass. */
const GATHER_MS = 50;

export class SchedulingLoop {
  private cancelTimer = () => {};
  private underWay: Promise<void> | undefined;
  /** Also while a pass takes its first steps and `underWay` is not set yet: what it reads may trigger. */
  private busy = false;
  private again = false;
  private stopped = true;
  private problem: string | undefined;
  private reservations: readonly Reservation[] = [];
  private memory: PassCache | undefined;
  private known: ReadonlyMap<string, GraphNode> | undefined;
  private nodeList: readonly GraphNode[] = [];
  /** Those of the last pass that was not cut short. */
  private lastNodes: readonly GraphNode[] | undefined;

  /** Milliseconds of the clock. */
  private auditAt: number;

  constructor(private readonly options: SchedulingLoopOptions) {
    this.auditAt = options.clock.now() + options.auditMs;
  }

  /** Why the last pass failed; undefined when it did not. */
  get trouble(): string | undefined {
    return this.problem;
  }

  /** Triggers before this count for nothing: a pass over half of the cluster would requeue the other half. */
  start(): void {
    this.stopped = false;
    this.trigger();
  }

  /** Asks for a pass as soon as the current one, if any, is over. */
  trigger(): void {
    if (this.stopped || this.again) return;
    this.again = true;
    if (!this.busy) this.schedule(GATHER_MS);
  }

  /** Asks for an audit, and a pass after it. */
  auditSoon(): void {
    this.auditAt = 0;
    this.trigger();
  }

  /** Resolves when no pass runs any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelTimer();
    await this.underWay;
  }

  private schedule(milliseconds: number): void {
    this.cancelTimer();
    if (this.stopped) return;
    this.cancelTimer = this.options.clock.after(milliseconds, () => {
      this.again = false;
      this.busy = true;
      this.underWay = this.step().then((next) => {
        this.busy = false;
        this.schedule(this.again && next > 0 && next !== RETRY_MS ? GATHER_MS : next);
      });
    });
  }

  /** One pass; resolves to the milliseconds until the next one. */
  private async step(): Promise<number> {
    const { logger, onFenced } = this.options;
    try {
      const next = await this.pass();
      this.problem = undefined;
      return next;
    } catch (error) {
      if (hasCode(error, 'FLUXQ_FENCED')) {
        this.stopped = true;
        onFenced(error);
        return IDLE_MS;
      }
      this.problem = messageOf(error);
      this.options.graph.invalidate(this.problem);
      // The rebuild forgets them; a job id among them may be an allocation by then.
      this.reservations = [];
      this.memory = undefined;
      logger.warn({ error: messageOf(error) }, 'pass given up, trying again');
      return RETRY_MS;
    }
  }

  private async pass(): Promise<number> {
    const { graph, metrics } = this.options;
    const timer = metrics.passSeconds.startTimer();
    // 1. One consistent view: rows from the workload cache, Fluxion equal to it.
    const snapshot = await this.snapshot();
    // 2. Decide.
    const result = await runPass({
      ...snapshot,
      matcher: graph.matcher,
      units: this.options.units,
      memory: this.memory,
      interrupted: () => this.stopped,
    });
    this.reservations = result.reservations;
    this.memory = result.memory;
    if (result.more) this.again = true;
    else this.lastNodes = snapshot.nodes;
    // 3. Commit, then act: a grant that is not in Postgres never happened.
    await this.commit(result);
    timer();
    return Math.min(
      untilNext(snapshot.now, result),
      Math.max(1_000, this.auditAt - this.options.clock.now()),
    );
  }

  /** Side by side: one round trip to the database. None is given up while another is under way. */
  private async commit(result: PassResult): Promise<void> {
    const { workloadCache, onRecalled } = this.options;
    const writes = [
      this.grant(result.grants),
      result.recalls.length === 0
        ? undefined
        : workloadCache.recall(result.recalls).then((rows) => rows.forEach(onRecalled)),
      result.waits.length === 0 ? undefined : workloadCache.wait(result.waits),
    ];
    for (const write of await Promise.allSettled(writes)) if (write.status === 'rejected') throw write.reason;
  }

  private async grant(grants: PassResult['grants']): Promise<void> {
    if (grants.length === 0) return;
    const { workloadCache, metrics, onGranted } = this.options;
    const granted = await workloadCache.allocate(grants);
    this.freeRefused(grants, granted);
    for (const row of granted) onGranted(row);
    metrics.grants.inc(granted.length);
  }

  /** What a pass is a function of; Fluxion is made equal to it. */
  private async snapshot(): Promise<Snapshot> {
    const { workloadCache, graph, unmanaged, onReloaded } = this.options;
    if (workloadCache.isStale) {
      graph.invalidate('the ledger was read again');
      await workloadCache.reload();
      onReloaded();
      this.auditAt = 0;
    }
    const audited = await this.audit();
    const now = Math.floor(this.options.now());
    const known = this.options.nodes();
    const holders = [...workloadCache.active()].filter(({ allocation }) => allocation !== null);
    const desired = { now, nodes: known, holders, unmanaged: unmanaged(), reservations: this.reservations };
    const { freed, reservations } = await graph.settle(desired);
    if (audited && (await this.fluxionDiffers({ ...desired, reservations }))) return this.snapshot();
    const nodes = this.listOf(known);
    const fairShare = this.options.fairUsage(now);
    return {
      now,
      // As they are by now: what ended meanwhile is free in Fluxion already, and a row that still held it would hide that.
      ...this.queuesOf(workloadCache.active()),
      ...(fairShare === undefined ? {} : { fairShare }),
      nodes,
      reservations,
      graphGrew: nodes !== this.lastNodes,
      freed,
      outcomeOf: workloadCache.outcomeOf.bind(workloadCache),
    };
  }

  /** A snapshot that was right may be old by now: the graph is made anew from the next one. */
  private async fluxionDiffers(desired: Desired): Promise<boolean> {
    const { workloadCache, graph, onFluxionDiffers } = this.options;
    const difference = await graph.verify(desired, (row) => workloadCache.byUid(row.uid) === row);
    if (difference === undefined) return false;
    this.reservations = [];
    onFluxionDiffers(difference);
    return true;
  }

  /** @returns whether it was time for one */
  private async audit(): Promise<boolean> {
    const { audit, auditMs, clock } = this.options;
    if (clock.now() < this.auditAt) return false;
    const soon = await audit();
    this.auditAt = clock.now() + (soon ? SUSPECT_MS : auditMs);
    return true;
  }

  /** The same array as long as none of them changes. */
  private listOf(known: ReadonlyMap<string, GraphNode>): readonly GraphNode[] {
    if (this.known !== known) this.nodeList = [...known.values()];
    this.known = known;
    return this.nodeList;
  }

  /** By what a pass would order rows now. */
  precedence(): Precedence {
    const now = this.options.now();
    const usage = this.options.fairUsage(now);
    return {
      now,
      settingsOf: this.options.queueSettings,
      shares: usage && shareFactors(usage, this.queuesOf(this.options.workloadCache.active()).queues),
    };
  }

  /** Rows that left Waiting while the pass ran hold nothing. */
  private freeRefused(
    grants: readonly { uid: string; allocation: { jobid: number } }[],
    granted: readonly WorkloadRow[],
  ): void {
    const kept = new Set(granted.map(({ uid }) => uid));
    const refused = grants.filter(({ uid }) => !kept.has(uid));
    for (const { allocation } of refused) this.options.graph.cancelLater(allocation.jobid);
    if (refused.length > 0) this.again = true;
  }

  private queuesOf(active: Iterable<WorkloadRow>): { queues: PassQueue[]; orphaned: WorkloadRow[] } {
    const rowsOf = Map.groupBy(active, ({ queue }) => queue);
    const queues = this.options
      .queues()
      .map((settings) => ({ settings, rows: rowsOf.get(settings.name) ?? [] }));
    for (const { settings } of queues) rowsOf.delete(settings.name);
    return { queues, orphaned: [...rowsOf.values()].flat() };
  }
}

/** What time alone changes happens by a pass at its second, not by the idle timer. */
function untilNext(now: number, { nextAt = Infinity }: PassResult): number {
  return Math.min(IDLE_MS, Math.max(1_000, (nextAt - now) * 1000));
}
