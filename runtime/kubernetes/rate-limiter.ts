/** Limits the rate of writes that are not urgent, in the order of their requests. */
export class RateLimiter {
  /** The number of issued tickets, and how many of them (with fractions) are admitted by now. */
  private issued = 0;
  private admitted: number;
  private asOf: number | undefined;
  private readonly tickets = new Map<string, number>();

  /**
   * @param perSecond the rate for this number of waiting keys. It is called for every request, so it may depend on load
   * @param burst the number of writes that are admitted at once
   */
  constructor(
    private readonly perSecond: (waiting: number) => number,
    private readonly burst: number,
  ) {
    this.admitted = burst;
  }

  /**
   * @param now seconds
   * @returns seconds until the next request for this key; 0 if the write is admitted
   */
  claim(key: string, now: number): number {
    const rate = this.perSecond(this.tickets.size);
    const passed = Math.max(0, now - (this.asOf ?? now));
    this.asOf = now;
    this.admitted = Math.min(this.issued + this.burst, this.admitted + passed * rate);
    const ticket = this.tickets.get(key) ?? this.issued++;
    if (ticket + 1 <= this.admitted + ROUNDING) {
      this.tickets.delete(key);
      return 0;
    }
    this.tickets.set(key, ticket);
    // The rate may rise meanwhile, so a long wait is checked again earlier.
    const wait = (ticket + 1 - this.admitted) / rate;
    return wait > LONG_SECONDS ? Math.min(wait / 2, RECHECK_SECONDS) : wait;
  }

  /** The key no longer needs its ticket: the next key gets it. */
  drop(key: string): void {
    if (this.tickets.delete(key)) this.admitted += 1;
  }
}

/** Seconds. A longer wait is checked again after half of it, or after RECHECK_SECONDS. */
const LONG_SECONDS = 2;
const RECHECK_SECONDS = 10;
const ROUNDING = 1e-9;
