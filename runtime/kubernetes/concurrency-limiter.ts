/**
 * A limit on writes in flight. A pass that releases 5,000 workloads must not
 * open 5,000 connections; what is only nice to have (Events) goes when nothing
 * else waits.
 */
export class ConcurrencyLimiter {
  #free: number;
  readonly #waiting: (() => void)[] = [];
  readonly #low: (() => void)[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  /** Writes that wait for a slot. */
  get waiting(): number {
    return this.#waiting.length + this.#low.length;
  }

  /** Runs it when a slot is free, in order of calls; low ones after all others. */
  async run<T>(low: boolean, write: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => (low ? this.#low : this.#waiting).push(resolve));
    try {
      return await write();
    } finally {
      const next = this.#waiting.shift() ?? this.#low.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
