/**
 * The scheduling loop: takes a snapshot, makes Fluxion equal to it, runs a pass, commits its decisions, and hands the
 * workloads on. Triggers are coalesced: however many arrive during a pass, one more pass follows. The loop is
 * level-triggered: a pass reads everything it needs, and a timer starts one if no trigger comes.
 */
import { type Clock, restIn } from '../clock';
import { hasCode, messageOf } from '../errors';
import type { UnitSettings } from '../jobspec/units';
import type { Logger } from '../observability/log';
import type { ControllerMetrics } from '../observability/metrics';
import type { QueueSettings } from '../queue/settings';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { GraphNode, UnitCounts } from '../resources/types';
import { logDecisions } from './decision-log';
import type { DesiredState, FluxionSync } from './fluxion-sync';
import { NodeList } from './node-list';
import { type FairShare, shareFactors } from './pass/fair-share';
import type { Precedence } from './pass/order';
import { runPass } from './pass/pass';
import type { PassCache } from './pass/pass-cache';
import type { Surroundings } from './pass/placed-pods';
import type { Reservation } from './pass/reservations';
import type { PassInput, PassResult, PassStep } from './pass/types';
import { PhaseTimer } from './phase-timer';
import { rowsByQueue } from './queue-rows';

export interface SchedulingLoopOptions {
  readonly workloadCache: WorkloadCache;
  readonly graph: FluxionSync;
  /** The nodes of the cluster as graph nodes: the same map for as long as none of them changes. */
  readonly nodes: () => ReadonlyMap<string, GraphNode>;
  /** Units in use on each node by pods outside the queue. */
  readonly unmanaged: () => ReadonlyMap<string, UnitCounts>;
  /** The pods of the cluster. */
  readonly surroundings: Surroundings;
  readonly units: UnitSettings;
  /** @returns undefined if there is no such queue */
  readonly queueSettings: (name: string) => QueueSettings | undefined;
  /** All queues, also empty ones: other queues of their cohort may borrow their idle quota. */
  readonly queues: () => readonly QueueSettings[];
  /** @returns undefined if fair share is off */
  readonly fairUsage: (now: number) => FairShare | undefined;
  /** Whether a grant for this waiting row may be committed. */
  readonly mayGrant: (row: WorkloadRow) => boolean;
  /** Called after the commit, with each workload that is to be released. */
  readonly onGranted: (row: WorkloadRow) => void;
  /** Called after the commit, with each workload that has to leave its nodes. */
  readonly onEvictionRequested: (row: WorkloadRow) => void;
  /** Compares the rows with the apiserver. @returns whether to compare again soon */
  readonly audit: () => Promise<boolean>;
  /** Called when Fluxion held other units than it should. */
  readonly onFluxionDiffers: (difference: string) => void;
  /** Milliseconds from one audit to the next. */
  readonly auditMs: number;
  /** Called when the workload cache was stale and has been reloaded: any row may have changed. */
  readonly onReloaded: () => void;
  /** Called when the lease was lost or the database has seen a newer leader. */
  readonly onFenced: (error: Error) => void;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  /** Unix seconds; they never go back. */
  readonly now: () => number;
}

/** What the loop adds to a snapshot is left out. */
type Snapshot = Omit<
  PassInput,
  'matcher' | 'surroundings' | 'units' | 'cache' | 'interrupted' | 'rest' | 'onStep' | 'nodes'
> & {
  readonly nodes: readonly GraphNode[];
};

/** `audit`: compare rows and apiserver. `sync`: make Fluxion equal to rows and nodes. `snapshot`: read the rows. */
type PassPhase = 'audit' | 'sync' | 'snapshot' | PassStep | 'commit';

/** Without any trigger a pass runs this often. */
const IDLE_MS = 30_000;
const RETRY_MS = 1_000;
/** A suspected difference is checked again after this: longer than any watch lags behind. */
const SUSPECT_MS = 6_000;
/** Workloads that are submitted or end within this time share a pass. */
const GATHER_MS = 50;

export class SchedulingLoop {
  private cancelTimer = () => {};
  private underWay: Promise<void> | undefined;
  /** Set before `underWay`: the first steps of a pass may trigger the next one. */
  private busy = false;
  private again = false;
  private stopped = true;
  private problem: string | undefined;
  private markTried: () => void = () => undefined;
  /** Resolves when the first pass has succeeded or failed. */
  readonly tried = new Promise<void>((resolve) => {
    this.markTried = resolve;
  });
  private passes = 0;
  private reservations: readonly Reservation[] = [];
  private cache: PassCache | undefined;
  private readonly nodeList = new NodeList();
  /** The nodes of the last pass that was complete. */
  private lastNodes: readonly GraphNode[] | undefined;

  /** Milliseconds of the clock. */
  private auditAt: number;

  constructor(private readonly options: SchedulingLoopOptions) {
    this.auditAt = options.clock.now() + options.auditMs;
  }

  /** Why the last pass failed; undefined if it succeeded. */
  get trouble(): string | undefined {
    return this.problem;
  }

  /** Earlier triggers are ignored: a pass over half of the cluster would requeue the other half. */
  start(): void {
    this.stopped = false;
    this.trigger();
  }

  /** Requests a pass after the current one, if any. */
  trigger(): void {
    if (this.stopped || this.again) return;
    this.again = true;
    if (!this.busy) this.schedule(GATHER_MS);
  }

  /** Requests an audit with the next pass. */
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

  /** The order in which a pass would place rows now. */
  precedence(): Precedence {
    const now = this.options.now();
    const usage = this.options.fairUsage(now);
    return {
      now,
      settingsOf: this.options.queueSettings,
      shares:
        usage &&
        shareFactors(usage, rowsByQueue(this.options.queues(), this.options.workloadCache.active()).queues),
    };
  }

  private schedule(milliseconds: number): void {
    this.cancelTimer();
    if (this.stopped) return;
    this.cancelTimer = this.options.clock.after(milliseconds, () => {
      this.again = false;
      this.busy = true;
      this.underWay = this.step().then((next) => {
        this.busy = false;
        this.markTried();
        this.schedule(this.again && next > 0 && next !== RETRY_MS ? GATHER_MS : next);
      });
    });
  }

  /** Runs one pass. @returns milliseconds until the next one */
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
      // The rebuild drops the reservations; one of their job ids may be an allocation by then.
      this.reservations = [];
      this.cache = undefined;
      logger.warn(
        { pass: this.passes, error: messageOf(error) },
        `pass failed, retrying in ${RETRY_MS / 1000}s`,
      );
      return RETRY_MS;
    }
  }

  private async pass(): Promise<number> {
    const { graph, metrics, clock, logger } = this.options;
    this.passes += 1;
    const stopTimer = metrics.passSeconds.startTimer();
    const phases = new PhaseTimer<PassPhase>(clock);
    // 1. One consistent view: rows from the workload cache, and Fluxion equal to it.
    const snapshot = await this.snapshot(phases);
    // 2. Decide.
    const result = await runPass({
      ...snapshot,
      matcher: graph.matcher,
      surroundings: this.options.surroundings,
      units: this.options.units,
      cache: this.cache,
      interrupted: () => this.stopped,
      rest: restIn(clock),
      onStep: (step) => phases.start(step),
    });
    this.reservations = result.reservations;
    this.cache = result.cache;
    if (result.more) this.again = true;
    else this.lastNodes = snapshot.nodes;
    logDecisions(logger, this.passes, result, (uid) => this.options.workloadCache.byUid(uid));
    // 3. Commit, then act: a grant that is not in Postgres never happened.
    phases.start('commit');
    await this.commit(result);
    stopTimer();
    const { grants, waits, evictions, matches } = result;
    for (const { reason } of waits)
      if (reason === 'Invalid') metrics.invalidWorkloads.inc({ stage: 'matching' });
    // The first pass ends the hand-over to this leader.
    logger[this.passes === 1 ? 'info' : 'debug'](
      {
        pass: this.passes,
        milliseconds: phases.stop(),
        grants: grants.length,
        waits: waits.length,
        evictions: evictions.length,
        matches,
      },
      'pass done',
    );
    return Math.min(untilNext(snapshot.now, result), Math.max(1_000, this.auditAt - clock.now()));
  }

  /**
   * Writes in parallel: one round trip to the database. On an error all of them are awaited first. Decisions on rows
   * that became stale during the pass are void: the database may have been restored, and hold other allocations.
   */
  private async commit(result: PassResult): Promise<void> {
    const { workloadCache } = this.options;
    if (workloadCache.isStale) {
      this.cancelRefused(result.grants, []);
      this.again = true;
      return;
    }
    const writes = [
      this.commitGrants(result.grants),
      this.commitEvictions(result.evictions),
      result.waits.length === 0 ? undefined : workloadCache.wait(result.waits),
    ];
    for (const write of await Promise.allSettled(writes)) if (write.status === 'rejected') throw write.reason;
  }

  private async commitGrants(grants: PassResult['grants']): Promise<void> {
    if (grants.length === 0) return;
    const { workloadCache, mayGrant, metrics, onGranted } = this.options;
    const confirmed = grants.filter(({ uid }) => {
      const row = workloadCache.byUid(uid);
      return row !== undefined && mayGrant(row);
    });
    const granted = confirmed.length === 0 ? [] : await workloadCache.allocate(confirmed);
    this.cancelRefused(grants, granted);
    for (const row of granted) onGranted(row);
    metrics.grants.inc(granted.length);
  }

  /** Rows that left Waiting during the pass are refused and hold nothing. */
  private cancelRefused(grants: PassResult['grants'], granted: readonly WorkloadRow[]): void {
    const accepted = new Set(granted.map(({ uid }) => uid));
    const refused = grants.filter(({ uid }) => !accepted.has(uid));
    for (const { allocation } of refused) this.options.graph.cancelLater(allocation.jobid);
    if (refused.length > 0) this.again = true;
  }

  private async commitEvictions(evictions: PassResult['evictions']): Promise<void> {
    if (evictions.length === 0) return;
    const { workloadCache, onEvictionRequested } = this.options;
    for (const row of await workloadCache.requestEviction(evictions)) onEvictionRequested(row);
  }

  /** The input of a pass. Fluxion is made equal to it. */
  private async snapshot(phases: PhaseTimer<PassPhase>): Promise<Snapshot> {
    const { workloadCache, graph, unmanaged } = this.options;
    phases.start('audit');
    if (workloadCache.isStale) await this.reload();
    const audited = await this.audit();
    phases.start('sync');
    const now = Math.floor(this.options.now());
    const known = this.options.nodes();
    const holders = [...workloadCache.active()].filter(({ allocation }) => allocation !== null);
    const desired = { now, nodes: known, holders, unmanaged: unmanaged(), reservations: this.reservations };
    const { freed, reservations } = await graph.sync(desired);
    // The snapshot may be outdated by now: Fluxion is rebuilt from a new one.
    if (audited && (await this.fluxionDiffers({ ...desired, reservations }))) return this.snapshot(phases);
    phases.start('snapshot');
    const nodes = this.nodeList.of(known);
    const fairShare = this.options.fairUsage(now);
    return {
      now,
      // The rows as they are now: Fluxion may already have freed workloads that ended meanwhile, and their old rows
      // would hide that.
      ...rowsByQueue(this.options.queues(), workloadCache.active()),
      ...(fairShare === undefined ? {} : { fairShare }),
      nodes,
      unmanaged: desired.unmanaged,
      reservations,
      graphGrew: nodes !== this.lastNodes,
      freed,
      outcomeOf: workloadCache.outcomeOf.bind(workloadCache),
    };
  }

  private async reload(): Promise<void> {
    const { workloadCache, graph, onReloaded } = this.options;
    graph.invalidate('the workload cache was reloaded');
    await workloadCache.reload();
    onReloaded();
    this.auditAt = 0;
  }

  private async fluxionDiffers(desired: DesiredState): Promise<boolean> {
    const { workloadCache, graph, onFluxionDiffers } = this.options;
    const difference = await graph.verify(desired, (row) => workloadCache.byUid(row.uid) === row);
    if (difference === undefined) return false;
    this.reservations = [];
    onFluxionDiffers(difference);
    return true;
  }

  /** @returns whether an audit was due */
  private async audit(): Promise<boolean> {
    const { audit, auditMs, clock } = this.options;
    if (clock.now() < this.auditAt) return false;
    const soon = await audit();
    this.auditAt = clock.now() + (soon ? SUSPECT_MS : auditMs);
    return true;
  }
}

/** A pass runs at the second at which time alone changes a decision; the idle timer would be late. */
function untilNext(now: number, { nextAt = Infinity }: PassResult): number {
  return Math.min(IDLE_MS, Math.max(1_000, (nextAt - now) * 1000));
}
