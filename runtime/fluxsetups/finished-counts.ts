import type { WorkloadRow } from '../queue/workload';

interface FinishedCount {
  readonly queue: string;
  readonly count: number;
}

/** How many workloads of each queue have finished. */
export class FinishedCounts {
  private readonly counts = new Map<string, number>();

  /** @param counts from the database. A workload that finishes while they are read may be counted twice. */
  load(counts: readonly FinishedCount[]): void {
    this.counts.clear();
    for (const { queue, count } of counts) this.counts.set(queue, count);
  }

  rowChanged({ phase, queue }: WorkloadRow): void {
    if (phase === 'Finished') this.counts.set(queue, this.of(queue) + 1);
  }

  of(queue: string): number {
    return this.counts.get(queue) ?? 0;
  }
}
