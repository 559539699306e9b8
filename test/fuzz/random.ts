/** A seeded random generator: the same seed gives the same numbers. */
export class Random {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** A number in [0, 1), by Mulberry32. */
  readonly next = (): number => {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  /** True with this probability. */
  happens(share: number): boolean {
    return this.next() < share;
  }

  /** A whole number between two limits, inclusive. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** @returns undefined for an empty list */
  oneOf<T>(choices: readonly T[]): T | undefined {
    return choices[Math.floor(this.next() * choices.length)];
  }

  /** A separate generator, so that additional calls of one do not change the numbers of the other. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
