import type { Clock } from '../../runtime/clock';

/** A clock whose time advances only when a test moves it. */
export class ManualClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#now + milliseconds, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Milliseconds until the next timer; undefined if there is none. */
  get next(): number | undefined {
    return this.#timers.length === 0 ? undefined : Math.min(...this.#timers.map(({ at }) => at)) - this.#now;
  }

  /** Advances the time without firing timers, like a process that was frozen. */
  freeze(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** Advances the time, fires the timers on the way in order, and lets promises settle after each of them. */
  async advance(milliseconds: number): Promise<void> {
    await settle();
    const end = this.#now + milliseconds;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
      await settle();
    }
    this.#now = end;
    await settle();
  }
}

/** Lets the reactions of settled promises run. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
