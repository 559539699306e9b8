import type { Resource } from './request';

/** When exploring by weight stops for one resource: as soon as each share has the largest allowed count. */
export class StopCondition {
  private seen = 0;
  private sum = 0;
  private filled = 0;

  /** @param shares number of slots that need the resource; 1 without a slot */
  constructor(
    readonly resource: Resource,
    private readonly shares: number,
  ) {}

  /** Number of units that can be found one by one before it stops. */
  get missing(): number {
    return (this.shares - this.filled) * this.resource.largestCount - this.sum;
  }

  /** Units were found one by one, at most as many as are missing. */
  updateByUnit(units: number): void {
    const { largestCount } = this.resource;
    this.seen += units;
    this.filled += Math.floor((this.sum + units) / largestCount);
    this.sum = (this.sum + units) % largestCount;
  }

  /** @param total found so far. One step fills at most one share, however much it adds. */
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

/** Whether a resource of this type has enough. */
export function isSatisfied(stops: readonly StopCondition[], type: number): boolean {
  for (const stop of stops) if (stop.resource.type === type && stop.satisfied) return true;
  return false;
}
