import { setTimeout as delay } from 'node:timers/promises';
import { FluxqError, messageOf } from '../../runtime/errors';

export interface WaitOptions {
  /** Milliseconds until it is given up. @default 30000 */
  readonly timeoutMs?: number;
  /** Milliseconds between two probes. @default 50 */
  readonly everyMs?: number;
  /** Gives up as soon as it is aborted. @default - never */
  readonly signal?: AbortSignal;
}

/**
 * Probes until the answer is neither undefined nor false. A probe that throws
 * is tried again: servers restart in these tests.
 *
 * @throws FLUXQ_TEST_TIMEOUT with the description; its cause is what the last probe threw, if it did.
 */
export async function waitFor<T>(
  description: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = 30_000, everyMs = 50, signal }: WaitOptions = {},
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
      const last = cause === undefined ? '' : `; the last try said: ${messageOf(cause)}`;
      throw new FluxqError('FLUXQ_TEST_TIMEOUT', `waited in vain for ${description}${last}`, {
        value: `${timeoutMs} ms`,
        retryable: true,
        cause,
      });
    }
    await delay(everyMs, undefined, signal === undefined ? {} : { signal });
  }
}
