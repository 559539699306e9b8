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

/** Whether many workloads start and end at this moment, and for how long already. */
export class Busyness {
  private readonly rate = new ChangeRate();
  private began: number | undefined;

  constructor(
    /** Changes per second beyond which the queue is busy. */
    private readonly threshold: number,
    /** Unix seconds. */
    private readonly now: () => number,
  ) {}

  recordChange(): void {
    const now = this.now();
    if (!this.isBusy()) this.began = now;
    this.rate.recordChange(now);
  }

  isBusy(): boolean {
    return this.rate.perSecond(this.now()) > this.threshold;
  }

  /** Unix seconds at which the queue became busy; undefined while it is not. */
  get since(): number | undefined {
    return this.isBusy() ? this.began : undefined;
  }
}
