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

/** Namespaces whose rates are kept before those at rest are forgotten. */
const MOST_NAMESPACES = 1_000;
/** Changes per second below which a namespace is at rest. */
const AT_REST = 0.1;

/** Whether many workloads start and end at this moment. */
export class Busyness {
  private readonly rate = new ChangeRate();
  private readonly longRate = new ChangeRate(BURST_WINDOW_SECONDS);
  private readonly byNamespace = new Map<string, ChangeRate>();
  private began: number | undefined;
  private burstBegan: number | undefined;

  constructor(
    private readonly thresholds: BusyThresholds,
    /** Unix seconds. */
    private readonly now: () => number,
  ) {}

  /** A row has changed. */
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

  /** A workload of this namespace has entered another phase. */
  recordPhase(namespace: string): void {
    const now = this.now();
    this.rateOf(namespace, now).recordChange(now);
  }

  /**
   * In the last second and over some seconds: a few workloads that one user submits together do not make the queue busy. A
   * function of its own, which many parts take.
   */
  readonly isBusy = (): boolean => {
    const now = this.now();
    return [this.rate, this.longRate].every((rate) => rate.perSecond(now) > this.thresholds.busy);
  };

  /** Whether this namespace alone starts and ends so many workloads that nobody reads single ones of them. */
  readonly isBursting = (namespace: string): boolean =>
    (this.byNamespace.get(namespace)?.perSecond(this.now()) ?? 0) > this.thresholds.burst;

  /** The number of namespaces whose rates are kept. @internal exported for tests */
  get namespaces(): number {
    return this.byNamespace.size;
  }

  /** Unix seconds at which the queue became busy, if that became a burst, and until it is busy no more. */
  get burstSince(): number | undefined {
    return this.isBusy() ? this.burstBegan : undefined;
  }

  private rateOf(namespace: string, now: number): ChangeRate {
    const known = this.byNamespace.get(namespace);
    if (known !== undefined) return known;
    if (this.byNamespace.size >= MOST_NAMESPACES)
      for (const [name, rate] of this.byNamespace)
        if (rate.perSecond(now) < AT_REST) this.byNamespace.delete(name);
    const rate = new ChangeRate(BURST_WINDOW_SECONDS);
    this.byNamespace.set(namespace, rate);
    return rate;
  }
}
