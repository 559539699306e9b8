// Own cluster: kube-scheduler chooses nodes for pods of the stack's namespace, and the pods end.
/** What Kubernetes makes of the dumps' volume, and of the first of them, when the stack is installed and when it changes. */
import type { k8s } from 'cdk8s-plus-28';
import { BackupTarget, Database } from '../../../constructs/fluxqueue/index';
import type { KubeObject } from '../../cluster/cluster';
import { describeOwnCluster } from '../../cluster/suite';
import { stackObjects } from '../manifests';

const BATCH = '/apis/batch/v1/namespaces/fluxqueue-system/jobs';
const CLAIM = '/api/v1/namespaces/fluxqueue-system/persistentvolumeclaims/fluxqueue-backup';

interface Job extends KubeObject {
  readonly spec: k8s.JobSpec;
  readonly status?: { readonly succeeded?: number };
}

/** A StorageClass as those of most clusters, and a volume of it. */
const STORAGE = [
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'waits' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'dumps' },
    spec: {
      storageClassName: 'waits',
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteOnce'],
      hostPath: { path: '/dumps' },
    },
  },
];

/** The namespace, and what a stack has for its dumps. */
function dumps(image: string): KubeObject[] {
  const backup = { target: BackupTarget.volume({ storageClassName: 'waits' }) };
  return stackObjects({ database: Database.statefulSet({ image, backup }) }).filter(
    ({ kind, metadata }) =>
      kind === 'Namespace' || metadata.labels?.['app.kubernetes.io/component'] === 'backup',
  );
}

describeOwnCluster(
  "the dumps of the stack's own database",
  (getCluster) => {
    const completed = (count: number) =>
      getCluster().waitFor(`${count} completed Jobs`, async () => {
        const { items } = await getCluster().get<{ items: readonly Job[] }>(BATCH);
        return items.filter(({ status }) => status?.succeeded === 1).length === count && items;
      });
    const claim = () => getCluster().get<KubeObject & { readonly status: { readonly phase: string } }>(CLAIM);

    test('have a volume from the start, also one that waits for its first pod', async () => {
      await getCluster().apply(STORAGE);
      await getCluster().apply(dumps('postgres:18.1'));
      await completed(1);
      expect((await claim()).status.phase).toBe('Bound');
    });

    test('keep it with every change of the stack, which the apiserver takes', async () => {
      const { metadata } = await claim();
      await getCluster().apply(dumps('postgres:18.1'));
      await completed(1);
      await getCluster().apply(dumps('postgres:18.2'));
      await completed(2);
      // Back to the version before, as `git revert` does.
      await getCluster().apply(dumps('postgres:18.1'));
      await completed(2);
      expect(await claim()).toMatchObject({ metadata: { uid: metadata.uid }, status: { phase: 'Bound' } });
    });
  },
  { nodes: 1 },
);
