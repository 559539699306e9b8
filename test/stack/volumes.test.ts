/** Workloads whose volumes are on certain nodes: the queue grants these nodes. */
import { persistentVolumeClaims, persistentVolumes, storageClasses } from '../../runtime/kubernetes/paths';
import { describeStack, eachInFreshNamespace } from './suite';
import type { Namespace } from './workloads';

const ZONE = 'topology.kubernetes.io/zone';
const shape = (zone: string) => ({ cpu: '4', memory: '64Gi', labels: { [ZONE]: zone } });
const podSpec = {
  containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
  volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
};
const on = (key: string, value: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }] },
});

describeStack(
  'volumes',
  (getFixture) => {
    let science: Namespace;

    beforeAll(async () => {
      const { stack } = getFixture();
      await stack.cluster.addNodes(2, shape('b'));
      await stack.startController({ fluxion: { address: 'embedded' } });
    });
    eachInFreshNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    const create = (path: string, kind: string, apiVersion: string, name: string, body: object) =>
      getFixture().client.create(path, { apiVersion, kind, metadata: { name }, ...body });
    const storageClass = (name: string, body: object) =>
      create(storageClasses(), 'StorageClass', 'storage.k8s.io/v1', name, {
        volumeBindingMode: 'WaitForFirstConsumer',
        ...body,
      });
    const volume = (name: string, spec: object) =>
      create(persistentVolumes(), 'PersistentVolume', 'v1', name, {
        spec: {
          capacity: { storage: '10Gi' },
          accessModes: ['ReadWriteOnce'],
          local: { path: '/data' },
          ...spec,
        },
      });
    const claim = (spec: object) =>
      create(persistentVolumeClaims(science.name), 'PersistentVolumeClaim', 'v1', 'data', {
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
      });

    /** Names of the nodes on which a Job with this claim runs to its end. */
    async function nodesOfJob(pods: number): Promise<readonly string[]> {
      const job = await science.job('job', { pods, podSpec });
      const { allocation } = await science.phase(job, 'Finished');
      const ran = (await science.podsOf(job)).map(({ spec }) => spec.nodeName!);
      expect([...new Set(ran)].sort()).toEqual(allocation!.nodes.map(({ name }) => name).sort());
      return [...new Set(ran)].sort();
    }

    test('a Job runs on the node of its bound local volume', async () => {
      await storageClass('bound', { provisioner: 'kubernetes.io/no-provisioner' });
      await volume('bound', {
        storageClassName: 'bound',
        claimRef: { namespace: science.name, name: 'data' },
        nodeAffinity: on('kubernetes.io/hostname', 'node-3'),
      });
      await claim({ storageClassName: 'bound', volumeName: 'bound' });
      expect(await nodesOfJob(3)).toEqual(['node-3']);
    });

    test('a Job runs on the node of a free local volume, all pods that share the claim', async () => {
      await storageClass('free', { provisioner: 'kubernetes.io/no-provisioner' });
      await volume('free', {
        storageClassName: 'free',
        nodeAffinity: on('kubernetes.io/hostname', 'node-1'),
      });
      await claim({ storageClassName: 'free' });
      expect(await nodesOfJob(4)).toEqual(['node-1']);
    });

    test('a Job waits for a local volume, and starts on its node when there is one', async () => {
      await storageClass('late', { provisioner: 'kubernetes.io/no-provisioner' });
      await claim({ storageClassName: 'late' });
      const job = await science.job('job', { runs: '1s', podSpec });
      const { message } = await science.phase(job, 'Waiting', 'Unsatisfiable');
      expect(message).toContain('volumes leave none');
      await volume('late', {
        storageClassName: 'late',
        nodeAffinity: on('kubernetes.io/hostname', 'node-2'),
      });
      const { allocation } = await science.phase(job, 'Finished');
      expect(allocation!.nodes.map(({ name }) => name)).toEqual(['node-2']);
    });

    test('a Job whose volume can be made in one zone only is granted nodes of this zone', async () => {
      await storageClass('zonal', {
        provisioner: 'csi.example.com',
        allowedTopologies: [{ matchLabelExpressions: [{ key: ZONE, values: ['b'] }] }],
      });
      await claim({ storageClassName: 'zonal' });
      const job = await science.job('job', { podSpec });
      const { allocation } = await science.phase(job, 'Ready');
      expect(allocation!.nodes.map(({ name }) => name)).toEqual(['node-2']);
      await science.delete(job, 'Job');
    });
  },
  { nodes: 2, nodeShape: shape('a') },
);
