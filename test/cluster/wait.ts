import { setTimeout as delay } from 'node:timers/promises';
import { FluxqError, messageOf } from '../../runtime/errors';

export interface WaitOptions {
  /** Timeout in milliseconds: of what hangs, not of what is slow. @default 120000 */
  readonly timeoutMs?: number;
  /** Interval of the probes in milliseconds. @default 50 */
  readonly everyMs?: number;
  /** Stops the wait when it is aborted. @default - no signal */
  readonly signal?: AbortSignal;
}

/**
 * Probes until the result is neither undefined nor false. A probe that throws is retried, because servers restart in
 * these tests.
 *
 * @throws FLUXQ_TEST_TIMEOUT with the description and the error of the last probe as cause.
 */
export async function waitFor<T>(
  description: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = 120_000, everyMs = 50, signal }: WaitOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let cause: unknown;
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline) {
      const last = cause === undefined ? '' : `; the last attempt failed: ${messageOf(cause)}`;
      throw new FluxqError('FLUXQ_TEST_TIMEOUT', `timed out waiting for ${description}${last}`, {
        value: `${timeoutMs} ms`,
        retryable: true,
        cause,
      });
    }
    await delay(everyMs, undefined, signal === undefined ? {} : { signal });
  }
}
