import type { Time } from '../clock';
import { FluxqError, hasCode } from '../errors';
import { type ReconcileResult, WorkQueue } from '../kubernetes/work-queue';
import type { Logger } from '../observability/log';

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
}

/** Milliseconds. The retries are frequent, so that work continues as soon as a connection is restored. */
const BACKOFF = { first: 250, most: 4_000 };
/** A rejected write is retried this late, in milliseconds: it may be accepted when something else has changed. */
const REJECTED_MS = 30_000;

/**
 * A work queue of a term. A failed key is retried with backoff, a rejected one after 30 s, and FLUXQ_FENCED ends the
 * term. A key on which the program itself fails, whatever its object contains, is retried like a rejected one.
 */
export function reconcileQueue(
  { onFenced, logger, time }: ReconcileQueueContext,
  { name, concurrency, groupOf, reconcile }: ReconcileQueueOptions,
): WorkQueue {
  /** The last error of keys that were rejected. */
  const rejected = new Map<string, string>();
  return new WorkQueue({
    name,
    concurrency,
    ...(groupOf === undefined ? {} : { groupOf }),
    logger,
    backoff: BACKOFF,
    clock: time.clock,
    random: time.random,
    reconcile: async (key) => {
      try {
        const result = await reconcile(key);
        rejected.delete(key);
        return result;
      } catch (error) {
        if (hasCode(error, 'FLUXQ_FENCED')) {
          onFenced(error);
          throw error;
        }
        if (!isPermanent(error)) throw error;
        // The stack is the same each time.
        const isKnown = rejected.get(key) === error.message;
        logger.error({ queue: name, key, ...(isKnown ? {} : { err: error }) }, error.message);
        rejected.set(key, error.message);
        return { after: REJECTED_MS };
      }
    },
  });
}

/** Whether the same call fails again while nothing has changed. */
function isPermanent(error: unknown): error is Error {
  if (error instanceof FluxqError) return !error.retryable;
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}
