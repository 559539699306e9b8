/** Stages what waits for the scheduling gate of another controller (staged.ts), and ends that where it has no row. */
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import type { KubernetesObject, Pod } from '../kubernetes/types';
import type { ReconcileResult } from '../kubernetes/work-queue';
import { applyPatch } from '../kubernetes/writes';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import { identityOf, type WorkloadIdentity } from '../shared/pod-facts';
import type { WorkloadKey } from '../shared/workload-key';
import { type ActiveWorkload, isTerminal, type WorkloadAdapter } from './adapter';
import { isGated } from './pod';
import { resetStartTime } from './start-time';

interface StagingOptions {
  readonly client: KubernetesClient;
  readonly podsOf: (workload: WorkloadIdentity) => readonly Pod[];
  readonly logger: DecisionLogger;
  /** Unix seconds. */
  readonly now: () => number;
}

/** Milliseconds until a patch that was refused is written again: a policy of the cluster may allow it then. */
const REFUSED_RETRY_MS = 60_000;
/** The object has changed, or its suspension is under way. */
const RETRY = { after: 500 };

export class Staging {
  constructor(private readonly options: StagingOptions) {}

  /** Whether its pods may exist without a grant: the queue's own gate keeps each of them. */
  isSound({ object, adapter, pods }: ActiveWorkload): boolean {
    return adapter.isStaged(object) && pods.every((pod) => isTerminal(pod) || isGated(pod));
  }

  /** Has the pods made of an unchanged workload that waits for another controller. */
  async stage(workload: ActiveWorkload): Promise<ReconcileResult> {
    const { object, adapter, row } = workload;
    const { client, logger } = this.options;
    const patch = adapter.stagePatch(object, row);
    try {
      // It was staged before, and is suspended since then.
      if (adapter.isSuspended(object) && !adapter.canRelease(object))
        return await resetStartTime(this.options, workload);
      if (patch === undefined) return void logDecision(logger, row, 'waiting, unchanged');
      const outcome = await applyPatch(client, adapter.path(row.namespace, row.name), patch);
      logDecision(logger, row, 'its pods wait for the gate of another controller', { outcome });
      return outcome === 'conflict' ? RETRY : undefined;
    } catch (error) {
      if (!isStatus(error, 403) && !isStatus(error, 422)) throw error;
      return { after: REFUSED_RETRY_MS };
    }
  }

  /** Suspends a staged object without a row, which enters the queue then as any other. */
  async end(key: WorkloadKey, object: KubernetesObject, adapter: WorkloadAdapter): Promise<undefined> {
    const { client, podsOf, now, logger } = this.options;
    if (!adapter.isStaged(object)) return;
    if (adapter.outcome(object, podsOf(identityOf(key.kind, object)), now()) !== undefined) return;
    const patch = adapter.suspendPatch(object);
    if (patch === undefined) return;
    await applyPatch(client, adapter.path(key.namespace, key.name), patch);
    logDecision(logger, key, 'started without a row, suspending it');
  }
}
