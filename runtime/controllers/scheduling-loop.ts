/**
 * The one loop that decides: settle Fluxion, run a pass, commit the grants,
 * hand the granted workloads on. Triggers are coalesced: however many arrive
 * while a pass runs, one more pass follows. Level-triggered: a pass reads
 * everything it needs and a timer runs one when no trigger came.
 */
import { FluxqError, messageOf } from '../errors';
import type { GraphNode } from '../fluxion/types';
import type { UnitSettings } from '../jobspec/units';
import type { Clock } from '../kubernetes/clock';
import type { Logger } from '../observability/log';
import type { ControllerMetrics } from '../observability/metrics';
import type { Ledger } from '../queue/ledger';
import type { WorkloadRow } from '../queue/types';
import { type PassQueue, runPass } from '../scheduling/pass';
import type { FluxionGraph } from './fluxion-graph';

export interface SchedulingLoopOptions {
  readonly ledger: Ledger;
  readonly graph: FluxionGraph;
  readonly nodes: () => ReadonlyMap<string, GraphNode>;
  readonly foreign: () => ReadonlyMap<string, Readonly<Record<string, number>>>;
  readonly units: UnitSettings;
  /** Policy and depth of a queue. */
  readonly queueSettings: (name: string) => Pick<PassQueue, 'policy' | 'depth'>;
  /** Called after the commit, with every workload that is now to be released. */
  readonly onGranted: (row: WorkloadRow) => void;
  /** The ledger was read again after a doubt: whoever follows rows should look at all of them. */
  readonly onReloaded: () => void;
  /** The lease was lost or the database has seen a newer leader. */
  readonly onFenced: (error: Error) => void;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  /** Unix seconds; never back. */
  readonly now: () => number;
}

/** With no trigger at all a pass still runs this often. */
const IDLE_MS = 30_000;
const RETRY_MS = 1_000;
/** What is submitted or freed within this time shares a pass. */
const GATHER_MS = 50;

export class SchedulingLoop {
  private cancelTimer = () => {};
  private underWay: Promise<void> | undefined;
  private again = false;
  private stopped = true;
  private problem: string | undefined;
  private reservations: readonly number[] = [];
  private lastNodes: ReadonlyMap<string, GraphNode> | undefined;

  constructor(private readonly options: SchedulingLoopOptions) {}

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
    if (this.underWay === undefined) this.schedule(GATHER_MS);
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
      this.underWay = this.step().then((next) => {
        this.underWay = undefined;
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
      if (error instanceof FluxqError && error.code === 'FLUXQ_FENCED') {
        this.stopped = true;
        onFenced(error);
        return IDLE_MS;
      }
      this.problem = messageOf(error);
      this.options.graph.distrust(this.problem);
      // The rebuild forgets them; a job id among them may be an allocation by then.
      this.reservations = [];
      logger.warn({ error: messageOf(error) }, 'pass given up, trying again');
      return RETRY_MS;
    }
  }

  private async pass(): Promise<number> {
    const { ledger, graph, nodes, foreign, onGranted, onReloaded, metrics } = this.options;
    const timer = metrics.passSeconds.startTimer();
    // 1. One consistent view: rows from the ledger, Fluxion equal to it.
    if (ledger.isDoubtful) {
      graph.distrust('the ledger was read again');
      await ledger.reload();
      onReloaded();
    }
    const now = Math.floor(this.options.now());
    const active = [...ledger.active()];
    const holders = active.filter(({ allocation }) => allocation !== null);
    const known = nodes();
    await graph.settle({ now, nodes: known, holders, foreign: foreign(), reservations: this.reservations });
    // 2. Decide.
    const waiting = active.filter(({ phase }) => phase === 'Waiting');
    const result = await runPass({
      now,
      queues: this.queuesOf(waiting),
      matcher: graph.matcher,
      nodes: [...known.values()],
      units: this.options.units,
      reservations: this.reservations,
      graphGrew: known !== this.lastNodes,
    });
    this.reservations = result.reservations;
    if (!result.more) this.lastNodes = known;
    if (result.more) this.again = true;
    // 3. Commit, then act: a grant that is not in Postgres never happened.
    const granted = result.grants.length === 0 ? [] : await ledger.allocate(result.grants);
    this.freeRefused(result.grants, granted);
    for (const row of granted) onGranted(row);
    metrics.grants.inc(granted.length);
    if (result.waits.length > 0) await ledger.wait(result.waits);
    timer();
    return this.untilNext(now, result.waits);
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

  private queuesOf(waiting: readonly WorkloadRow[]): PassQueue[] {
    const byQueue = Map.groupBy(waiting, ({ queue }) => queue);
    return [...byQueue]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, rows]) => ({ name, rows, ...this.options.queueSettings(name) }));
  }

  /** A reservation that comes due starts by a pass at its second, not by the idle timer. */
  private untilNext(now: number, waits: readonly { estimatedStart: number | null }[]): number {
    const due = waits.flatMap(({ estimatedStart }) => (estimatedStart === null ? [] : [estimatedStart]));
    const earliest = Math.min(...due, ...this.estimates());
    if (!Number.isFinite(earliest)) return IDLE_MS;
    return Math.min(IDLE_MS, Math.max(1_000, (earliest - now) * 1000));
  }

  private *estimates(): Iterable<number> {
    for (const { phase, estimatedStart } of this.options.ledger.active())
      if (phase === 'Waiting' && estimatedStart !== null) yield estimatedStart;
  }
}
