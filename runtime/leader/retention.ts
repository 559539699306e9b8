/**
 * What has been over for long leaves the queue's tables for the archive: a
 * little at a time, so that grants need not wait for it. Nothing depends on it
 * being done in time; what fails is tried again an hour later.
 */

import type { Clock } from '../clock';
import { hasCode, messageOf } from '../errors';
import type { Logger } from '../observability/log';
import type { Queue } from '../queue/store';

export interface RetentionOptions {
  readonly queue: Pick<Queue, 'archive'>;
  readonly fence: number;
  /** How long a finished workload stays. */
  readonly days: number;
  readonly onFenced: (error: Error) => void;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
}

/** A term that has just begun has more urgent things to do. */
const FIRST_MS = 60_000;
const PERIOD_MS = 3_600_000;
/** Rows in one statement, and the milliseconds between two: at most 500 rows a second. */
const PORTION = 500;
const BREATH_MS = 1_000;
const DAY = 24 * 3600;

export class Retention {
  private cancel = () => {};
  private underWay: Promise<void> = Promise.resolve();
  private stopped = false;
  private moved = 0;

  constructor(private readonly options: RetentionOptions) {}

  start(): void {
    this.schedule(FIRST_MS);
  }

  /** Resolves when no statement of it is under way any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.cancel();
    await this.underWay;
  }

  private schedule(milliseconds: number): void {
    if (this.stopped) return;
    this.cancel = this.options.clock.after(milliseconds, () => {
      this.underWay = this.portion().then((next) => this.schedule(next));
    });
  }

  /** One portion; resolves to the milliseconds until the next one. */
  private async portion(): Promise<number> {
    const { queue, fence, days, now, logger, onFenced } = this.options;
    try {
      const count = await queue.archive(fence, now() - days * DAY, PORTION);
      this.moved += count;
      if (count === PORTION) return BREATH_MS;
      if (this.moved > 0)
        logger.info({ workloads: this.moved, days }, 'archived what has been over for long');
      this.moved = 0;
    } catch (error) {
      if (hasCode(error, 'FLUXQ_FENCED')) onFenced(error);
      logger.warn({ error: messageOf(error) }, 'not archived, it is tried again in an hour');
    }
    return PERIOD_MS;
  }
}
