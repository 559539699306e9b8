/** Future events of a simulation: a heap by time. Of events of one time the one that was added first comes first. */

interface Entry<T> {
  readonly at: number;
  readonly value: T;
  readonly order: number;
}

function isBefore<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

export class Events<T> {
  private readonly heap: Entry<T>[] = [];
  private added = 0;

  /** Time of the next event; Infinity if there is none. */
  get next(): number {
    return this.heap[0]?.at ?? Infinity;
  }

  add(at: number, value: T): void {
    const { heap } = this;
    heap.push({ at, value, order: this.added++ });
    for (let i = heap.length - 1; i > 0; ) {
      const above = (i - 1) >> 1;
      if (!isBefore(heap[i]!, heap[above]!)) return;
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
      if (next + 1 < heap.length && isBefore(heap[next + 1]!, heap[next]!)) next++;
      if (!isBefore(heap[next]!, heap[i]!)) return;
      [heap[i], heap[next]] = [heap[next]!, heap[i]!];
      i = next;
    }
  }
}
