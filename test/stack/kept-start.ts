/** A Job whose start time Kubernetes keeps although it is suspended, as one that was suspended before an upgrade to 1.36. */
import { HOLD } from '../../constructs/api/labels';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { isTrue } from '../../runtime/kubernetes/conditions';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import type { Namespace } from './workloads';

/** Holds one, gives it a start time, and resolves when it has run. */
export async function runWithKeptStart(science: Namespace, client: KubernetesClient): Promise<void> {
  const job = await science.job('upgraded', { labels: { [HOLD]: 'true' } });
  await science.phase(job, 'Waiting', 'Held');
  await waitFor('the Job controller to see the suspension', async () => {
    const { status } = await client.get<Job>(jobs(science.name, 'upgraded'));
    return isTrue(status?.conditions, 'Suspended');
  });
  const status = { startTime: '2026-01-01T00:00:00Z' };
  await client.patch(jobs(science.name, 'upgraded', 'status'), { status }, 'merge');
  await science.patch(job, 'Job', { metadata: { labels: { [HOLD]: 'false' } } });
  await science.phase(job, 'Finished');
}
