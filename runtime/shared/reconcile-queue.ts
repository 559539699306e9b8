import type { Time } from '../clock';
import { FluxqError, hasCode } from '../errors';
import { type ReconcileResult, WorkQueue } from '../kubernetes/work-queue';
import type { Logger } from '../observability/log';
import type { ControllerMetrics } from '../observability/metrics';

export interface ReconcileQueueOptions {
  /** For logs. */
  readonly name: string;
  readonly concurrency: number;
  /** @default - all keys are one group */
  readonly groupOf?: (key: string) => string;
  readonly reconcile: (key: string) => Promise<ReconcileResult>;
}

/** What a work queue needs of the term. */
export interface ReconcileQueueContext {
  readonly onFenced: (error: Error) => void;
  readonly logger: Logger;
  readonly time: Time;
  readonly metrics: Pick<ControllerMetrics, 'queueDepths' | 'queueRuns'>;
}

/** Milliseconds. The retries are frequent, so that work continues as soon as a connection is restored. */
const BACKOFF = { first: 250, most: 4_000 };
/** A rejected write is retried this late, in milliseconds: it may be accepted when something else has changed. */
const REJECTED_MS = 30_000;

/** Milliseconds: the longest wait of a key whose requests alone are not answered. */
const SLOW_MOST_MS = 600_000;

/**
 * A work queue of a term. A failed key is retried with backoff, a rejected one after 30 s, and FLUXQ_FENCED ends the
 * term. A key on which the program itself fails, whatever its object contains, is retried like a rejected one.
 * A key whose request is not answered in time while others are waits twice as long each time: some objects cost the
 * apiserver a minute of its processor for each write.
 */
export function reconcileQueue(
  { onFenced, logger, time, metrics }: ReconcileQueueContext,
  { name, concurrency, groupOf, reconcile }: ReconcileQueueOptions,
): WorkQueue {
  const hopeless = new HopelessKeys(name, logger);
  const queue = new WorkQueue({
    name,
    concurrency,
    ...(groupOf === undefined ? {} : { groupOf }),
    logger,
    backoff: BACKOFF,
    clock: time.clock,
    random: time.random,
    onOutcome: (_, outcome) => metrics.queueRuns.inc({ queue: name, outcome }),
    reconcile: async (key) => {
      const { answered } = hopeless;
      try {
        const result = await reconcile(key);
        hopeless.succeeded(key);
        return result;
      } catch (error) {
        if (hasCode(error, 'FLUXQ_FENCED')) onFenced(error);
        const after = hopeless.delayOf(key, error, answered);
        if (after === undefined) throw error;
        return { after };
      }
    },
  });
  metrics.queueDepths.set(name, () => queue.waiting);
  return queue;
}

/** Keys for which a retry after a moment would fail again. */
class HopelessKeys {
  /** How many runs of any key have succeeded. */
  answered = 0;
  /** The last error of keys that were rejected. */
  private readonly rejected = new Map<string, string>();
  /** How often keys were not answered, one time after the other. */
  private readonly unanswered = new Map<string, number>();

  constructor(
    private readonly name: string,
    private readonly logger: Logger,
  ) {}

  succeeded(key: string): void {
    this.answered += 1;
    this.rejected.delete(key);
    this.unanswered.delete(key);
  }

  /**
   * Milliseconds until the next run of a key that failed; undefined: the usual backoff.
   * @param before `answered` when the run began
   */
  delayOf(key: string, error: unknown, before: number): number | undefined {
    if (hasCode(error, 'FLUXQ_KUBERNETES_TIMEOUT') && this.answered > before) return this.slow(key, error);
    return !hasCode(error, 'FLUXQ_FENCED') && isPermanent(error) ? this.reject(key, error) : undefined;
  }

  private slow(key: string, { message }: Error): number {
    const times = (this.unanswered.get(key) ?? 0) + 1;
    this.unanswered.set(key, times);
    this.logger.warn({ queue: this.name, key, times }, message);
    return Math.min(SLOW_MOST_MS, REJECTED_MS * 2 ** (times - 1));
  }

  private reject(key: string, error: Error): number {
    // The stack is the same each time.
    const isKnown = this.rejected.get(key) === error.message;
    this.logger.error({ queue: this.name, key, ...(isKnown ? {} : { err: error }) }, error.message);
    this.rejected.set(key, error.message);
    return REJECTED_MS;
  }
}

/** Whether the same call fails again while nothing has changed. */
function isPermanent(error: unknown): error is Error {
  if (error instanceof FluxqError) return !error.retryable;
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}
