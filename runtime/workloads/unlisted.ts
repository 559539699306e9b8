/**
 * Workloads of a kind whose objects cannot be listed: its rights are missing, or the apiserver serves it in another version than
 * the queue knows. Their objects may be as they were, so nothing ends. What waits is not started (scheduler/pass/eligibility.ts),
 * and what runs keeps its nodes. Once the kind is listed, all rows are reconciled.
 */
import { earliest, type ReconcileResult } from '../kubernetes/work-queue';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadKey } from '../shared/workload-key';
import type { Eviction } from './eviction';
import type { WorkloadReconcilerOptions } from './reconciler-options';

interface UnlistedOptions extends Pick<WorkloadReconcilerOptions, 'workloadCache' | 'podsOf' | 'now'> {
  readonly eviction: Pick<Eviction, 'takeBack'>;
  /** Called when the grant of this row was taken back. */
  readonly onEnd: (row: WorkloadRow) => void;
}

/** Seconds. The grant may have been released a moment ago, by a leader that could not record it: then its pods come. */
const PODS_COME = 60;

export class Unlisted {
  /** Job id -> since when there were no pods of a grant that is not released, and when that was seen last; Unix seconds. */
  private readonly idle = new Map<number, { readonly since: number; readonly seen: number }>();

  constructor(private readonly options: UnlistedOptions) {}

  /** A grant that nobody can release would keep its nodes for nothing. */
  async keep({ kind, namespace, name }: WorkloadKey): Promise<ReconcileResult> {
    let result: ReconcileResult;
    for (const row of this.options.workloadCache.byName(kind, namespace, name))
      if (this.isIdle(row)) result = earliest(result, await this.limit(row));
      else this.forget(row);
    return result;
  }

  private async limit(row: WorkloadRow): Promise<ReconcileResult> {
    const { now, eviction, onEnd } = this.options;
    const known = this.idle.get(row.jobid);
    // The kind may have been listed in between.
    const since = known !== undefined && now() <= known.seen + PODS_COME ? known.since : now();
    this.idle.set(row.jobid, { since, seen: now() });
    const left = since + PODS_COME - now();
    if (left > 0) return { after: left * 1000 };
    const message = `the queue cannot list objects of the kind ${row.kind}`;
    if ((await eviction.takeBack(row, { cause: 'cluster', message })) !== undefined) onEnd(row);
    return undefined;
  }

  private isIdle(row: WorkloadRow): boolean {
    return row.phase === 'Ready' && row.releasedAt === null && this.options.podsOf(row).length === 0;
  }

  forget({ jobid }: Pick<WorkloadRow, 'jobid'>): void {
    this.idle.delete(jobid);
  }
}
