/**
 * Estimated starts for the first in line, whatever the policy of their queue. A plan is made some time after a pass that
 * changed something, in slices and within a budget of time, and a small change of it is not shown: an estimate that
 * moves by seconds would cost a write of a FluxJob each time.
 */
import { type Clock, restIn } from '../clock';
import { messageOf } from '../errors';
import type { Logger } from '../observability/log';
import type { PassResult } from './pass/types';
import type { Starts } from './plan-after';
import type { PlannedStarts } from './queue-plan';

/** What a plan may use: to ask whether its time is over, and to rest. */
export interface PlanBudget {
  readonly isOver: () => boolean;
  readonly rest: () => Promise<void> | undefined;
}

export interface StartEstimatesOptions {
  /** Plans the queue after this pass; undefined: the time was used up before anything could be planned. */
  readonly plan: (result: PassResult, budget: PlanBudget) => Promise<Starts | undefined>;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
  readonly logger: Pick<Logger, 'debug' | 'warn'>;
}

/** Milliseconds from a change to its plan: many changes share one. */
const GATHER_MS = 2_000;
/** Milliseconds between two plans, at least: FluxJobs show positions and estimates as often. */
const INTERVAL_MS = 10_000;
/** A plan that took long is repeated less often: plans take at most a thirtieth of the time. */
const PART_OF_TIME = 1 / 30;
/** Milliseconds for one plan, rests included: the graph of 10,000 nodes is made within them. */
const BUDGET_MS = 2_000;
/** A change below this, or below this part of the time that is left, is not shown. */
const SHOWN_SECONDS = 60;
const SHOWN_PART = 1 / 5;

export class StartEstimates {
  private shown: Starts = { planned: new Map(), likely: new Map() };
  private latest: PassResult | undefined;
  /** Milliseconds of the clock. */
  private earliest = Number.NEGATIVE_INFINITY;
  private cancelTimer: (() => void) | undefined;
  private underWay: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly options: StartEstimatesOptions) {}

  /** Unix seconds; undefined: not among the first in line, or nobody knows. */
  plannedOf(uid: string): number | undefined {
    return this.shown.planned.get(uid);
  }

  /** Unix seconds; undefined: likewise, or nothing has ended yet of which a runtime could be told. */
  likelyOf(uid: string): number | undefined {
    return this.shown.likely.get(uid);
  }

  /** A plan follows if the pass changed something, or if an estimate has passed. */
  passDone(result: PassResult): void {
    if (this.stopped || !(isNews(result) || this.hasPassed())) return;
    this.latest = result;
    if (this.underWay === undefined) this.schedule();
  }

  /** Resolves when no plan is made any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelTimer?.();
    await this.underWay;
  }

  private hasPassed(): boolean {
    const now = this.options.now();
    const { planned, likely } = this.shown;
    return [...planned.values(), ...likely.values()].some((start) => start <= now);
  }

  private schedule(): void {
    if (this.cancelTimer !== undefined) return;
    const { clock } = this.options;
    const wait = Math.max(GATHER_MS, this.earliest - clock.now());
    this.cancelTimer = clock.after(wait, () => {
      this.cancelTimer = undefined;
      this.underWay = this.replan().finally(() => {
        this.underWay = undefined;
        if (this.latest !== undefined && !this.stopped) this.schedule();
      });
    });
  }

  private async replan(): Promise<void> {
    const { clock, logger, plan } = this.options;
    const result = this.latest!;
    this.latest = undefined;
    const started = clock.now();
    const isOver = () => this.stopped || clock.now() - started > BUDGET_MS;
    try {
      const starts = await plan(result, { isOver, rest: restIn(clock) });
      if (starts !== undefined) this.show(starts);
    } catch (error) {
      logger.warn({ error: messageOf(error) }, 'the starts of waiting workloads could not be estimated');
    }
    const milliseconds = clock.now() - started;
    this.earliest = clock.now() + Math.max(INTERVAL_MS, milliseconds / PART_OF_TIME);
    logger.debug({ milliseconds, estimates: this.shown.planned.size }, 'starts estimated');
  }

  private show({ planned, likely }: Starts): void {
    const now = this.options.now();
    this.shown = {
      planned: steady(this.shown.planned, planned, now),
      likely: steady(this.shown.likely, likely, now),
    };
  }
}

function steady(shown: PlannedStarts, starts: PlannedStarts, now: number): PlannedStarts {
  const kept = [...starts].map(([uid, start]) => {
    const before = shown.get(uid);
    return [uid, before !== undefined && isClose(before, start, now) ? before : start] as const;
  });
  return new Map(kept);
}

function isNews({ grants, waits, evictions, matches }: PassResult): boolean {
  return matches > 0 || grants.length > 0 || waits.length > 0 || evictions.length > 0;
}

function isClose(shown: number, start: number, now: number): boolean {
  return shown > now && Math.abs(start - shown) <= Math.max(SHOWN_SECONDS, (start - now) * SHOWN_PART);
}
