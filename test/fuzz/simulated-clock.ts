/** A simulated clock: time passes only when all promises have settled. */
import type { Clock } from '../../runtime/clock';

interface Timer {
  readonly at: number;
  readonly order: number;
  callback: (() => void) | undefined;
}

export class SimulatedClock implements Clock {
  #now = 0;
  #order = 0;
  /** A binary heap; the first timer is the next to fire. */
  readonly #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, milliseconds), order: this.#order++, callback };
    this.#push(timer);
    return () => {
      timer.callback = undefined;
    };
  }

  pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  /** Advances the time, fires the timers in order, and lets promises settle after each one. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await settle();
    for (let next = this.#timers[0]; next !== undefined && next.at <= end; next = this.#timers[0]) {
      this.#pop();
      if (next.callback === undefined) continue;
      this.#now = next.at;
      next.callback();
      await settle();
    }
    this.#now = end;
  }

  /** Advances the time until the promise settles. */
  async until<T>(work: Promise<T>): Promise<T> {
    let open = true;
    const done = () => {
      open = false;
    };
    work.then(done, done);
    await settle();
    while (open) await this.advance(10);
    return work;
  }

  #push(timer: Timer): void {
    const heap = this.#timers;
    let i = heap.push(timer) - 1;
    while (i > 0) {
      const above = (i - 1) >> 1;
      if (!isBefore(timer, heap[above]!)) break;
      heap[i] = heap[above]!;
      i = above;
    }
    heap[i] = timer;
  }

  #pop(): void {
    const heap = this.#timers;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let i = 0;
    for (;;) {
      let below = 2 * i + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below += 1;
      if (!isBefore(heap[below]!, last)) break;
      heap[i] = heap[below]!;
      i = below;
    }
    heap[i] = last;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** All code in the simulation waits for promises or for this clock, and one turn of the event loop settles all promises. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
