/**
 * Moves workloads that finished long ago from the queue's tables to the archive, a batch at a time, so that grants
 * need not wait for it. Nothing depends on it being done in time: a failed batch is retried an hour later.
 */
import { hasCode, messageOf } from '../errors';
import type { Controller, Shared } from '../shared/shared';

/** Milliseconds. A term that has just begun has more urgent work. */
const FIRST_MS = 60_000;
const PERIOD_MS = 3_600_000;
/** Rows per statement, and the milliseconds between two statements: at most 500 rows per second. */
const BATCH_SIZE = 500;
const BATCH_PAUSE_MS = 1_000;
const DAY_SECONDS = 24 * 3600;

export interface RetentionContext extends Pick<Shared, 'config' | 'fence' | 'onFenced' | 'now'> {
  readonly queue: Pick<Shared['queue'], 'archive'>;
  readonly time: Pick<Shared['time'], 'clock'>;
  readonly logger: Pick<Shared['logger'], 'info' | 'warn'>;
}

export class Retention implements Controller {
  private cancel = () => {};
  private underWay: Promise<void> = Promise.resolve();
  private stopped = false;
  /** Rows that this round has archived so far. */
  private archived = 0;

  constructor(private readonly context: RetentionContext) {}

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
      this.underWay = this.archiveBatch().then((next) => this.schedule(next));
    });
  }

  /** Resolves to the milliseconds until the next batch. */
  private async archiveBatch(): Promise<number> {
    const { queue, fence, config, now, logger, onFenced } = this.context;
    const { retentionDays: days } = config.queue;
    try {
      const count = await queue.archive(fence, now() - days * DAY_SECONDS, BATCH_SIZE);
      this.archived += count;
      if (count === BATCH_SIZE) return BATCH_PAUSE_MS;
      if (this.archived > 0) logger.info({ workloads: this.archived, days }, 'archived finished workloads');
      this.archived = 0;
    } catch (error) {
      if (hasCode(error, 'FLUXQ_FENCED')) onFenced(error);
      logger.warn({ error: messageOf(error) }, 'archiving failed, retrying in an hour');
    }
    return PERIOD_MS;
  }
}
