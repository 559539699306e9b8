/** Time as this folder sees it, so that tests can move it by hand. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Calls back once after so many milliseconds; the result cancels it. */
  after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Resolves after so many milliseconds, or at once when the signal is aborted. */
export function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(milliseconds, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Numbers in [0, 1). */
export type Random = () => number;

export interface Backoff {
  /** Milliseconds. The first wait is between half of this and this. */
  readonly first: number;
  /** Milliseconds. No wait is longer. */
  readonly most: number;
}

/**
 * Exponential with full jitter above a floor of half the first wait: callers
 * that failed together spread out, and none of them spins.
 * @param failures 1 for the first failure
 */
export function backoff({ first, most }: Backoff, failures: number, random: Random): number {
  const ceiling = Math.min(most, first * 2 ** Math.min(failures - 1, 30));
  const floor = first / 2;
  return floor + random() * Math.max(0, ceiling - floor);
}
