/** Counts row changes per second with exponential decay, so that the last one or two seconds count most. */
export class ChangeRate {
  private changes = 0;
  private asOf: number | undefined;

  /** Counts one change. @param now Unix seconds */
  recordChange(now: number): void {
    this.changes = this.perSecond(now) + 1;
    this.asOf = now;
  }

  /** @param now Unix seconds */
  perSecond(now: number): number {
    return this.changes * Math.exp(-Math.max(0, now - (this.asOf ?? now)));
  }
}
