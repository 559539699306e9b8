import { createClient } from '../../runtime/kubernetes/client';
import { isServed } from '../../runtime/kubernetes/served';
import type { Cluster } from '../cluster/cluster';
import { describeCluster } from '../cluster/suite';

describeCluster('what the apiserver serves', (getCluster: () => Cluster) => {
  const ask = async (group: string, plural: string) => {
    const client = createClient({ kubeconfig: getCluster().kubeconfig });
    try {
      return await isServed(client, { group, plural });
    } finally {
      client.close();
    }
  };

  test('is told by group and resource, in whatever version', async () => {
    expect(await ask('batch', 'jobs')).toBe(true);
    expect(await ask('batch', 'jobsets')).toBe(false);
    expect(await ask('nobody.example', 'jobs')).toBe(false);
  });
});
