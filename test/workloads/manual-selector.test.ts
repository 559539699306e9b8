/** A Job whose user selects its pods by labels of his own. */
import { JOB_UID_LABEL } from '../../constructs/api/labels';
import { createClient, type KubernetesClient } from '../../runtime/kubernetes/client';
import { jobs, pods } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { applyPatch } from '../../runtime/kubernetes/writes';
import { DeletedPods } from '../../runtime/workloads/deleted-pods';
import { jobAdapter } from '../../runtime/workloads/job';
import type { Cluster } from '../cluster/cluster';
import { describeCluster } from '../cluster/suite';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

describeCluster('a Job with manualSelector', (getCluster) => {
  let cluster: Cluster;
  let admin: KubernetesClient;

  beforeAll(async () => {
    cluster = getCluster();
    admin = createClient({ kubeconfig: cluster.kubeconfig });
    const account = '/api/v1/namespaces/default/serviceaccounts/default';
    await cluster.waitFor('its ServiceAccount', () => cluster.get(account));
  });
  afterAll(() => admin.close());

  test('has pods that are found after its deletion', async () => {
    const labels = { app: 'manual' };
    const job = await admin.create<Job>(jobs('default'), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'manual' },
      spec: {
        suspend: true,
        manualSelector: true,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'none' }] },
        },
      },
    });
    // A status that the Job controller writes meanwhile does not make the release of the Job as it was seen fail.
    await cluster.waitFor('the Job controller to see it', async () => {
      const current = await admin.get<Job>(jobs('default', 'manual'));
      return current.status?.conditions !== undefined;
    });
    const { uid } = job.metadata;
    expect(job.spec.template.metadata?.labels).toEqual(labels);
    const row = { ...rowIn('Ready', submission('manual')), uid, namespace: 'default' };
    const outcome = await applyPatch(admin, jobs('default', 'manual'), jobAdapter.releasePatch(job, row));
    expect(outcome).toBe('done');
    const [pod] = await cluster.waitFor('its pod', async () => {
      const { items } = await admin.list<Pod>(pods('default'), { labelSelector: 'app=manual' });
      return items.length === 1 && items;
    });
    expect(pod!.metadata.labels).toMatchObject({ ...labels, [JOB_UID_LABEL]: uid });
    const deletedPods = new DeletedPods({
      client: admin,
      podsOf: () => [],
      nodes: { exists: () => true, isReady: () => true },
    });
    expect(await deletedPods.areShown(row)).toBe(false);
  });
});
