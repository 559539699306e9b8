import type { Queue } from '../queue/store';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { Allocation } from '../resources/types';
import type { FluxJobObject } from './reconciler';

export class Records {
  private readonly finished = new Map<string, WorkloadRow>();
  /** uid -> its allocation before any node of it was given back. */
  private readonly granted = new Map<string, Allocation>();

  constructor(
    private readonly workloadCache: WorkloadCache,
    private readonly queue: Queue,
  ) {}

  /** As users are to see it: with all nodes it was granted. */
  rowOf(uid: string): WorkloadRow | undefined {
    const row = this.workloadCache.byUid(uid) ?? this.finished.get(uid);
    const granted = this.granted.get(uid);
    return row?.allocation?.jobid === granted?.jobid && granted !== undefined && row !== undefined
      ? { ...row, allocation: granted }
      : row;
  }

  changed(row: WorkloadRow): void {
    const { uid, allocation } = row;
    if (allocation !== null && this.granted.get(uid)?.jobid !== allocation.jobid)
      this.granted.set(uid, allocation);
    if (row.phase === 'Finished') this.finished.set(row.uid, row);
  }

  settled(uid: string): void {
    this.finished.delete(uid);
    this.granted.delete(uid);
  }

  unsettled(): Iterable<string> {
    return this.finished.keys();
  }

  /** FluxJobs that don't say Finished, of rows that are: a crash came between commit and status. */
  async recover(fluxJobs: readonly FluxJobObject[]): Promise<void> {
    const open = fluxJobs
      .filter(({ status }) => status?.phase !== 'Finished')
      .map(({ spec }) => spec.workload.uid)
      .filter((uid) => this.workloadCache.byUid(uid) === undefined);
    if (open.length === 0) return;
    for (const row of await this.queue.byUid(open)) this.changed(row);
  }
}
