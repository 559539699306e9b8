/** The rows whose FluxJob is not final yet. */
import type { FluxJobPolicy } from '../../constructs/api/policies';
import type { Queue } from '../queue/store';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import type { Allocation } from '../resources/types';
import type { WatchedFluxJob } from '../shared/fluxjob-projection';
import { FLEETING_SECONDS } from './fleeting';

export class PendingRows {
  /** Finished rows whose FluxJob does not say so yet. */
  private readonly finished = new Map<string, WorkloadRow>();
  /** Allocations by uid, with the nodes that were freed early. */
  private readonly granted = new Map<string, Allocation>();

  constructor(
    private readonly workloadCache: WorkloadCache,
    private readonly queue: Pick<Queue, 'byUid' | 'notable'>,
    private readonly policy: FluxJobPolicy,
  ) {}

  /** The row as its FluxJob shows it: with all nodes of its grant. */
  rowOf(uid: string): WorkloadRow | undefined {
    const row = this.workloadCache.byUid(uid) ?? this.finished.get(uid);
    const granted = this.granted.get(uid);
    const current = row?.allocation;
    if (row === undefined || current == null || current.jobid !== granted?.jobid) return row;
    return { ...row, allocation: { ...granted, end: current.end } };
  }

  rowChanged(row: WorkloadRow): void {
    const { uid, allocation } = row;
    if (allocation !== null && this.granted.get(uid)?.jobid !== allocation.jobid)
      this.granted.set(uid, allocation);
    if (row.phase === 'Finished') this.finished.set(row.uid, row);
  }

  /** The last status of this finished row is written. */
  forget(uid: string): void {
    this.finished.delete(uid);
    this.granted.delete(uid);
  }

  /** The uids of finished rows whose last status is not written yet. */
  finishedUids(): Iterable<string> {
    return this.finished.keys();
  }

  /**
   * Finds the finished rows that no FluxJob shows as finished: a crash came between the commit and the write. What is fleeting and has
   * no FluxJob may have none on purpose, and there may be thousands of those.
   * @param workloads uids of all objects that may be workloads
   */
  async recover(
    workloads: Iterable<string>,
    fluxJobs: readonly Pick<WatchedFluxJob, 'workload' | 'status'>[],
  ): Promise<void> {
    const unfinished = fluxJobs.flatMap(({ workload, status }) =>
      status.phase === 'Finished' ? [] : [workload],
    );
    const recorded = new Set(fluxJobs.map(({ workload }) => workload));
    const others = [...workloads].filter((uid) => !recorded.has(uid));
    const isInactive = (uid: string) => this.workloadCache.byUid(uid) === undefined;
    await this.read(unfinished.filter(isInactive), (uids) => this.queue.byUid(uids));
    await this.read(others.filter(isInactive), (uids) =>
      this.policy === 'All' ? this.queue.byUid(uids) : this.queue.notable(uids, FLEETING_SECONDS),
    );
  }

  private async read(
    uids: readonly string[],
    query: (uids: readonly string[]) => Promise<readonly WorkloadRow[]>,
  ): Promise<void> {
    if (uids.length === 0) return;
    for (const row of await query(uids)) this.rowChanged(row);
  }
}
