/**
 * The start time of a suspended workload that has run. While Kubernetes has it, it accepts no release: it keeps the pod template as it
 * was. Since 1.36 it removes it as the Job controller sees the suspension, where the gate MutableSchedulingDirectivesForSuspendedJobs is on;
 * before, and of a Job that was suspended before an upgrade, it never does.
 */
import type { KubernetesClient } from '../kubernetes/client';
import { applyPatch } from '../kubernetes/writes';
import { type DecisionLogger, logDecision } from '../shared/decision-log';
import type { ActiveWorkload } from './adapter';

interface StartTimeOptions {
  readonly client: KubernetesClient;
  readonly logger: DecisionLogger;
}

/**
 * Removes the start time of what cannot be released yet, unless Kubernetes is about to do so itself. The watch shows it.
 *
 * @throws FluxqError if the apiserver refuses it, or nobody answers
 */
export async function resetStartTime(
  { client, logger }: StartTimeOptions,
  { object, adapter, row }: Pick<ActiveWorkload, 'object' | 'adapter' | 'row'>,
): Promise<undefined> {
  const patch = adapter.startTimePatch(object);
  if (patch === undefined) {
    logDecision(logger, row, 'waiting for Kubernetes to suspend it');
    return;
  }
  const outcome = await applyPatch(client, `${adapter.path(row.namespace, row.name)}/status`, patch);
  logDecision(logger, row, 'removed its start time, with which it could not start again', { outcome });
}
