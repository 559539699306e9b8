/** What happens next: a heap of times. */

export interface Event<T> {
  readonly at: number;
  readonly what: T;
}

export class Events<T> {
  private readonly heap: Event<T>[] = [];

  /** Infinity when nothing is to come. */
  get next(): number {
    return this.heap[0]?.at ?? Infinity;
  }

  add(at: number, what: T): void {
    const { heap } = this;
    heap.push({ at, what });
    for (let i = heap.length - 1; i > 0; ) {
      const above = (i - 1) >> 1;
      if (heap[above]!.at <= heap[i]!.at) return;
      [heap[above], heap[i]] = [heap[i]!, heap[above]!];
      i = above;
    }
  }

  /** Takes all that happen until `at`. */
  *until(at: number): Iterable<T> {
    while (this.next <= at) yield this.take();
  }

  private take(): T {
    const { heap } = this;
    const { what } = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) {
      heap[0] = last;
      this.sink();
    }
    return what;
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
