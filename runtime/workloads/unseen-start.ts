/**
 * The start of a workload whose end is known before the watch shows that a pod of it ran. The watch of the pods may be behind that of
 * the Jobs, and no controller may have been there from its release until it and its pods were gone. Without a start its usage would
 * be charged to nobody, and its record would say that it never ran.
 */
import type { KubernetesClient } from '../kubernetes/client';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { firstStartTime, type Outcome } from './adapter';
import type { NodeView } from './live-pods';
import { PodLists } from './pod-lists';
import { startedPods } from './starts';

export interface UnseenStartsOptions {
  readonly client: Pick<KubernetesClient, 'list'>;
  readonly workloadCache: Pick<WorkloadCache, 'running' | 'byUid'>;
  readonly nodes: NodeView;
}

export class UnseenStarts {
  private readonly lists: PodLists;

  constructor(private readonly options: UnseenStartsOptions) {
    this.lists = new PodLists(options.client);
  }

  /** Records the start of a row that ends. @returns the row as it is then */
  async record(
    row: WorkloadRow,
    { result, finishedAt }: Pick<Outcome, 'result' | 'finishedAt'>,
  ): Promise<WorkloadRow> {
    if (row.phase !== 'Ready' || result === 'Cancelled') return row;
    const startedAt = (await this.startOf(row)) ?? (result === 'Succeeded' ? row.releasedAt : null);
    // A row that was lost and found again knows when it was found.
    if (startedAt === null || startedAt > finishedAt) return row;
    const { workloadCache } = this.options;
    await workloadCache.running(row.uid, Math.max(startedAt, row.allocatedAt ?? 0));
    return workloadCache.byUid(row.uid) ?? row;
  }

  /** Only pods of a Job run before the watch of the pods has shown them. What is gone tells nothing: it may have started at its release. */
  private async startOf(row: WorkloadRow): Promise<number | null> {
    if (row.kind !== 'Job') return null;
    const started = startedPods(await this.lists.of(row), row, this.options.nodes);
    const first = firstStartTime(started, Number.POSITIVE_INFINITY);
    return Number.isFinite(first) ? first : null;
  }
}
