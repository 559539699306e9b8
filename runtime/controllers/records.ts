/**
 * Rows that FluxJobs are still to be told of: the active ones, and finished
 * ones until their last status is written, also across a restart.
 */
import type { Ledger } from '../queue/ledger';
import type { Queue, WorkloadRow } from '../queue/types';
import type { FluxJobObject } from './fluxjob-reconciler';

export class Records {
  private readonly finished = new Map<string, WorkloadRow>();

  constructor(
    private readonly ledger: Ledger,
    private readonly queue: Queue,
  ) {}

  rowOf(uid: string): WorkloadRow | undefined {
    return this.ledger.byUid(uid) ?? this.finished.get(uid);
  }

  changed(row: WorkloadRow): void {
    if (row.phase === 'Finished') this.finished.set(row.uid, row);
  }

  settled(uid: string): void {
    this.finished.delete(uid);
  }

  unsettled(): Iterable<string> {
    return this.finished.keys();
  }

  /** FluxJobs that don't say Finished, of rows that are: a crash came between commit and status. */
  async recover(fluxJobs: readonly FluxJobObject[]): Promise<void> {
    const open = fluxJobs
      .filter(({ status }) => status?.phase !== 'Finished')
      .map(({ spec }) => spec.workload.uid)
      .filter((uid) => this.ledger.byUid(uid) === undefined);
    if (open.length === 0) return;
    for (const row of await this.queue.byUid(open)) this.changed(row);
  }
}
