/** Nodes that are drained, cordoned, lost or deleted under running workloads: the pods get new nodes. */
import { GANG_SIZE } from '../../../constructs/api/labels';
import { nodes as nodePath, pods as podPath } from '../../../runtime/kubernetes/paths';
import { deployment, job, pod, sharedVolume, statefulSet, withClaim } from '../../stack/manifests';
import type { Row } from '../row';
import type { RowCluster } from '../row-cluster';

/** A gang of two pods that fill a node each; the third node is free. */
const GANG = job('gang', {
  pods: 2,
  requests: { cpu: '3' },
  annotations: { [GANG_SIZE]: '2' },
  spec: { backoffLimit: 20 },
});

/** Starts the gang and returns the node of its first pod. */
async function startGang(cluster: RowCluster): Promise<string> {
  await cluster.apply(GANG);
  const [first] = await cluster.runs('gang', 2);
  return first!.spec.nodeName!;
}

/** Stops the kubelet, and waits until the cluster knows: a busy apiserver needs more than a minute for that. */
async function loseKubelet(cluster: RowCluster, node: string): Promise<void> {
  await cluster.stopKubelet(node);
  await cluster.until('its taint', 90_000, async () => {
    const { spec } = await cluster.get<{ spec: { taints?: { effect: string }[] } }>(nodePath(node));
    return spec.taints?.some(({ effect }) => effect === 'NoExecute');
  });
}

/** Starts one pod of a controller and returns its node. */
async function startOne(cluster: RowCluster, manifest: ReturnType<typeof pod>): Promise<string> {
  await cluster.apply(manifest);
  const [only] = await cluster.runs(manifest.metadata.name!, 1);
  return only!.spec.nodeName!;
}

const onThree = { requests: { cpu: '3' } };

export const NODE_ROWS: readonly Row[] = [
  {
    name: 'a gang whose node is drained runs on other nodes',
    async run(cluster) {
      const node = await startGang(cluster);
      await cluster.drain(node);
      await cluster.runs('gang', 2, { not: [node] });
    },
  },
  {
    name: 'a gang whose node is cordoned and whose pod is deleted runs on other nodes',
    async run(cluster) {
      const node = await startGang(cluster);
      await cluster.cordon(node);
      const [lost] = await cluster.podsOn(node);
      await cluster.delete(podPath(cluster.namespace, lost!.metadata.name));
      await cluster.runs('gang', 2, { not: [node] });
    },
  },
  {
    name: 'a gang whose node stays NotReady gets new nodes while the dead pod is still there',
    async run(cluster) {
      const node = await startGang(cluster);
      await loseKubelet(cluster, node);
      await cluster.runs('gang', 2, { not: [node] });
    },
  },
  {
    name: 'the other nodes of a gang with a dead kubelet are free once it is deleted',
    async run(cluster) {
      const node = await startGang(cluster);
      await loseKubelet(cluster, node);
      await cluster.delete(`${cluster.path('batch/v1', 'jobs', 'gang')}?propagationPolicy=Background`);
      await cluster.apply(job('next', { pods: 2, requests: { cpu: '4' } }));
      await cluster.runs('next', 2, { not: [node] });
    },
  },
  {
    name: 'a gang on a node with a NoExecute taint runs on other nodes',
    async run(cluster) {
      const node = await startGang(cluster);
      await cluster.taint(node, 'maintenance', 'NoExecute');
      await cluster.runs('gang', 2, { not: [node] });
    },
  },
  {
    name: 'a gang whose node is deleted runs on other nodes',
    async run(cluster) {
      const node = await startGang(cluster);
      await cluster.removeNode(node);
      await cluster.runs('gang', 2, { not: [node] });
    },
  },
  {
    name: 'a pod of a Deployment whose node is deleted is replaced on another node',
    async run(cluster) {
      const node = await startOne(cluster, deployment('web', onThree));
      await cluster.removeNode(node);
      // The garbage collector deletes the pods of a deleted node after 40 s to 60 s.
      await cluster.runs('web', 1, { not: [node] }, 120_000);
    },
  },
  {
    name: 'a pod of a Deployment whose node is drained is replaced on another node',
    async run(cluster) {
      const node = await startOne(cluster, deployment('web', onThree));
      await cluster.drain(node);
      await cluster.runs('web', 1, { not: [node] });
    },
  },
  {
    name: 'a pod of a StatefulSet whose node is deleted is replaced on another node',
    async run(cluster) {
      const node = await startOne(cluster, statefulSet('db', onThree));
      await cluster.removeNode(node);
      // The garbage collector deletes the pods of a deleted node after 40 s to 60 s.
      await cluster.runs('db', 1, { not: [node] }, 120_000);
    },
  },
  {
    name: 'a pod of a Deployment that is pinned to a node which vanished before it was bound runs elsewhere',
    async run(cluster) {
      await cluster.apply(deployment('web', { ...onThree, pod: withClaim('data') }));
      await cluster.says('web', /"data" not found/);
      const pinned = (await cluster.fluxJobs('web'))[0]!.status?.allocation?.[0]?.node ?? cluster.nodes[0]!;
      await cluster.removeNode(pinned);
      await cluster.apply(...sharedVolume(cluster.namespace, 'data'));
      await cluster.runs('web', 1, { not: [pinned] });
    },
  },
  {
    name: 'a bare pod whose node is deleted says so, and frees its units',
    async run(cluster) {
      const node = await startOne(cluster, pod('lone', onThree));
      await cluster.removeNode(node);
      await cluster.saysAndFrees('lone', new RegExp(`node ${node} (was|is) (lost|deleted|gone)|Cancelled`));
    },
  },
  {
    name: 'a gang that a more urgent pod from outside preempts runs on other nodes',
    async run(cluster) {
      const node = await startGang(cluster);
      const urgent = `${cluster.namespace}-urgent`;
      await cluster.apply({
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: urgent },
        value: 1000,
      });
      await cluster.addNamespace(`${cluster.namespace}-others`);
      const intruder = pod('intruder', {
        requests: { cpu: '4' },
        pod: { priorityClassName: urgent, nodeSelector: { 'kubernetes.io/hostname': node } },
      });
      intruder.metadata.namespace = `${cluster.namespace}-others`;
      await cluster.apply(intruder);
      await cluster.runs('gang', 2, { not: [node] });
    },
  },
  {
    name: 'a Job whose room is taken by a pod outside the queue runs elsewhere',
    async run(cluster) {
      await cluster.apply(
        job('steps', { requests: { cpu: '3' }, spec: { completionMode: 'NonIndexed', backoffLimit: 20 } }),
      );
      const [one] = await cluster.runs('steps', 1);
      const node = one!.spec.nodeName!;
      // It is not scheduled, so nothing checks that it fits.
      await cluster.occupy(node, { cpu: '2' });
      await cluster.delete(podPath(cluster.namespace, one!.metadata.name));
      await cluster.runs('steps', 1, { not: [node] });
    },
  },
  {
    name: 'a Job whose pod its user deletes runs it again',
    async run(cluster) {
      await startGang(cluster);
      const [one] = await cluster.pods('gang');
      await cluster.delete(podPath(cluster.namespace, one!.metadata.name));
      await cluster.until('a new pod', 30_000, async () =>
        (await cluster.pods('gang')).every(({ metadata }) => metadata.uid !== one!.metadata.uid),
      );
      await cluster.runs('gang', 2);
    },
  },
];
