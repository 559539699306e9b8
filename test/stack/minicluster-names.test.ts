/** Objects of users that have a name which a MiniCluster needs: they are never taken over. */
import { jobs, namespaced } from '../../runtime/kubernetes/paths';
import type { Job, KubernetesObject } from '../../runtime/kubernetes/types';
import type { MiniClusters } from './minicluster-objects';
import { useMiniClusters } from './minicluster-suite';
import { describeStack } from './suite';

const configMaps = namespaced('', 'v1', 'configmaps');
const services = namespaced('', 'v1', 'services');

describeStack(
  'names of objects of MiniClusters',
  (getFixture) => {
    let clusters: MiniClusters;
    useMiniClusters(getFixture, (given) => {
      ({ clusters } = given);
    });

    /** The object without what the apiserver changes by itself. */
    const stored = async (path: string) => {
      const { client } = getFixture();
      const { metadata, ...rest } = await client.get<KubernetesObject & { status?: object }>(path);
      const { uid, ownerReferences, labels, annotations } = metadata;
      return { ...rest, status: undefined, metadata: { uid, ownerReferences, labels, annotations } };
    };

    test.each([
      ['ConfigMap', configMaps('science', 'taken-config'), 'taken', { data: { 'users.txt': 'mine' } }],
      ['Service', services('science', 'busy'), 'busy', { spec: { ports: [{ port: 80 }] } }],
    ])("a user's %s stays the user's", async (kind, path, name, content) => {
      const { client } = getFixture();
      const metadata = { name: path.split('/').at(-1)! };
      await client.create(path.split('/').slice(0, -1).join('/'), {
        apiVersion: 'v1',
        kind,
        metadata,
        ...content,
      });
      const before = await stored(path);
      await clusters.create(name, { size: 1 });
      const { message } = await clusters.condition(name, 'Stalled', 'True', 'NameTaken');
      expect(message).toContain(`${kind} ${metadata.name} exists and does not belong to this MiniCluster`);
      await clusters.delete(name);
      expect(await stored(path)).toEqual(before);
      await client.delete(path);
    });

    test("a user's Job stays the user's", async () => {
      const { client } = getFixture();
      const path = jobs('science', 'sweep');
      await client.create<Job>(jobs('science'), {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'sweep', annotations: { 'fluxqueue/hold': 'true' } },
        spec: {
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'mine' }] } },
        },
      });
      const before = await stored(path);
      await clusters.create('sweep', { size: 1 });
      const { message } = await clusters.condition('sweep', 'Stalled', 'True', 'NameTaken');
      expect(message).toContain('Job sweep exists');
      expect(await stored(path)).toEqual(before);
    });

    test('the objects of a cluster are its own again after the user has deleted those of that name', async () => {
      const { client } = getFixture();
      const path = configMaps('science', 'later-config');
      const metadata = { name: 'later-config' };
      await client.create(configMaps('science'), { apiVersion: 'v1', kind: 'ConfigMap', metadata });
      await clusters.create('later', { size: 1 });
      await clusters.condition('later', 'Stalled', 'True', 'NameTaken');
      await client.delete(path);
      // Any change makes the controller look at once.
      await clusters.patch('later', { tasks: 2 });
      await clusters.phase('later', 'Running');
    });
  },
  { cluster: { nodes: 4, nodeShape: { cpu: '4', memory: '64Gi' } } },
);
