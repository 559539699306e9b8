/** Work queues of a term: what fails is tried again soon, what is refused later, and a fence that is old ends the term. */

import type { Time } from '../clock';
import { FluxqError, hasCode } from '../errors';
import { type ReconcileResult, WorkQueue } from '../kubernetes/work-queue';
import type { Logger } from '../observability/log';

export interface ReconcileQueueOptions {
  /** For logs. */
  readonly name: string;
  readonly concurrency: number;
  readonly reconcile: (key: string) => Promise<ReconcileResult>;
  /** The database has seen a newer leader. */
  readonly onFenced: (error: Error) => void;
  readonly logger: Logger;
  readonly time: Time;
}

/** A connection that is back must not be waited for. Milliseconds. */
const RETRY = { first: 250, most: 4_000 };
/** What no repetition can cure is looked at again this late: it may be accepted when something else has changed. */
const REFUSED_MS = 30_000;

export function reconcileQueue(options: ReconcileQueueOptions): WorkQueue {
  const { name, concurrency, reconcile, onFenced, logger, time } = options;
  return new WorkQueue({
    name,
    concurrency,
    logger,
    backoff: RETRY,
    clock: time.clock,
    random: time.random,
    reconcile: async (key) => {
      try {
        return await reconcile(key);
      } catch (error) {
        if (hasCode(error, 'FLUXQ_FENCED')) {
          onFenced(error);
          throw error;
        }
        if (!(error instanceof FluxqError) || error.retryable) throw error;
        logger.error({ queue: name, key, err: error }, error.message);
        return { after: REFUSED_MS };
      }
    },
  });
}
