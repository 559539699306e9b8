import type { Resource } from './request';

/** When a walk by weight has found enough of one resource: its most, once per share. */
export class StopCondition {
  private seen = 0;
  private sum = 0;
  private filled = 0;

  /** @param shares how many slots (or one) want it */
  constructor(
    readonly resource: Resource,
    private readonly shares: number,
  ) {}

  /** One step fills at most one share, however much it brings. */
  update(total: number): void {
    this.sum += total - this.seen;
    this.seen = total;
    if (this.resource.largestCount > 0 && this.sum >= this.resource.largestCount) {
      this.filled++;
      this.sum = 0;
    }
  }

  get satisfied(): boolean {
    return this.resource.largestCount === 0 || this.filled >= this.shares;
  }
}

export function allSatisfied(stops: readonly StopCondition[]): boolean {
  for (const stop of stops) if (!stop.satisfied) return false;
  return true;
}

/** Whether enough of this very type was found. */
export function isSatisfied(stops: readonly StopCondition[], type: number): boolean {
  for (const stop of stops) if (stop.resource.type === type && stop.satisfied) return true;
  return false;
}
