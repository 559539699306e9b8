import type { Resource } from './request';

/** When a walk by weight has found enough of one resource: its most, once per share. */
export class Tally {
  private seen = 0;
  private sum = 0;
  private filled = 0;

  /** @param shares how many slots (or one) want it */
  constructor(
    readonly resource: Resource,
    private readonly shares: number,
  ) {}

  /** One step fills at most one share, however much it brings. */
  see(total: number): void {
    this.sum += total - this.seen;
    this.seen = total;
    if (this.resource.most > 0 && this.sum >= this.resource.most) {
      this.filled++;
      this.sum = 0;
    }
  }

  get satisfied(): boolean {
    return this.resource.most === 0 || this.filled >= this.shares;
  }
}

export function allSatisfied(tallies: readonly Tally[]): boolean {
  for (const tally of tallies) if (!tally.satisfied) return false;
  return true;
}

/** Whether enough of this very type was found. */
export function isSatisfied(tallies: readonly Tally[], type: number): boolean {
  for (const tally of tallies) if (tally.resource.type === type && tally.satisfied) return true;
  return false;
}
