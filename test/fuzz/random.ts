/** Chance that can be had again: the same seed gives the same numbers. */

export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1). Mulberry32. */
  readonly next = (): number => {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  /** True so often out of one. */
  happens(share: number): boolean {
    return this.next() < share;
  }

  /** Whole, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** Undefined of nothing. */
  oneOf<T>(choices: readonly T[]): T | undefined {
    return choices[Math.floor(this.next() * choices.length)];
  }

  /** Another source, so that more asking here changes nothing there. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
