/** What the controllers of Kubernetes make of changes of the stack's own database: its pod, and its volume. */
import type { k8s } from 'cdk8s-plus-28';
import { Database, type StatefulDatabaseProps } from '../../../constructs/fluxqueue/index';
import type { KubeObject } from '../../cluster/cluster';
import { describeCluster } from '../../cluster/suite';
import { find, stackObjects } from '../manifests';

const SYSTEM = 'fluxqueue-system';
const STATEFUL_SET = `/apis/apps/v1/namespaces/${SYSTEM}/statefulsets/fluxqueue-database`;
const CLAIM = `/api/v1/namespaces/${SYSTEM}/persistentvolumeclaims/data-fluxqueue-database-0`;
const APPLY = 'application/apply-patch+yaml';
const POD = `/api/v1/namespaces/${SYSTEM}/pods/fluxqueue-database-0`;

interface StatefulSet extends KubeObject {
  readonly spec: k8s.StatefulSetSpec;
}
interface Pod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly ownerReferences?: readonly { uid: string }[] };
  readonly spec: k8s.PodSpec;
}

/** Of an earlier version. */
function ordered(objects: readonly KubeObject[]): KubeObject[] {
  const earlier = (object: KubeObject) =>
    object.kind !== 'StatefulSet'
      ? object
      : { ...object, spec: { ...(object as StatefulSet).spec, podManagementPolicy: 'OrderedReady' } };
  return objects.map(earlier);
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

  test('takes the pod of an earlier version once its StatefulSet is deleted without the pod', async () => {
    await getCluster().apply(ordered(databaseObjects({ image: 'postgres:same' })));
    const before = await podWith('postgres:same');
    const next = find(databaseObjects({ image: 'postgres:same' }), 'StatefulSet', 'fluxqueue-database');
    const refused = await getCluster().api.send(
      'PATCH',
      `${STATEFUL_SET}?fieldManager=fluxqueue-test&force=true`,
      next,
      APPLY,
    );
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining('spec.podManagementPolicy'),
    ]);

    await remove(STATEFUL_SET, 'Orphan');
    const [{ metadata }] = (await getCluster().apply(next)) as [KubeObject];
    const adopted = await getCluster().waitFor('the adoption', async () => {
      const pod = await getCluster().get<Pod>(POD);
      return pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) && pod;
    });
    expect(adopted.metadata.uid).toBe(before.metadata.uid);
  });
});
