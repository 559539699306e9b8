/**
 * Lone pods that were granted a node on which they cannot run. Kubernetes cannot move a pod or gate it again, so a pod of
 * a controller is evicted, and the pod that its controller creates instead takes over its place in the queue, its backoff
 * and the nodes that it avoids. A bare pod would be lost: it keeps waiting for kube-scheduler, without a grant.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { controllerOf } from '../kubernetes/owner';
import { pods } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import type { Predecessor, WorkloadRow } from '../queue/workload';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import type { ActiveWorkload } from './adapter';
import type { Eviction, EvictionReason } from './eviction';

export interface RescueOptions {
  readonly client: KubernetesClient;
  readonly eviction: Eviction;
  readonly logger: DecisionLogger;
  /** Unix seconds. */
  readonly now: () => number;
}

/** A PodDisruptionBudget refuses the eviction. */
const REFUSED_RETRY_MS = 5_000;
/** Seconds after which an evicted pod has no successor any more: its controller was deleted or scaled down. */
const SUCCESSION_SECONDS = 600;

const BARE =
  'Kubernetes cannot move a pod, and no controller would create it again: delete it and submit it again';

export class Rescue {
  /** UID of the controller -> UID of the evicted pod -> what its successor takes over. */
  private readonly predecessors = new Map<string, Map<string, Predecessor & { readonly at: number }>>();

  constructor(private readonly options: RescueOptions) {}

  /** Only of a pod that is not bound. */
  async rescue(workload: ActiveWorkload, reason: EvictionReason): Promise<ReconcileResult> {
    const { object, row } = workload;
    const { eviction, now } = this.options;
    const owner = controllerOf(object);
    if (owner === undefined) return eviction.stopRetrying(workload, `${reason.message}; ${BARE}`);
    const terms = eviction.requeueTerms(row, reason);
    if (terms.reason === 'RequeueLimit') return eviction.stopRetrying(workload, terms.message);
    const committed = await eviction.commit(row, reason);
    if (committed === undefined) return undefined;
    const { avoid, submittedAt } = committed;
    const { message, notBefore = now() } = terms;
    const predecessor = { submittedAt, requeues: row.requeues + 1, message, notBefore, avoid, at: now() };
    this.remember(owner.uid, row.uid, predecessor);
    return this.evict(object, row, reason);
  }

  /** What a new pod takes over from an evicted pod of the same controller. */
  predecessorOf(object: KubernetesObject): Predecessor | undefined {
    const evicted = this.predecessors.get(controllerOf(object)?.uid ?? '');
    const [oldest] = evicted?.values() ?? [];
    if (oldest === undefined || oldest.at + SUCCESSION_SECONDS < this.options.now()) return undefined;
    const { at: _, ...predecessor } = oldest;
    return predecessor;
  }

  /** The successor is in the queue: the next new pod takes over from the next evicted one. */
  succeeded(object: KubernetesObject): void {
    const owner = controllerOf(object)?.uid ?? '';
    const evicted = this.predecessors.get(owner);
    const [oldest] = evicted?.keys() ?? [];
    if (oldest !== undefined) evicted!.delete(oldest);
    if (evicted?.size === 0) this.predecessors.delete(owner);
  }

  private remember(owner: string, uid: string, predecessor: Predecessor & { readonly at: number }): void {
    for (const [other, evicted] of this.predecessors)
      if ([...evicted.values()].every(({ at }) => at + SUCCESSION_SECONDS < predecessor.at))
        this.predecessors.delete(other);
    const evicted = this.predecessors.get(owner) ?? new Map();
    this.predecessors.set(owner, evicted);
    evicted.set(uid, predecessor);
  }

  private async evict(
    { metadata: { name, namespace, uid } }: KubernetesObject,
    row: WorkloadRow,
    { cause, message }: EvictionReason,
  ): Promise<ReconcileResult> {
    const { client, logger } = this.options;
    const metadata = { name, namespace };
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata,
      deleteOptions: { preconditions: { uid } },
    };
    try {
      await client.create(pods(namespace, name, 'eviction'), body);
      logDecision(logger, row, 'evicted, its controller creates it again', { cause, reason: message });
      return undefined;
    } catch (error) {
      // 422: the namespace has left the queue, and a policy lets the controller evict only inside.
      if (isStatus(error, 429) || isStatus(error, 422)) return { after: REFUSED_RETRY_MS };
      // It is gone, or another pod has its name.
      if (isStatus(error, 404) || isStatus(error, 409)) return undefined;
      throw error;
    }
  }
}
