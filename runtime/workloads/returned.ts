/**
 * Workloads that have ended, and are there again as before: etcd was restored from a backup that is older than their end. They wait
 * in the queue again, because nothing else would ever start them.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { ifFound } from '../kubernetes/errors';
import type { Job, KubernetesObject, Pod } from '../kubernetes/types';
import type { WorkloadCache } from '../queue/workload-cache';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import type { WorkloadKey } from '../shared/workload-key';
import type { WorkloadAdapter } from './adapter';

export interface ReturnedWorkloadsOptions {
  readonly client: Pick<KubernetesClient, 'get'>;
  readonly workloadCache: Pick<WorkloadCache, 'returned'>;
  readonly onQueueChanged: () => void;
  readonly logger: DecisionLogger;
  /** Unix seconds. */
  readonly now: () => number;
}

export class ReturnedWorkloads {
  constructor(private readonly options: ReturnedWorkloadsOptions) {}

  /** @param pods of the object, which has an ended row, and which the watch shows suspended. The watch may be behind its end */
  async requeue(
    key: WorkloadKey,
    seen: KubernetesObject,
    adapter: WorkloadAdapter,
    pods: readonly Pod[],
  ): Promise<undefined> {
    const { client, workloadCache, onQueueChanged, logger, now } = this.options;
    const isOne = adapter.membersOf(seen) === undefined;
    const path = adapter.path(key.namespace, key.name);
    const object = isOne ? await ifFound(client.get<KubernetesObject>(path)) : seen;
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    if (!adapter.isSuspended(object) || adapter.outcome(unsuspended(object), pods, now()) !== undefined)
      return;
    if ((await workloadCache.returned(object.metadata.uid)) === undefined) return;
    logDecision(logger, key, 'is there again as before its end: it waits again');
    onQueueChanged();
  }
}

/**
 * A Job that its user suspended when its last pod had succeeded is over: the Job controller says so a moment later. What a suspended
 * object of another kind says of its end does not depend on it.
 */
function unsuspended(object: KubernetesObject): KubernetesObject {
  const { spec } = object as Job;
  return { ...object, spec: { ...spec, suspend: false } } as KubernetesObject;
}
