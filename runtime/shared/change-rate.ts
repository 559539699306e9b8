/** Counts row changes per second with exponential decay, so that the last seconds count most. */
export class ChangeRate {
  private changes = 0;
  private asOf: number | undefined;

  /** @param seconds in which a change loses two thirds of its weight */
  constructor(private readonly seconds = 1) {}

  /** Counts one change. @param now Unix seconds */
  recordChange(now: number): void {
    this.changes = this.count(now) + 1;
    this.asOf = now;
  }

  /** @param now Unix seconds */
  perSecond(now: number): number {
    return this.count(now) / this.seconds;
  }

  private count(now: number): number {
    return this.changes * Math.exp(-Math.max(0, now - (this.asOf ?? now)) / this.seconds);
  }
}

/** Seconds over which a burst is told from a few workloads that begin together. */
const BURST_WINDOW_SECONDS = 5;

export interface BusyThresholds {
  /** Changes per second beyond which the queue is busy: more than one or two workloads start and end each second. */
  readonly busy: number;
  /** Changes per second, over some seconds, beyond which nobody reads single rows any more. */
  readonly burst: number;
}

/** Whether many workloads start and end at this moment. */
export class Busyness {
  private readonly rate = new ChangeRate();
  private readonly longRate = new ChangeRate(BURST_WINDOW_SECONDS);
  private began: number | undefined;
  private burstBegan: number | undefined;

  constructor(
    private readonly thresholds: BusyThresholds,
    /** Unix seconds. */
    private readonly now: () => number,
  ) {}

  recordChange(): void {
    const now = this.now();
    if (!this.isBusy()) {
      this.began = now;
      this.burstBegan = undefined;
    }
    this.rate.recordChange(now);
    this.longRate.recordChange(now);
    if (this.longRate.perSecond(now) > this.thresholds.burst) this.burstBegan ??= this.began;
  }

  /** A function of its own, which many parts take. */
  readonly isBusy = (): boolean => this.rate.perSecond(this.now()) > this.thresholds.busy;

  /** Unix seconds at which the queue became busy, if that became a burst, and until it is busy no more. */
  get burstSince(): number | undefined {
    return this.isBusy() ? this.burstBegan : undefined;
  }
}
