/** Whoever follows the rows. The writes that they hear of are committed, so a listener that throws stops nobody else. */
import type { WorkloadRow } from './workload';

export type RowListener = (row: WorkloadRow, before?: WorkloadRow) => void;

export class RowListeners {
  private readonly listeners: RowListener[] = [];

  constructor(private readonly onError: (error: unknown) => void = () => undefined) {}

  add(listener: RowListener): void {
    this.listeners.push(listener);
  }

  notify(row: WorkloadRow, before?: WorkloadRow): void {
    for (const listener of this.listeners)
      try {
        listener(row, before);
      } catch (error) {
        this.onError(error);
      }
  }
}
