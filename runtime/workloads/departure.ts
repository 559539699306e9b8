/**
 * Workloads of a namespace that has left the queue: its label was removed, so admission pins and gates none of their pods
 * any more. What waits is handed back to Kubernetes (hand-over.ts), unless its user holds it. What runs keeps its grant
 * until it ends, and nothing evicts it: what Kubernetes creates for it now runs where kube-scheduler places it, and counts
 * as a pod outside the queue.
 */
import { messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { namespaces as namespacePath } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import { applyPatch } from '../kubernetes/writes';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import { isEnabled, type Namespaces, type Scope } from '../shared/namespaces';
import type { WorkloadKey } from '../shared/workload-key';
import type { ActiveWorkload, WorkloadAdapter } from './adapter';
import { isHeldByUser } from './hand-over';

export interface DepartureOptions {
  readonly client: KubernetesClient;
  readonly namespaces: Pick<Namespaces, 'hasLeft'>;
  readonly scope: Scope;
  readonly logger: DecisionLogger;
}

/** `over`: the object belongs to the queue no more, so its row ends. Undefined: it is reconciled as any other. */
export type Departed = 'over' | { readonly after: number } | undefined;

/** A policy of an earlier version, or one that has not seen yet that the namespace left, refuses the patch. */
const RETRY = { after: 5_000 };

export class Departure {
  constructor(private readonly options: DepartureOptions) {}

  hasLeft(namespace: string | undefined): boolean {
    return this.options.namespaces.hasLeft(namespace ?? '');
  }

  /** Only of a workload that has not ended. */
  async depart(workload: ActiveWorkload): Promise<Departed> {
    const { object, adapter, row } = workload;
    if (!this.hasLeft(row.namespace) || object.metadata.deletionTimestamp !== undefined) return undefined;
    const isSuspended = adapter.isSuspended(object);
    if (row.releasedAt === null) {
      // The release of a granted workload may not be recorded yet.
      if (row.phase === 'Waiting' || isSuspended) return this.handOver(row, object, adapter);
      return undefined;
    }
    const isByUser = isSuspended && adapter.suspendable && row.evictionReason === null;
    if (!isByUser) return undefined;
    // The row ends as that of a deleted Job, once its pods are gone.
    await this.patch(row, object, adapter, { starts: false });
    return RETRY;
  }

  /** Hands a workload back that has no nodes. */
  async handOver(key: WorkloadKey, object: KubernetesObject, adapter: WorkloadAdapter): Promise<Departed> {
    const starts = adapter.isSuspended(object);
    if (starts && isHeldByUser(object)) return undefined;
    return (await this.patch(key, object, adapter, { starts })) ? 'over' : RETRY;
  }

  /** @returns whether the object belongs to the queue no more */
  private async patch(
    key: WorkloadKey,
    object: KubernetesObject,
    adapter: WorkloadAdapter,
    { starts }: { readonly starts: boolean },
  ): Promise<boolean> {
    // The watch of a new namespace may be older than a workload that admission has taken in meanwhile.
    if (!(await this.hasLeftNow(key.namespace))) return false;
    const path = adapter.path(key.namespace, key.name);
    try {
      const outcome = await applyPatch(this.options.client, path, adapter.handOverPatch(object, starts));
      this.log(key, 'its namespace left the queue: handed back to Kubernetes', { starts, outcome });
      return outcome !== 'conflict';
    } catch (error) {
      if (!isStatus(error, 403) && !isStatus(error, 422)) throw error;
      this.log(key, 'its namespace left the queue: not handed back yet', { error: messageOf(error) });
      return false;
    }
  }

  private async hasLeftNow(name: string): Promise<boolean> {
    const { client, scope } = this.options;
    const selection = { fieldSelector: `metadata.name=${name}` };
    const [namespace] = (await client.list<KubernetesObject>(namespacePath(), selection)).items;
    return namespace !== undefined && !isEnabled(namespace, scope);
  }

  private log(key: WorkloadKey, decision: string, detail: Readonly<Record<string, unknown>>): void {
    logDecision(this.options.logger, key, decision, detail);
  }
}
