/** So many per second on average, a burst at once. */
export class TokenBucket {
  private tokens: number;
  private filledAt: number | undefined;

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
  ) {
    this.tokens = burst;
  }

  /**
   * @param now seconds
   * @returns 0 and takes one; else the seconds until it is worth asking again
   */
  take(now: number): number {
    const passed = Math.max(0, now - (this.filledAt ?? now));
    this.filledAt = now;
    this.tokens = Math.min(this.burst, this.tokens + passed * this.perSecond);
    if (this.tokens < 1) return (1 - this.tokens) / this.perSecond;
    this.tokens -= 1;
    return 0;
  }
}
