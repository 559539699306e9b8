/** Spreads writes that are not urgent: so many per second, in order of asking. */
export class Pace {
  private allowance: number;
  private refilledAt: number | undefined;
  private readonly due = new Map<string, number>();

  /**
   * @param perSecond asked anew every time: it may depend on the load
   * @param burst as many may go at once
   */
  constructor(
    private readonly perSecond: () => number,
    private readonly burst: number,
  ) {
    this.allowance = burst;
  }

  /**
   * @param now seconds
   * @returns seconds until it is this key's turn; 0: now, and its turn is used
   */
  claim(key: string, now: number): number {
    const due = this.due.get(key) ?? this.enqueue(now);
    if (due > now) {
      this.due.set(key, due);
      return due - now;
    }
    this.due.delete(key);
    return 0;
  }

  /** The key needs its turn no more: the next one has it. */
  drop(key: string): void {
    if (this.due.delete(key)) this.allowance += 1;
  }

  private enqueue(now: number): number {
    const rate = this.perSecond();
    const passed = Math.max(0, now - (this.refilledAt ?? now));
    this.refilledAt = now;
    this.allowance = Math.min(this.burst, this.allowance + passed * rate) - 1;
    return this.allowance >= 0 ? now : now - this.allowance / rate;
  }
}
