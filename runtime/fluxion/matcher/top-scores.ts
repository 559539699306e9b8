import type { CandidateList } from './candidates';

/** The best scores so far, at most `wanted`, in a heap with the worst of them on top. */
export class TopScores {
  private readonly heap: number[] = [];

  constructor(
    private readonly wanted: number,
    low: boolean,
  ) {
    this.sign = low ? 1 : -1;
  }

  /** The heap stores scores with this sign, so that less is better. */
  private readonly sign: number;

  get full(): boolean {
    return this.heap.length === this.wanted;
  }

  /** Whether a score is worse than all top scores. */
  isWorse(score: number): boolean {
    return this.sign * score > this.heap[0]!;
  }

  /** Number of candidates that are at least as good as the worst top score. */
  reachedBy(list: CandidateList, score: Float64Array): number {
    let reached = 0;
    for (let i = 0; i < list.length; i++) if (!this.isWorse(score[list.data[i]!]!)) reached++;
    return reached;
  }

  offer(score: number): void {
    const value = this.sign * score;
    const { heap } = this;
    if (!this.full) {
      heap.push(value);
      this.rise(heap.length - 1);
    } else if (value < heap[0]!) {
      heap[0] = value;
      this.sink();
    }
  }

  private rise(from: number): void {
    const { heap } = this;
    for (let i = from; i > 0; ) {
      const above = (i - 1) >> 1;
      if (heap[above]! >= heap[i]!) return;
      [heap[above], heap[i]] = [heap[i]!, heap[above]!];
      i = above;
    }
  }

  private sink(): void {
    const { heap } = this;
    for (let i = 0; ; ) {
      let next = 2 * i + 1;
      if (next >= heap.length) return;
      if (next + 1 < heap.length && heap[next + 1]! > heap[next]!) next++;
      if (heap[i]! >= heap[next]!) return;
      [heap[i], heap[next]] = [heap[next]!, heap[i]!];
      i = next;
    }
  }
}
