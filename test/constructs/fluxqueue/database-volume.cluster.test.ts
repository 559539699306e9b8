/** What the controllers of Kubernetes make of changes of the stack's own database: its pod, and its volume. */
import { Size } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import { Database, type StatefulDatabaseProps } from '../../../constructs/fluxqueue/index';
import type { KubeObject } from '../../cluster/cluster';
import { describeCluster } from '../../cluster/suite';
import { find, stackObjects } from '../manifests';

const SYSTEM = 'fluxqueue-system';
const STATEFUL_SET = `/apis/apps/v1/namespaces/${SYSTEM}/statefulsets/fluxqueue-database`;
const CLAIM = `/api/v1/namespaces/${SYSTEM}/persistentvolumeclaims/data-fluxqueue-database-0`;
const FIFTY = { resources: { requests: { storage: '50Gi' } } };
const APPLY = 'application/apply-patch+yaml';
const POD = `/api/v1/namespaces/${SYSTEM}/pods/fluxqueue-database-0`;

interface StatefulSet extends KubeObject {
  readonly spec: k8s.StatefulSetSpec;
}
interface Pod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly ownerReferences?: readonly { uid: string }[] };
  readonly spec: k8s.PodSpec;
}

interface Claim extends KubeObject {
  readonly spec: k8s.PersistentVolumeClaimSpec;
  readonly status: { readonly phase: string };
}

/** A StorageClass whose volumes can be enlarged, and its volume. */
function volumeOf(name: string): object[] {
  const access = {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '20Gi' },
    hostPath: { path: '/data' },
  };
  return [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name },
      provisioner: 'kubernetes.io/no-provisioner',
      allowVolumeExpansion: true,
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: { ...access, storageClassName: name },
    },
  ];
}

/** As an earlier version had it: its pod in order, and the size of its volume in the template alone. */
function earlier(objects: readonly KubeObject[]): KubeObject[] {
  const { spec } = find<Claim>(objects, 'PersistentVolumeClaim', 'data-fluxqueue-database-0');
  const set = find<StatefulSet>(objects, 'StatefulSet', 'fluxqueue-database');
  const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec }];
  return [
    ...objects.filter(({ kind }) => kind !== 'PersistentVolumeClaim' && kind !== 'StatefulSet'),
    { ...set, spec: { ...set.spec, podManagementPolicy: 'OrderedReady', volumeClaimTemplates } },
  ];
}

/** What a database has that Kubernetes has controllers for, and what that needs. */
function databaseObjects(props: StatefulDatabaseProps): KubeObject[] {
  const objects = stackObjects({ database: Database.statefulSet(props) });
  const kinds = ['Namespace', 'PriorityClass', 'ServiceAccount', 'PersistentVolumeClaim', 'StatefulSet'];
  return objects.filter(({ kind }) => kinds.includes(kind));
}

describeCluster("the stack's own database", (getCluster) => {
  const imageOf = ({ spec }: Pod) => spec.containers.find(({ name }) => name === 'postgres')?.image;
  const apply = (props: StatefulDatabaseProps) => getCluster().apply(databaseObjects(props));
  const podWith = (image: string) =>
    getCluster().waitFor(`a pod with ${image}`, async () => {
      const pod = await getCluster().get<Pod>(POD);
      return imageOf(pod) === image && pod;
    });

  const boundClaim = () =>
    getCluster().waitFor('the volume', async () => {
      const claim = await getCluster().get<Claim>(CLAIM);
      return claim.status.phase === 'Bound' && claim;
    });

  const remove = async (path: string, propagationPolicy: 'Orphan' | 'Foreground') => {
    await getCluster().api.send('DELETE', path, { propagationPolicy });
    const isGone = async () => (await getCluster().api.send('GET', path)).status === 404;
    await getCluster().waitFor(`the end of ${path}`, isGone);
  };

  afterEach(async () => {
    await remove(STATEFUL_SET, 'Foreground');
    await remove(CLAIM, 'Foreground');
  });

  // No node runs the pod, so it never becomes Ready (kubernetes/kubernetes#67250).
  test('has the pod of a reverted update, though that of the update never became Ready', async () => {
    await apply({ image: 'postgres:wrong' });
    await podWith('postgres:wrong');
    await apply({ image: 'postgres:right' });
    await podWith('postgres:right');
  });

  test('takes pod and volume of an earlier version once its StatefulSet is deleted without the pod', async () => {
    await getCluster().apply(volumeOf('grew'));
    const props = { storageClassName: 'grew', image: 'postgres:same', storage: Size.gibibytes(20) };
    await getCluster().apply(earlier(databaseObjects(props)));
    const pod = await podWith('postgres:same');
    const volume = await boundClaim();
    const next = databaseObjects({ ...props, storage: Size.gibibytes(50) });
    const set = find(next, 'StatefulSet', 'fluxqueue-database');
    const path = `${STATEFUL_SET}?fieldManager=fluxqueue-test&force=true`;
    expect((await getCluster().api.send('PATCH', path, set, APPLY)).status).toBe(422);

    await remove(STATEFUL_SET, 'Orphan');
    const { metadata } = find(await getCluster().apply(next), 'StatefulSet', 'fluxqueue-database');
    const adopted = await getCluster().waitFor('the adoption', async () => {
      const pod = await getCluster().get<Pod>(POD);
      return pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) && pod;
    });
    expect(adopted.metadata.uid).toBe(pod.metadata.uid);
    expect(await boundClaim()).toMatchObject({ metadata: { uid: volume.metadata.uid }, spec: FIFTY });
  });

  test('has the size of its volume that was applied last', async () => {
    const props = { storageClassName: 'grows', image: 'postgres:same' };
    await getCluster().apply(volumeOf('grows'));
    await apply({ ...props, storage: Size.gibibytes(20) });
    await boundClaim();
    const { metadata } = await podWith('postgres:same');
    await apply({ ...props, storage: Size.gibibytes(50) });
    expect(await boundClaim()).toMatchObject({ spec: FIFTY });
    expect((await getCluster().get(POD)).metadata.uid).toBe(metadata.uid);
  });
});
