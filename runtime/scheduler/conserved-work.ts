/**
 * Looks now and then whether work waits that could start, and reports what two looks in a row have found: that is never so unless
 * scheduling is at fault.
 */
import { type Clock, restIn } from '../clock';
import { messageOf } from '../errors';
import type { Logger } from '../observability/log';
import type { WorkloadRow } from '../queue/workload';
import type { PassResult } from './pass/types';
import type { PlanBudget } from './start-estimates';

export interface ConservedWorkOptions {
  /**
   * Which workloads wait although they could start; undefined: the time was used up. The state is that of the call: nothing that ends
   * later counts.
   */
  readonly look: (result: PassResult, budget: PlanBudget) => Promise<readonly WorkloadRow[] | undefined>;
  /** Told after each look how many were found in the look before, too. */
  readonly report: (count: number) => void;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
  /** Milliseconds between two looks. @default - a minute */
  readonly everyMs?: number;
}

/** Milliseconds between two looks, and from one that found something to the next. */
const INTERVAL_MS = 60_000;
const AGAIN_MS = 10_000;
/** Looks take at most this part of the time, and each at most so many milliseconds. */
const PART_OF_TIME = 1 / 100;
const BUDGET_MS = 2_000;

export class ConservedWork {
  /** Job ids of those that the last look found: what was requeued meanwhile is another one. */
  private found: ReadonlySet<number> = new Set();
  /** Milliseconds of the clock. */
  private earliest = Number.NEGATIVE_INFINITY;
  private underWay: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly options: ConservedWorkOptions) {}

  /** A pass is done, and nothing has changed since it began. */
  settled(result: PassResult): void {
    const { clock } = this.options;
    if (this.stopped || this.underWay !== undefined || clock.now() < this.earliest) return;
    this.underWay = this.lookAt(result).finally(() => {
      this.underWay = undefined;
    });
  }

  /** Resolves when no look is taken any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.underWay;
    this.options.report(0);
  }

  private async lookAt(result: PassResult): Promise<void> {
    const { clock, logger, look, everyMs = INTERVAL_MS } = this.options;
    const started = clock.now();
    const isOver = () => this.stopped || clock.now() - started > BUDGET_MS;
    try {
      const rows = await look(result, { isOver, rest: restIn(clock) });
      if (rows !== undefined) this.compare(rows);
    } catch (error) {
      logger.warn({ error: messageOf(error) }, 'it could not be told whether work waits that could start');
    }
    const interval = this.found.size > 0 ? Math.min(AGAIN_MS, everyMs) : everyMs;
    this.earliest = clock.now() + Math.max(interval, (clock.now() - started) / PART_OF_TIME);
  }

  private compare(rows: readonly WorkloadRow[]): void {
    const { logger, report } = this.options;
    const again = rows.filter(({ jobid }) => this.found.has(jobid));
    this.found = new Set(rows.map(({ jobid }) => jobid));
    report(again.length);
    if (again.length === 0) return;
    const workloads = again.map(({ namespace, name }) => `${namespace}/${name}`);
    logger.warn({ workloads }, 'workloads wait although nodes, quota and limits have room for them');
  }
}
