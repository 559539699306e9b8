/** Spreads writes that are not urgent: so many per second, in order of asking. */
export class RateLimiter {
  /** Tickets handed out, and how many of them (counted with fractions) may go by now. */
  private issued = 0;
  private admitted: number;
  private asOf: number | undefined;
  private readonly tickets = new Map<string, number>();

  /**
   * @param perSecond asked anew every time, with the number of keys that wait: it may depend on the load
   * @param burst as many may go at once
   */
  constructor(
    private readonly perSecond: (waiting: number) => number,
    private readonly burst: number,
  ) {
    this.admitted = burst;
  }

  /**
   * @param now seconds
   * @returns seconds until it is worth asking again; 0: it is this key's turn, and the turn is used
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
    // The rate may have changed by then, so a long wait is looked at again before.
    const wait = (ticket + 1 - this.admitted) / rate;
    return wait > LONG ? Math.min(wait / 2, RECHECK) : wait;
  }

  /** The key needs its turn no more: the next one has it. */
  drop(key: string): void {
    if (this.tickets.delete(key)) this.admitted += 1;
  }
}

/** Seconds. */
const LONG = 2;
/** Seconds: what has become quiet is seen within this. */
const RECHECK = 10;
const ROUNDING = 1e-9;
