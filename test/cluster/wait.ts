import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { FluxqError, messageOf } from '../../runtime/errors';

export interface WaitOptions {
  /** Timeout in milliseconds of {@link spareTime}: of what hangs, not of what is slow. @default 120000 */
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
  const began = machineTime();
  for (;;) {
    let cause: unknown;
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      cause = error;
    }
    // The clock costs nothing, and the cores of a large machine milliseconds.
    const elapsed = performance.now() - began.clock;
    const spare = elapsed > timeoutMs ? spareTime(began, machineTime()) : 0;
    if (spare > timeoutMs) {
      const last = cause === undefined ? '' : `; the last attempt failed: ${messageOf(cause)}`;
      throw new FluxqError('FLUXQ_TEST_TIMEOUT', `timed out waiting for ${description}${last}`, {
        value: `${Math.round(elapsed)} ms, of which the machine had ${Math.round(spare)} to spare`,
        retryable: true,
        cause,
      });
    }
    await delay(everyMs, undefined, signal === undefined ? {} : { signal });
  }
}

/** Milliseconds since any moment. */
interface MachineTime {
  readonly clock: number;
  /** Of all cores together. */
  readonly idle: number;
}

const machineTime = (): MachineTime => ({
  clock: performance.now(),
  idle: cpus().reduce((sum, { times }) => sum + times.idle, 0),
});

/** On a machine without a core to spare, time goes by at this part of its speed. */
const SLOWEST = 1 / 5;

/**
 * The time that a machine had for what is waited for, in milliseconds: it passes as fast as cores are idle, at most at the speed of the
 * clock and at least at a fifth of it. So a wait is short for what hangs, and long where other work keeps the machine busy.
 */
export function spareTime(from: MachineTime, to: MachineTime): number {
  const elapsed = to.clock - from.clock;
  return Math.max(elapsed * SLOWEST, Math.min(elapsed, to.idle - from.idle));
}
