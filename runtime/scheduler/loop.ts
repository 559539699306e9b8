/**
 * The scheduling loop: takes a snapshot, makes Fluxion equal to it, runs a pass, commits its decisions, and hands the
 * workloads on. Triggers are coalesced: however many arrive during a pass, one more pass follows. The loop is
 * level-triggered: a pass reads everything it needs, and a timer starts one if no trigger comes.
 */
import { restIn } from '../clock';
import { hasCode, messageOf } from '../errors';
import type { WorkloadRow } from '../queue/workload';
import type { GraphNode } from '../resources/types';
import { Audits } from './audits';
import { logDecisions } from './decision-log';
import type { DesiredState } from './fluxion-sync';
import { measureGrants } from './grant-metrics';
import type { PassPhase, SchedulingLoopOptions, Snapshot } from './loop-options';
import { NodeList } from './node-list';
import { PlacementFailures } from './pass/failures';
import { shareFactors } from './pass/fair-share';
import { jobSizes } from './pass/job-size';
import { NodeChanges } from './pass/node-changes';
import type { Precedence } from './pass/order';
import { runPass } from './pass/pass';
import type { PassCache } from './pass/pass-cache';
import type { Reservation } from './pass/reservations';
import type { PassResult } from './pass/types';
import { PhaseTimer } from './phase-timer';
import { rowsByQueue, withHeldBy } from './queue-rows';
import { Reminders } from './reminders';
import { confirmedGrants, withoutPlans } from './void-grants';

/** Without any trigger a pass runs this often. */
const IDLE_MS = 30_000;
const RETRY_MS = 1_000;
/** From the end of a pass to the next one: workloads that are submitted or end meanwhile share it. After a rest, a pass begins at once. */
const GATHER_MS = 50;
export class SchedulingLoop {
  private cancelTimer = () => {};
  private underWay: Promise<void> | undefined;
  private inspection: Promise<unknown> | undefined;
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
  /** When the last pass ended, in milliseconds of the clock. */
  private endedAt = Number.NEGATIVE_INFINITY;
  private reservations: readonly Reservation[] = [];
  private cache: PassCache | undefined;
  private readonly failures = new PlacementFailures();
  private readonly nodeList = new NodeList();
  /** The nodes of the last pass that was complete. */
  private lastNodes: readonly GraphNode[] | undefined;
  /** Milliseconds of the clock. */
  private readonly audits: Audits;
  private readonly reminders: Reminders;

  constructor(private readonly options: SchedulingLoopOptions) {
    this.audits = new Audits(options);
    this.reminders = new Reminders(options);
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
    if (!this.busy) this.schedule(Math.max(0, this.endedAt + GATHER_MS - this.options.clock.now()));
  }

  /** Requests an audit with the next pass. */
  auditSoon(): void {
    this.audits.request();
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
      sizeOf: jobSizes(this.nodeList.latest, this.options.units),
    };
  }

  /** Runs between two passes, so that Fluxion holds what was decided and nothing that is being decided. */
  inspect<T>(work: (reservations: readonly Reservation[]) => Promise<T>): Promise<T> {
    const inspected = Promise.all([this.underWay, this.inspection]).then(() => work(this.reservations));
    this.inspection = inspected.catch(() => undefined);
    return inspected;
  }

  private schedule(milliseconds: number): void {
    this.cancelTimer();
    if (this.stopped) return;
    this.cancelTimer = this.options.clock.after(milliseconds, () => {
      this.again = false;
      this.busy = true;
      const begun = this.inspection === undefined ? this.step() : this.inspection.then(() => this.step());
      this.underWay = begun.then((next) => {
        this.busy = false;
        this.endedAt = this.options.clock.now();
        this.markTried();
        // A pass that failed is repeated after a rest: what asked for one meanwhile would meet the same fault.
        this.schedule(this.again && this.problem === undefined ? GATHER_MS : next);
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
      const row = this.failures.note(error, this.options.now());
      this.problem = messageOf(error);
      this.options.graph.invalidate(this.problem);
      this.forget();
      const fields = { pass: this.passes, error: this.problem, ...(row && { uid: row.uid }) };
      logger.warn(fields, `pass failed, retrying in ${RETRY_MS / 1000}s`);
      return RETRY_MS;
    }
  }

  /** What the last pass decided is void. A rebuild follows: one of its job ids may be an allocation by then. */
  private forget(): void {
    this.reservations = [];
    this.cache = undefined;
    this.lastNodes = undefined;
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
      isLeftOut: (row) => this.failures.has(row, snapshot.now),
      problemOf: this.options.problemOf,
      cache: this.cache,
      interrupted: () => this.stopped,
      rest: restIn(clock),
      onStep: (step) => phases.start(step),
    });
    this.reservations = result.reservations;
    this.cache = result.cache;
    if (result.more) this.again = true;
    else this.lastNodes = snapshot.nodes;
    this.failures.passed(result);
    logDecisions(logger, this.passes, result, (uid) => this.options.workloadCache.byUid(uid));
    // 3. Commit, then act: a grant that is not in Postgres never happened.
    phases.start('commit');
    await this.commit(result, snapshot.reservations);
    this.options.onPassed?.(result, !this.again);
    stopTimer();
    const milliseconds = phases.stop();
    this.measure(result, milliseconds);
    const { grants, waits, evictions, matches } = result;
    // The first pass ends the hand-over to this leader.
    logger[this.passes === 1 ? 'info' : 'debug'](
      {
        pass: this.passes,
        milliseconds,
        grants: grants.length,
        waits: waits.length,
        evictions: evictions.length,
        matches,
      },
      'pass done',
    );
    return Math.min(untilNext(snapshot.now, result), Math.max(1_000, this.audits.untilNext));
  }

  private measure({ waits, reservations }: PassResult, milliseconds: Readonly<Record<string, number>>): void {
    const { metrics } = this.options;
    for (const { reason } of waits)
      if (reason === 'Invalid') metrics.invalidWorkloads.inc({ stage: 'matching' });
    for (const [phase, ms] of Object.entries(milliseconds))
      metrics.passPhaseSeconds.inc({ phase }, ms / 1000);
    metrics.reservations.set(reservations.length);
  }

  /**
   * Writes in parallel: one round trip to the database. On an error all of them are awaited first. Decisions on rows
   * that became stale during the pass are void: the database may have been restored, and hold other allocations.
   */
  private async commit(result: PassResult, before: readonly Reservation[]): Promise<void> {
    const { workloadCache, graph } = this.options;
    if (workloadCache.isStale) {
      this.cancelRefused(result.grants, []);
      this.forget();
      this.again = true;
      return;
    }
    const confirmed = confirmedGrants(result.grants, this.nodeList, this.options);
    const areVoid = confirmed.length < result.grants.length;
    const { reservations, cache, waits } = areVoid ? withoutPlans(result, before, graph) : result;
    this.reservations = reservations;
    this.cache = cache;
    const writes = [
      this.commitGrants(result, confirmed),
      this.commitEvictions(result.evictions),
      this.commitWaits(waits),
    ];
    for (const write of await Promise.allSettled(writes)) if (write.status === 'rejected') throw write.reason;
  }

  private async commitGrants({ grants, line }: PassResult, confirmed: PassResult['grants']): Promise<void> {
    if (grants.length === 0) return;
    const { workloadCache, metrics, graph, onGranted } = this.options;
    graph.granted(confirmed);
    // A grant forgets the promise before it.
    const promised = new Map(confirmed.map(({ uid }) => [uid, workloadCache.byUid(uid)?.estimatedStart]));
    const granted = confirmed.length === 0 ? [] : await workloadCache.allocate(confirmed);
    this.cancelRefused(grants, granted);
    for (const row of granted) onGranted(row);
    measureGrants(metrics, { granted, promised, line, now: this.options.now() });
  }

  /** Refused grants hold nothing: of rows that left Waiting during the pass, or on nodes that changed. */
  private cancelRefused(grants: PassResult['grants'], granted: readonly WorkloadRow[]): void {
    const accepted = new Set(granted.map(({ uid }) => uid));
    const refused = grants.filter(({ uid }) => !accepted.has(uid));
    for (const { allocation } of refused) this.options.graph.cancelLater(allocation.jobid);
    if (refused.length > 0) this.again = true;
  }

  /** The pods of what waits for another controller have to exist. */
  private async commitWaits(waits: PassResult['waits']): Promise<void> {
    if (waits.length === 0) return;
    const { workloadCache, onPending } = this.options;
    for (const row of await workloadCache.wait(waits)) if (row.reason === 'SchedulingGated') onPending(row);
  }

  private async commitEvictions(evictions: PassResult['evictions']): Promise<void> {
    if (evictions.length === 0) return;
    const { workloadCache, onEvictionRequested } = this.options;
    for (const row of await workloadCache.requestEviction(evictions)) onEvictionRequested(row);
  }

  /** The input of a pass. Fluxion is made equal to it. */
  private async snapshot(phases: PhaseTimer<PassPhase>): Promise<Snapshot> {
    const { workloadCache, graph, unmanaged, surpluses } = this.options;
    phases.start('audit');
    if (workloadCache.isStale) await this.reload();
    this.reminders.tell();
    const audited = await this.audits.run();
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
      // would hide that. An end that moved meanwhile moves with the next pass: behind that which Fluxion
      // has, others are planned.
      ...rowsByQueue(this.options.queues(), withHeldBy(holders, workloadCache.active())),
      ...(fairShare === undefined ? {} : { fairShare }),
      hasLeft: this.options.hasLeft,
      isUnlisted: this.options.isUnlisted,
      nodes,
      unmanaged: desired.unmanaged,
      surpluses: surpluses(),
      reservations,
      graphGrew: nodes !== this.lastNodes,
      ...(nodes === this.lastNodes ? {} : { nodeChanges: NodeChanges.between(this.lastNodes, nodes) }),
      freed,
      outcomeOf: workloadCache.outcomeOf.bind(workloadCache),
    };
  }

  private async reload(): Promise<void> {
    const { workloadCache, graph } = this.options;
    graph.invalidate('the workload cache was reloaded');
    await workloadCache.reload();
    this.audits.reloaded();
  }

  private async fluxionDiffers(desired: DesiredState): Promise<boolean> {
    const { workloadCache, graph, onFluxionDiffers } = this.options;
    const difference = await graph.verify(desired, (row) => workloadCache.byUid(row.uid) === row);
    if (difference === undefined) return false;
    this.reservations = [];
    onFluxionDiffers(difference);
    return true;
  }
}

/** A pass runs at the second at which time alone changes a decision; the idle timer would be late. */
function untilNext(now: number, { nextAt = Infinity }: PassResult): number {
  return Math.min(IDLE_MS, Math.max(1_000, (nextAt - now) * 1000));
}
