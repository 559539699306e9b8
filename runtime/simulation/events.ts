/** Future events of a simulation: a heap by time. */

export interface Event<T> {
  readonly at: number;
  readonly value: T;
}

export class Events<T> {
  private readonly heap: Event<T>[] = [];

  /** Time of the next event; Infinity if there is none. */
  get next(): number {
    return this.heap[0]?.at ?? Infinity;
  }

  add(at: number, value: T): void {
    const { heap } = this;
    heap.push({ at, value });
    for (let i = heap.length - 1; i > 0; ) {
      const above = (i - 1) >> 1;
      if (heap[above]!.at <= heap[i]!.at) return;
      [heap[above], heap[i]] = [heap[i]!, heap[above]!];
      i = above;
    }
  }

  /** Takes all events until `at`. */
  *until(at: number): Iterable<T> {
    while (this.next <= at) yield this.take();
  }

  private take(): T {
    const { heap } = this;
    const { value } = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) {
      heap[0] = last;
      this.sink();
    }
    return value;
  }

  private sink(): void {
    const { heap } = this;
    for (let i = 0; ; ) {
      let next = 2 * i + 1;
      if (next >= heap.length) return;
      if (next + 1 < heap.length && heap[next + 1]!.at < heap[next]!.at) next++;
      if (heap[i]!.at <= heap[next]!.at) return;
      [heap[i], heap[next]] = [heap[next]!, heap[i]!];
      i = next;
    }
  }
}
