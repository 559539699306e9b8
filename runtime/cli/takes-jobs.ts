/** Whether the queue would hold back what is created in a namespace now: only admission knows, by label or cluster-wide. */
import { ADMITTED_LABEL } from '../../constructs/api/labels';
import type { KubernetesClient } from '../kubernetes/client';
import { ApiError } from '../kubernetes/errors';
import { jobs } from '../kubernetes/paths';
import type { KubernetesObject } from '../kubernetes/types';
import { hasQueue } from './unknown-workload';
import { FIELD_MANAGER } from './with-client';

const TRIED = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { generateName: 'requeue-' },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] } } },
};

/**
 * By a dry run. A Job that runs in a namespace that left stays admitted until it ends, so it tells nothing. Where other rules of the
 * cluster refuse the Job that is tried, the label of the namespace says it.
 */
export async function takesJobs(client: KubernetesClient, namespace: string): Promise<boolean> {
  const options = { fieldManager: FIELD_MANAGER, dryRun: true };
  try {
    const { metadata } = await client.create<KubernetesObject>(jobs(namespace), TRIED, options);
    return metadata.labels?.[ADMITTED_LABEL] === 'true';
  } catch (error) {
    if (error instanceof ApiError) return (await hasQueue(client, namespace)) !== false;
    throw error;
  }
}
