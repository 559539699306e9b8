import type { WorkloadRow } from '../queue/workload';

interface FinishedCount {
  readonly queue: string;
  readonly count: number;
}

/** How many workloads of each queue have finished. */
export class FinishedCounts {
  /** Since it was made, then with those of the database. */
  private readonly counts = new Map<string, number>();
  private isLoaded = false;

  /** Those of the database are asked for, with all that have finished. */
  ask(): void {
    if (!this.isLoaded) this.counts.clear();
  }

  /** @param counts from the database. A workload that finishes while they are read may be counted twice. */
  load(counts: readonly FinishedCount[]): void {
    this.isLoaded = true;
    for (const { queue, count } of counts) this.counts.set(queue, count + this.since(queue));
  }

  rowChanged({ phase, queue }: WorkloadRow): void {
    if (phase === 'Finished') this.counts.set(queue, this.since(queue) + 1);
  }

  /** Undefined: those of the database are not known yet. */
  of(queue: string): number | undefined {
    return this.isLoaded ? this.since(queue) : undefined;
  }

  private since(queue: string): number {
    return this.counts.get(queue) ?? 0;
  }
}
