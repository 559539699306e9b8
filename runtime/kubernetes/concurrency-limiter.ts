/**
 * Limits the writes in flight: a pass that releases 5,000 workloads must not open 5,000 connections. Writes of low
 * priority (Events) run only while no other write waits.
 */
export class ConcurrencyLimiter {
  #free: number;
  readonly #normal: (() => void)[] = [];
  readonly #low: (() => void)[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  /** The number of writes that wait for others to finish. */
  get waiting(): number {
    return this.#normal.length + this.#low.length;
  }

  /** Runs the write as soon as the limit allows, in the order of calls. */
  async run<T>(priority: 'normal' | 'low', write: () => Promise<T>): Promise<T> {
    const waiting = priority === 'low' ? this.#low : this.#normal;
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await write();
    } finally {
      const next = this.#normal.shift() ?? this.#low.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
