/**
 * Keeps the tables bounded: moves workloads that finished long ago to the archive, removes what is older than the
 * retention of the archive, measures the tables, and removes the rows beyond the budget of their namespace. It works a batch at
 * a time, so that grants need not wait for it. A task that fails is repeated soon with fewer rows, so that no batch times out for
 * ever, and the others don't wait for it.
 */
import { hasCode, messageOf } from '../errors';
import { NANO, parseQuantity } from '../jobspec/quantity';
import type { Controller, Shared } from '../shared/shared';
import { HistoryBudget, type HistoryBudgetContext } from './history-budget';

/** Milliseconds. A term that has just begun has more urgent work. */
const FIRST_MS = 60_000;
const PERIOD_MS = 600_000;
const RETRY_MS = 60_000;
/** Rows per statement at most, and the milliseconds between two statements: at most 500 rows per second. */
const BATCH_SIZE = 500;
const BATCH_PAUSE_MS = 1_000;
const DAY_SECONDS = 24 * 3600;

export interface RetentionContext extends HistoryBudgetContext, Pick<Shared, 'onFenced'> {
  readonly queue: HistoryBudgetContext['queue'] & Pick<Shared['queue'], 'archive' | 'purge' | 'sizes'>;
  readonly time: Pick<Shared['time'], 'clock'>;
  readonly logger: Pick<Shared['logger'], 'info' | 'warn'>;
  readonly metrics: Pick<Shared['metrics'], 'databaseBytes' | 'databaseVolumeBytes'>;
}

/** One round runs these one after the other, each until it finds nothing more or fails; the longest comes last. */
const TASKS = ['archive', 'purge', 'measure', 'condense'] as const;
type Task = (typeof TASKS)[number];

export class Retention implements Controller {
  private cancel = () => {};
  private underWay: Promise<void> = Promise.resolve();
  private stopped = false;
  /** Index of the task of this round. */
  private task = 0;
  private readonly batchSizes = new Map<Task, number>();
  /** Whether a task of this round has failed. */
  private failed = false;
  /** Rows that the current task has moved or removed so far. */
  private count = 0;
  private readonly budget: HistoryBudget;

  constructor(private readonly context: RetentionContext) {
    this.budget = new HistoryBudget(context);
  }

  start(): void {
    this.schedule(FIRST_MS);
  }

  /** Resolves when no statement is in flight any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel();
    await this.underWay;
  }

  private schedule(milliseconds: number): void {
    if (this.stopped) return;
    this.cancel = this.context.time.clock.after(milliseconds, () => {
      this.underWay = this.step().then((next) => this.schedule(next));
    });
  }

  /** Resolves to the milliseconds until the next step. */
  private async step(): Promise<number> {
    const { logger, onFenced } = this.context;
    const task = TASKS[this.task]!;
    const size = this.batchSizes.get(task) ?? BATCH_SIZE;
    try {
      const { more, removed } = await this.run(task, size);
      this.batchSizes.set(task, Math.min(BATCH_SIZE, size * 2));
      this.count += removed;
      if (more) return BATCH_PAUSE_MS;
      if (this.count > 0) logger.info({ rows: this.count }, `${task}d old workloads`);
    } catch (error) {
      if (hasCode(error, 'FLUXQ_FENCED')) onFenced(error);
      const nextBatch = Math.ceil(size / 4);
      this.batchSizes.set(task, nextBatch);
      this.failed = true;
      logger.warn(
        { error: messageOf(error), task, nextBatch },
        `the task ${task} of the retention failed; it is repeated in a minute with fewer rows`,
      );
    }
    return this.nextTask();
  }

  private nextTask(): number {
    this.count = 0;
    this.task = (this.task + 1) % TASKS.length;
    if (this.task > 0) return BATCH_PAUSE_MS;
    const pause = this.failed ? RETRY_MS : PERIOD_MS;
    this.failed = false;
    return pause;
  }

  private async run(task: Task, size: number): Promise<{ more: boolean; removed: number }> {
    if (task === 'condense') return this.budget.step(size);
    if (task === 'measure') return this.measure();
    const { queue, fence, config, now } = this.context;
    const { retentionDays, archiveDays } = config.queue;
    // Both count from the last move: the end of the workload, or its archiving.
    const days = task === 'archive' ? retentionDays : archiveDays;
    const count = await queue[task](fence, now() - days * DAY_SECONDS, size);
    return { more: count >= size, removed: count };
  }

  private async measure(): Promise<{ more: boolean; removed: number }> {
    const { queue, metrics, config } = this.context;
    const { storage } = config.database;
    if (storage !== undefined)
      metrics.databaseVolumeBytes.set(Number(parseQuantity(storage, 'database.storage') / NANO));
    for (const { table, bytes } of await queue.sizes()) metrics.databaseBytes.set({ table }, bytes);
    return { more: false, removed: 0 };
  }
}
