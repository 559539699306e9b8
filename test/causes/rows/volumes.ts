/** Volumes that only some nodes can use. */
import { claim, job, localVolume, statefulSet, storageClass, withClaim } from '../../stack/manifests';
import { nodes, type Row } from '../row';
import type { RowCluster } from '../row-cluster';

const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

/** A storage class, and for each node a local volume and its claim `data-INDEX`. */
async function localClaims(
  cluster: RowCluster,
  mode: 'Immediate' | 'WaitForFirstConsumer',
  nodes: readonly string[] = cluster.nodes,
): Promise<void> {
  const name = `${cluster.namespace}-local`;
  await cluster.apply(storageClass(name, mode));
  for (const [i, node] of nodes.entries())
    await cluster.apply(
      localVolume(`${name}-${i}`, name, HOSTNAME, node),
      claim(`data-${i}`, name, `${name}-${i}`),
    );
}

/** A reader of each claim runs on the claim's node: a scheduler that does not know volumes packs both on one. */
async function readEach(cluster: RowCluster, nodes: readonly string[]): Promise<void> {
  for (const i of nodes.keys()) await cluster.apply(job(`reader-${i}`, { pod: withClaim(`data-${i}`) }));
  for (const [i, node] of nodes.entries())
    await cluster.runs(`reader-${i}`, 1, { not: cluster.nodes.filter((name) => name !== node) });
}

export const VOLUME_ROWS: readonly Row[] = [
  {
    name: 'Jobs with bound local volumes run on their nodes',
    async run(cluster) {
      await localClaims(cluster, 'Immediate');
      await readEach(cluster, cluster.nodes);
    },
  },
  {
    name: 'Jobs with local volumes that are bound later run on their nodes',
    async run(cluster) {
      await localClaims(cluster, 'WaitForFirstConsumer');
      await readEach(cluster, cluster.nodes);
    },
  },
  {
    name: 'Jobs with zonal volumes that are bound later run in their zones',
    nodes: ['a', 'b', 'c'].map((zone) => ({ cpu: '4', memory: '16Gi', labels: { [ZONE]: zone } })),
    async run(cluster) {
      for (const [i, zone] of ['a', 'b', 'c'].entries()) {
        const name = `${cluster.namespace}-${zone}`;
        const allowedTopologies = [{ matchLabelExpressions: [{ key: ZONE, values: [zone] }] }];
        await cluster.apply(
          storageClass(name, 'WaitForFirstConsumer', { allowedTopologies }),
          localVolume(name, name, ZONE, zone),
          claim(`data-${i}`, name),
        );
      }
      await readEach(cluster, cluster.nodes);
    },
  },
  {
    name: 'a StatefulSet with claim templates runs where its local volumes are',
    async run(cluster) {
      const name = `${cluster.namespace}-local`;
      const [, second, third] = cluster.nodes;
      await cluster.apply(
        storageClass(name, 'WaitForFirstConsumer'),
        localVolume(`${name}-1`, name, HOSTNAME, second!),
        localVolume(`${name}-2`, name, HOSTNAME, third!),
      );
      const { spec } = claim('data', name);
      const shape = { pods: 2, spec: { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }] } };
      await cluster.apply(statefulSet('db', shape));
      await cluster.runs('db', 2, { not: [cluster.nodes[0]!], perNode: 1 });
    },
  },
  {
    name: 'a Job whose local volume is on a node that is full waits, says why and holds nothing',
    nodes: nodes(2),
    async run(cluster) {
      await localClaims(cluster, 'Immediate');
      await cluster.occupy(cluster.nodes[1]!, { cpu: '4' });
      await cluster.apply(job('reader', { pod: withClaim('data-1') }));
      await cluster.saysAndFrees('reader', /volume|pods outside the queue|not free now/);
    },
  },
  {
    name: 'a Job with a claim that no volume fits says so and holds nothing',
    async run(cluster) {
      const name = `${cluster.namespace}-none`;
      await cluster.apply(storageClass(name, 'WaitForFirstConsumer'), claim('data', name));
      await cluster.apply(job('reader', { pod: withClaim('data') }));
      await cluster.saysAndFrees('reader', /didn't find available persistent volumes|volumes leave none/);
    },
  },
  {
    name: 'a Job with a ReadWriteOncePod claim that is in use says so and holds nothing',
    async run(cluster) {
      const name = `${cluster.namespace}-once`;
      const volume = localVolume(name, name, HOSTNAME, cluster.nodes[0]!);
      const once = { accessModes: ['ReadWriteOncePod'] };
      const data = claim('data', name);
      await cluster.apply(
        storageClass(name, 'Immediate'),
        { ...volume, spec: { ...(volume.spec as object), ...once } },
        { ...data, spec: { ...(data.spec as object), ...once } },
      );
      await cluster.apply(job('writer', { pod: withClaim('data') }));
      const [writer] = await cluster.runs('writer', 1);
      expect(writer!.spec.nodeName).toBe(cluster.nodes[0]);
      await cluster.apply(job('second', { pod: withClaim('data') }));
      await cluster.says('second', /ReadWriteOncePod/);
    },
  },
];
