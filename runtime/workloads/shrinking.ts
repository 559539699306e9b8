/** Frees nodes of a grant that its workload does not use any more, while the rest of it goes on. */
import type { Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import type { WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import type { WorkloadIdentity } from '../shared/pod-facts';
import { type ActiveWorkload, lostNodes, namesOf } from './adapter';
import type { DeletedPods } from './deleted-pods';
import { isLive, type NodeView } from './live-pods';
import { isGated, usedNodes } from './pod';
import { reducedGrant } from './reduced-grant';

export interface ShrinkingOptions {
  readonly workloadCache: Pick<WorkloadCache, 'byUid' | 'shrink'>;
  readonly podsOf: (workload: WorkloadIdentity) => readonly Pod[];
  readonly nodes: NodeView;
  readonly deletedPods: Pick<DeletedPods, 'areShown'>;
  /** Called when the units on some nodes of a job are free again. */
  readonly onShrunk: (jobid: number, nodes: readonly string[]) => void;
  /** Called when a job holds fewer units than before, by what its row says now. */
  readonly onReduced: (jobid: number) => void;
  readonly logger: DecisionLogger;
}

/** The watch reports when a pod is gone or is delivered late; this poll is below it. */
export const TERMINATING_POLL_MS = 1_000;

export class Shrinking {
  constructor(private readonly options: ShrinkingOptions) {}

  /** Frees the nodes of a workload whose further pods cannot be created. */
  async narrow(workload: ActiveWorkload): Promise<void> {
    await this.freeNodes(workload.row, new Set(this.idleNodes(workload)));
  }

  /** Frees the nodes on which no pod of the workload will run again. */
  async shrink({ object, adapter, row, pods }: ActiveWorkload): Promise<ReconcileResult> {
    const current = this.options.workloadCache.byUid(row.uid);
    if (current?.allocation == null) return undefined;
    if (object.metadata.deletionTimestamp !== undefined) return this.shrinkDeleted(current);
    // An array goes on without the nodes that it lost, unless a pod is pinned to them: a node may come back.
    const lost = adapter.isSuspendable(object) ? lostNodes(current, this.options.nodes.exists) : [];
    const idle = lost.length === 0 ? [] : this.unusedOf({ object, adapter, row: current, pods });
    await this.freeNodes(
      current,
      new Set([
        ...adapter.finishedNodes(object, current, pods),
        ...lost.filter((name) => idle.includes(name)),
      ]),
    );
    await this.reduce({ object, adapter, row, pods });
    return undefined;
  }

  /** The unused ones of nodes that are lost: no gated pod gets such a node, and `pods` shows those that have got one before. */
  private unusedOf({ object, adapter, row, pods }: ActiveWorkload): readonly string[] {
    if (adapter.unseenPods(object, pods) > 0) return [];
    return adapter.idleNodes(
      object,
      row,
      pods.filter((pod) => !isGated(pod)),
    );
  }

  /** Frees the units of pods that an array will not run at once any more. */
  private async reduce({ object, adapter, row, pods }: ActiveWorkload): Promise<void> {
    const { workloadCache, onReduced, logger } = this.options;
    const current = workloadCache.byUid(row.uid);
    if (current === undefined || adapter.unseenPods(object, pods) > 0) return;
    const needed = adapter.neededPods(object, current, pods);
    const reduced = needed && reducedGrant(current, needed);
    if (reduced === undefined) return;
    const { allocation, freed } = reduced;
    if ((await workloadCache.shrink(row.uid, allocation, freed)) === undefined) return;
    logDecision(logger, row, 'allocation reduced', { freed });
    onReduced(row.jobid);
  }

  private idleNodes({ object, adapter, row, pods }: ActiveWorkload): readonly string[] {
    return adapter.unseenPods(object, pods) > 0 ? [] : adapter.idleNodes(object, row, pods);
  }

  /** Frees the nodes that no pod of a deleted workload uses any more: no pod of it is created again. */
  async shrinkDeleted(deleted: WorkloadRow): Promise<ReconcileResult> {
    if (!(await this.options.deletedPods.areShown(deleted))) return { after: TERMINATING_POLL_MS };
    const { podsOf, nodes, workloadCache } = this.options;
    const row = workloadCache.byUid(deleted.uid);
    const used = usedNodes(podsOf(deleted).filter((pod) => isLive(pod, nodes)));
    if (row === undefined || used === undefined) return undefined;
    const free = namesOf(row.allocation?.nodes ?? []).filter((name) => !used.has(name));
    await this.freeNodes(row, new Set(free));
    return undefined;
  }

  /** The last node is freed by the end of the workload. */
  private async freeNodes(row: WorkloadRow, finished: ReadonlySet<string>): Promise<void> {
    const { workloadCache, onShrunk } = this.options;
    const { allocation } = row;
    if (allocation === null || finished.size === 0 || finished.size === allocation.nodes.length) return;
    const nodes = allocation.nodes.filter(({ name }) => !finished.has(name));
    if ((await workloadCache.shrink(row.uid, { ...allocation, nodes })) === undefined) return;
    logDecision(this.options.logger, row, 'allocation shrunk', { freed: [...finished] });
    onShrunk(row.jobid, [...finished]);
  }
}
