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

export interface Time {
  readonly clock: Clock;
  /** Unix seconds as the machine has them. */
  readonly wall: () => number;
  /** Spreads what would otherwise come together. */
  readonly random: Random;
}

export const systemTime: Time = { clock: systemClock, wall: () => Date.now() / 1000, random: Math.random };

/** Of the time that has passed, so much goes into catching up with a wall clock that jumped. */
const SLEW = 0.5;

/**
 * Unix seconds that never run backwards and never jump: they start at the wall
 * clock's, go on with the steady clock, and follow the wall clock slowly.
 */
export function steadySeconds({ clock, wall }: Pick<Time, 'clock' | 'wall'>): () => number {
  let seconds = wall();
  let asOf = clock.now();
  return () => {
    const now = clock.now();
    const passed = Math.max(0, now - asOf) / 1000;
    asOf = Math.max(asOf, now);
    const behind = wall() - (seconds + passed);
    seconds += passed + Math.min(Math.max(behind, -SLEW * passed), SLEW * passed);
    return seconds;
  };
}
