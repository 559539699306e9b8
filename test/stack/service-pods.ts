/** A pod of a StatefulSet, which makes it again. */
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import { ifFound } from '../../runtime/kubernetes/errors';
import { pods } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';

const LABELS = { app: 'db' };

/** Creates the StatefulSet `db`, and deletes its pod once it runs. @returns its path */
export async function loseServicePod(client: KubernetesClient, namespace: string): Promise<string> {
  const sets = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
  const template = { metadata: { labels: LABELS }, spec: { containers: [{ name: 'main', image: 'none' }] } };
  await client.create(sets, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: { serviceName: 'db', selector: { matchLabels: LABELS }, template },
  });
  await waitFor('the pod to run', async () => {
    const pod = await ifFound(client.get<Pod>(pods(namespace, 'db-0')));
    return pod?.status?.phase === 'Running';
  });
  await client.delete(pods(namespace, 'db-0'));
  return `${sets}/db`;
}
