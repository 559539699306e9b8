/**
 * Lone pods that were granted a node on which they cannot run. Kubernetes cannot move a pod or gate it again, so a pod of
 * a controller is evicted, and the pod that its controller creates instead takes over its place in the queue, its backoff
 * and the nodes that it avoids. A bare pod would be lost: it keeps waiting for kube-scheduler, without a grant.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { controllerOf } from '../kubernetes/owner';
import type { KubernetesObject } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { SUCCESSION_SECONDS, type Succession } from '../queue/successions';
import { askedBy, type Predecessor, type WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import type { ActiveWorkload } from './adapter';
import { evictPod } from './evict-pods';
import type { Eviction, EvictionReason } from './eviction';

export interface RescueOptions {
  readonly workloadCache: Pick<WorkloadCache, 'successions' | 'rememberSuccession'>;
  readonly client: KubernetesClient;
  readonly eviction: Eviction;
  readonly logger: DecisionLogger;
  /** Unix seconds. */
  readonly now: () => number;
}

/** A PodDisruptionBudget refuses the eviction. */
const REFUSED_RETRY_MS = 5_000;
const BARE =
  'Kubernetes cannot move a pod, and no controller would create it again: delete it and submit it again';

export class Rescue {
  /** As the queue has them: UID of the controller -> UID of the evicted pod. */
  private readonly successions = new Map<string, Map<string, Succession>>();

  constructor(private readonly options: RescueOptions) {}

  /** Continues what the leader before began. */
  async load(): Promise<void> {
    for (const succession of await this.options.workloadCache.successions()) this.add(succession);
  }

  /** Only of a pod that is not bound. */
  async rescue(workload: ActiveWorkload, reason: EvictionReason): Promise<ReconcileResult> {
    const { object, row } = workload;
    const { eviction, workloadCache, now } = this.options;
    const owner = controllerOf(object);
    if (owner === undefined) return eviction.stopRetrying(workload, `${reason.message}; ${BARE}`);
    const terms = eviction.requeueTerms(row, reason);
    const committed = await eviction.commit(row, reason);
    if (committed === undefined) return undefined;
    const { avoid, submittedAt, after: metAfter } = committed;
    const { message, reason: shown = 'Requeued', notBefore = now() } = terms;
    const { uid } = row;
    const requeues = row.requeues + 1;
    const clusterRequeues = row.clusterRequeues + (reason.cause === 'cluster' ? 1 : 0);
    const waits = { reason: shown, message, notBefore, avoid };
    const place = { submittedAt, requeues, clusterRequeues, metAfter, ...waits };
    const predecessor = { uid, ...place, asked: askedBy(row) };
    const succession = { controller: owner.uid, predecessor, at: now() };
    // Before the eviction: whoever leads when the controller creates the successor knows its place.
    await workloadCache.rememberSuccession(succession);
    this.add(succession);
    return this.evict(object, row, reason);
  }

  /**
   * Queues a new pod, which takes over from the evicted pod of the same controller that has waited longest for a successor.
   * No other pod gets that place while this one is queued; it is free again if this one isn't.
   *
   * @returns what `submit` does: the row of the pod, or undefined if it has one already.
   */
  async succeed<Row>(
    object: KubernetesObject,
    submit: (predecessor: Predecessor | undefined) => Promise<Row | undefined>,
  ): Promise<Row | undefined> {
    const succession = this.takeOldest(controllerOf(object)?.uid ?? '');
    let row: Row | undefined;
    try {
      row = await submit(succession?.predecessor);
    } finally {
      if (row === undefined && succession !== undefined) this.add(succession);
    }
    return row;
  }

  private takeOldest(controller: string): Succession | undefined {
    const evicted = this.successions.get(controller);
    const valid = [...(evicted?.values() ?? [])].filter((each) => !this.isOver(each));
    if (valid.length === 0) return undefined;
    const oldest = valid.reduce((first, each) => (each.at < first.at ? each : first));
    evicted!.delete(oldest.predecessor.uid);
    return oldest;
  }

  private add(succession: Succession): void {
    for (const [other, evicted] of this.successions)
      if ([...evicted.values()].every((each) => this.isOver(each))) this.successions.delete(other);
    const { controller, predecessor } = succession;
    const evicted = this.successions.get(controller) ?? new Map();
    this.successions.set(controller, evicted);
    evicted.set(predecessor.uid, succession);
  }

  private isOver({ at }: Succession): boolean {
    return at + SUCCESSION_SECONDS < this.options.now();
  }

  private async evict(
    object: KubernetesObject,
    row: WorkloadRow,
    { cause, message }: EvictionReason,
  ): Promise<ReconcileResult> {
    const outcome = await evictPod(this.options.client, object);
    if (outcome === 'refused') return { after: REFUSED_RETRY_MS };
    if (outcome === 'done')
      logDecision(this.options.logger, row, 'evicted, its controller creates it again', {
        cause,
        reason: message,
      });
    return undefined;
  }
}
