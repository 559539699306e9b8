/** A reconciler on tables in memory, in a cluster where nothing goes wrong and nobody listens. */
import { systemClock } from '../../runtime/clock';
import { parseConfig } from '../../runtime/config';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { createLogger } from '../../runtime/observability/log';
import type { WorkloadCache } from '../../runtime/queue/workload-cache';
import { adapters } from '../../runtime/workloads/index';
import { WorkloadReconciler } from '../../runtime/workloads/reconciler';
import type { WorkloadReconcilerOptions } from '../../runtime/workloads/reconciler-options';
import { defaultSubmissions } from './default-submissions';

type Given = Pick<WorkloadReconcilerOptions, 'objectOf' | 'podsOf' | 'now'> &
  Partial<Pick<WorkloadReconcilerOptions, 'namespaces' | 'onWait' | 'onLingering'>> & {
    readonly client: Partial<KubernetesClient>;
  };

export function reconcilerOnTables(
  workloadCache: WorkloadCache,
  { client, ...given }: Given,
): WorkloadReconciler {
  const options: Partial<WorkloadReconcilerOptions> = {
    client: client as KubernetesClient,
    workloadCache,
    submissionBuilder: defaultSubmissions(workloadCache, () => undefined),
    adapters,
    namespaces: { hasLeft: () => false, isAwaited: () => false, isExcluded: () => false },
    nodes: { exists: () => true, isReady: () => true },
    limits: parseConfig({}).grants,
    isWithdrawn: () => false,
    isUnlisted: () => false,
    onWait: () => undefined,
    onLingering: () => undefined,
    onFreed: () => undefined,
    onRequeued: () => undefined,
    onShrunk: () => undefined,
    onQueueChanged: () => undefined,
    onUnrecordedGrant: () => undefined,
    recordEvent: () => undefined,
    isBusy: () => false,
    enqueue: () => undefined,
    logger: createLogger('test', 'silent'),
    clock: systemClock,
    ...given,
  };
  return new WorkloadReconciler(options as WorkloadReconcilerOptions);
}
