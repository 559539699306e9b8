/**
 * Lone pods that were granted a node on which they cannot run. Kubernetes cannot move a pod or gate it again, so a pod of
 * a controller is evicted, and the pod that its controller creates instead takes over its place in the queue, its backoff
 * and the nodes that it avoids. A bare pod is evicted for good: without a gate it would start whenever it can, on nodes that are
 * granted to others by then. For as long as another pod of its group runs, or for ten minutes
 * in which a fault of the cluster may pass, it keeps its grant.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { controllerOf } from '../kubernetes/owner';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { SUCCESSION_SECONDS, type Succession } from '../queue/successions';
import { askedBy, type Predecessor, type WorkloadRow } from '../queue/workload';
import type { WorkloadCache } from '../queue/workload-cache';
import { KEPT_SECONDS } from '../scheduler/pass/planned-end';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import { type ActiveWorkload, isTerminal, lostNodes } from './adapter';
import { evictPod } from './evict-pods';
import type { Eviction, EvictionReason } from './eviction';
import type { NodeView } from './live-pods';
import { isGated } from './pod';

export interface RescueOptions {
  readonly workloadCache: Pick<WorkloadCache, 'successions' | 'rememberSuccession'>;
  readonly client: KubernetesClient;
  readonly eviction: Eviction;
  readonly nodes: Pick<NodeView, 'exists'>;
  /** Whether the grant has not started within its walltime, and a reservation waits for its nodes. */
  readonly isAwaited: (row: WorkloadRow) => boolean;
  readonly logger: DecisionLogger;
  /** Unix seconds. */
  readonly now: () => number;
}

/** A PodDisruptionBudget refuses the eviction. */
const REFUSED_RETRY_MS = 5_000;
/** Until pods that keep their grant are looked at again. */
const KEPT_MS = 60_000;
const BARE =
  'evicted, because Kubernetes cannot move a pod, and no controller creates it again: submit it again';

export class Rescue {
  /** As the queue has them: UID of the controller -> UID of the evicted pod. */
  private readonly successions = new Map<string, Map<string, Succession>>();

  constructor(private readonly options: RescueOptions) {}

  /** Continues what the leader before began. */
  async load(): Promise<void> {
    for (const succession of await this.options.workloadCache.successions()) this.add(succession);
  }

  /** Only of a pod that is not bound, or of a group that has one, or whose nodes others wait for. */
  async rescue(workload: ActiveWorkload, reason: EvictionReason): Promise<ReconcileResult> {
    const { object, row } = workload;
    const { eviction, workloadCache, now } = this.options;
    const owner = controllerOf(object);
    if (owner === undefined) return this.giveUp(workload, reason);
    const { message, reason: shown = 'Requeued', notBefore = now() } = eviction.requeueTerms(row, reason);
    const { uid, submittedAt, seq, after: metAfter } = row;
    const requeues = row.requeues + 1;
    const clusterRequeues = row.clusterRequeues + (reason.cause === 'cluster' ? 1 : 0);
    const avoid = { ...row.avoid, ...eviction.avoidedBy(reason) };
    const waits = { reason: shown, message, notBefore, avoid };
    const place = { submittedAt, seq, requeues, clusterRequeues, metAfter, ...waits };
    const predecessor = { uid, ...place, asked: askedBy(row) };
    const succession = { controller: owner.uid, predecessor, at: now() };
    // Before the eviction: whoever leads when the controller creates the successor knows its place.
    await workloadCache.rememberSuccession(succession);
    this.add(succession);
    return this.evict(object, row, reason);
  }

  /** Says when to look again at pods that nobody makes again, if they keep their grant for now although one of them does not run in time. */
  kept(workload: ActiveWorkload, { cause }: EvictionReason): ReconcileResult {
    const { object, adapter, row } = workload;
    const { nodes, now, isAwaited } = this.options;
    if (adapter.isSuspendable(object) || controllerOf(object) !== undefined) return undefined;
    const mayPass = cause === 'cluster' && lostNodes(row, nodes.exists).length === 0;
    const goesOn = !isAwaited(row) && liveOf(workload).some(mayRun);
    const isKept = goesOn || (mayPass && now() < (row.releasedAt ?? 0) + KEPT_SECONDS);
    return isKept ? { after: KEPT_MS } : undefined;
  }

  /** Its grant ends with its pods, of which none may start without one. */
  private async giveUp(workload: ActiveWorkload, reason: EvictionReason): Promise<ReconcileResult> {
    const { row } = workload;
    const { client, eviction } = this.options;
    const live = liveOf(workload);
    // Before the reason is written: a pod that runs after a crash in between has its grant as before.
    const outcomes = await Promise.all(live.map((pod) => evictPod(client, pod)));
    if (outcomes.includes('refused')) return { after: REFUSED_RETRY_MS };
    if (!outcomes.includes('done') || (await eviction.commit(row, reason)) === undefined) return undefined;
    eviction.tellEnd(workload, `${reason.message}; ${BARE}`);
    return undefined;
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
    reason: EvictionReason,
  ): Promise<ReconcileResult> {
    const { client, eviction, logger } = this.options;
    const outcome = await evictPod(client, object);
    if (outcome === 'refused') {
      this.successions.get(controllerOf(object)?.uid ?? '')?.delete(row.uid);
      return { after: REFUSED_RETRY_MS };
    }
    // Only now: the reason of a pod that starts after all would end its grant for ever.
    if (outcome !== 'done' || (await eviction.commit(row, reason)) === undefined) return undefined;
    const { cause, message } = reason;
    logDecision(logger, row, 'evicted, its controller creates it again', { cause, reason: message });
    return undefined;
  }
}

function liveOf({ object, adapter, pods }: ActiveWorkload): readonly Pod[] {
  const all = adapter.membersOf(object) === undefined ? [object as Pod] : pods;
  return all.filter((pod) => !isTerminal(pod) && !isGated(pod));
}

/** A kubelet has it, or is about to get it. */
function mayRun({ spec, status }: Pod): boolean {
  return spec.nodeName !== undefined || status?.startTime !== undefined;
}
