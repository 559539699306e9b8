/** The time of the runtime; tests replace it by a clock that they move. */
export interface Clock {
  /** Milliseconds of a clock that never runs backwards. */
  now(): number;
  /** Calls the callback once after so many milliseconds. The result cancels it. */
  after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
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

/** Milliseconds for which a loop over many objects keeps everything else waiting: leases, probes, watches. */
const SLICE_MS = 10;

/** Divides a long loop into slices of time. By a simulated clock, which stands still meanwhile, a slice is never over. */
export class TimeSlice {
  private since: number;

  constructor(private readonly clock: Clock) {
    this.since = clock.now();
  }

  begin(): void {
    this.since = this.clock.now();
  }

  get isOver(): boolean {
    return this.clock.now() - this.since >= SLICE_MS;
  }

  /** Lets everything else run, and begins the next slice. */
  async rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.begin();
  }
}

/** Work that calls this between its parts lets everything else run at the end of each slice. */
export function restIn(clock: Clock): () => Promise<void> | undefined {
  let since = clock.now();
  const rest = () =>
    new Promise<void>((resolve) => {
      clock.after(0, () => {
        since = clock.now();
        resolve();
      });
    });
  return () => (clock.now() - since >= SLICE_MS ? rest() : undefined);
}

/** Returns numbers in [0, 1). */
export type Random = () => number;

export interface Backoff {
  /** Milliseconds. The first wait is between half of this value and this value. */
  readonly first: number;
  /** Milliseconds of the longest wait. */
  readonly most: number;
}

/**
 * Exponential backoff in milliseconds, with full jitter above a floor of half the first wait: callers that failed
 * together retry at different times, and none of them retries in a tight loop.
 * @param failures 1 after the first failure
 */
export function backoff({ first, most }: Backoff, failures: number, random: Random): number {
  const ceiling = Math.min(most, first * 2 ** Math.min(failures - 1, 30));
  const floor = first / 2;
  return floor + random() * Math.max(0, ceiling - floor);
}

export interface Time {
  readonly clock: Clock;
  /** Unix seconds of the machine's clock. */
  readonly wall: () => number;
  /** The source of jitter. */
  readonly random: Random;
}

export const systemTime: Time = { clock: systemClock, wall: () => Date.now() / 1000, random: Math.random };

/** The rate at which steady seconds approach a wall clock that jumped: half a second per second. */
const SLEW = 0.5;

/**
 * Unix seconds that never run backwards and never jump: they start at the wall clock, advance with the monotonic clock,
 * and follow the wall clock slowly.
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

/** ISO 8601. A month begins in UTC, wherever somebody asks. */
export function startOfMonth(now: Date): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();
}
