/** How much is going on: changes per second, those of the last second or two counting most. */
export class ChangeRate {
  private changes = 0;
  private asOf: number | undefined;

  /** Something changed. @param now seconds */
  change(now: number): void {
    this.changes = this.perSecond(now) + 1;
    this.asOf = now;
  }

  perSecond(now: number): number {
    return this.changes * Math.exp(-Math.max(0, now - (this.asOf ?? now)));
  }
}
