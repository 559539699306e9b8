/** Objects of users that have a name which a MiniCluster needs: they are never taken over. */
import { jobs, namespaced } from '../../runtime/kubernetes/paths';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import type { MiniClusters } from './minicluster-objects';
import { useMiniClusters } from './minicluster-suite';
import { describeStack } from './suite';

const configMaps = namespaced('', 'v1', 'configmaps');
const services = namespaced('', 'v1', 'services');

interface Taken {
  readonly cluster: string;
  readonly kind: string;
  readonly path: string;
  readonly content: object;
}

const TAKEN: readonly [Taken, ...Taken[]] = [
  {
    cluster: 'taken',
    kind: 'ConfigMap',
    path: configMaps('science', 'taken-config'),
    content: { data: { 'users.txt': 'mine' } },
  },
  {
    cluster: 'busy',
    kind: 'Service',
    path: services('science', 'busy'),
    content: { spec: { ports: [{ port: 80 }] } },
  },
  {
    cluster: 'sweep',
    kind: 'Job',
    path: jobs('science', 'sweep'),
    content: {
      metadata: { name: 'sweep', annotations: { 'fluxqueue/hold': 'true' } },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'mine' }] } } },
    },
  },
];

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

    const create = async ({ kind, path, content }: Taken) => {
      const [name = ''] = path.split('/').slice(-1);
      const apiVersion = kind === 'Job' ? 'batch/v1' : 'v1';
      const object = { apiVersion, kind, metadata: { name }, ...content };
      await getFixture().client.create(path.slice(0, -name.length - 1), object);
      return stored(path);
    };

    // At once, because each cluster waits ten seconds for the objects of an earlier one to go.
    test("objects of users stay the users', and a cluster gets a name that its user has freed", async () => {
      const { client } = getFixture();
      const before = await Promise.all(TAKEN.map(create));
      await Promise.all(TAKEN.map(({ cluster }) => clusters.create(cluster, { size: 1 })));
      for (const { cluster, kind, path } of TAKEN) {
        const { message } = await clusters.condition(cluster, 'Stalled', 'True', 'NameTaken');
        const name = path.split('/').at(-1);
        expect(message).toContain(`${kind} ${name} exists and does not belong to this MiniCluster`);
      }
      expect(await Promise.all(TAKEN.map(({ path }) => stored(path)))).toEqual(before);
      const [{ cluster: freed, path: freedPath }, ...others] = TAKEN;
      for (const { cluster } of others) await clusters.delete(cluster);
      await client.delete(freedPath);
      // Any change makes the controller look at once.
      await clusters.patch(freed, { tasks: 2 });
      await clusters.phase(freed, 'Running');
      expect(await Promise.all(others.map(({ path }) => stored(path)))).toEqual(before.slice(1));
    });
  },
  { nodes: 4, nodeShape: { cpu: '4', memory: '64Gi' } },
);
