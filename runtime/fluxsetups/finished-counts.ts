/** How many workloads of each queue are over: what the tables had at the start, and what came since. */
import type { WorkloadRow } from '../queue/types';

export interface FinishedCount {
  readonly queue: string;
  readonly count: number;
}

export class Finished {
  private readonly counts = new Map<string, number>();

  /** @param before as the tables have it; what ends while they are read may be counted twice, once */
  start(before: readonly FinishedCount[]): void {
    this.counts.clear();
    for (const { queue, count } of before) this.counts.set(queue, count);
  }

  changed({ phase, queue }: WorkloadRow): void {
    if (phase === 'Finished') this.counts.set(queue, this.of(queue) + 1);
  }

  of(queue: string): number {
    return this.counts.get(queue) ?? 0;
  }
}
