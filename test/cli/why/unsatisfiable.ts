/** No nodes can ever hold it. The cluster has two nodes with 4 cores and 16 GiB each. */
import { persistentVolumeClaims, persistentVolumes } from '../../../runtime/kubernetes/paths';
import type { Situation } from './situation';
import { NAMESPACE, type World } from './world';

const hasLabel = (values: readonly string[]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: 'disk', operator: 'In' as const, values: [...values] }] },
      ],
    },
  },
});

const volume = (zone: string) => ({
  nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }],
});

/** Submits a Job with one pod per node. */
async function apart(world: World, name: string, pods: number): Promise<void> {
  for (const node of ['node-0', 'node-1']) world.node(node, { labels: { 'kubernetes.io/hostname': node } });
  await world.seconds(5);
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'a' } } };
  const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
  world.job(name, { ...gang(pods), labels: { app: 'a' }, pod: { affinity: { podAntiAffinity } } });
}

/** An array starts with what fits. */
const gang = (pods: number, annotations: Readonly<Record<string, string>> = {}) => ({
  pods,
  annotations: { 'fluxqueue/gang-size': String(pods), ...annotations },
});

export const UNSATISFIABLE: readonly Situation[] = [
  {
    because: 'it asks for more cores than any node has',
    reason: 'Unsatisfiable',
    arrange: (world) => world.job('mine', { cores: 16 }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for 1 node with 16 cores, the cluster has none; the largest has 4 cores',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'a gang asks for more pods than the cluster has room for',
    reason: 'Unsatisfiable',
    arrange: (world) => world.job('mine', { ...gang(5), cores: 2 }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for 5 pods with 2 cores each, the cluster has room for 4',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'a gang asks for more whole nodes than exist',
    reason: 'Unsatisfiable',
    arrange: (world) => world.job('mine', gang(3, { 'fluxqueue/exclusive': 'true' })),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for 3 nodes with 1 core, the cluster has 2',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'each node has enough cores or enough memory, and none has both',
    reason: 'Unsatisfiable',
    arrange(world) {
      world.node('node-0', { allocatable: { cpu: '8' } });
      world.node('node-1', { allocatable: { memory: '64Gi' } });
      world.job('mine', { cores: 8, requests: { memory: '48Gi' } });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for 1 node with 8 cores and 48 GiB of memory, the cluster has none; no node has all of it at once',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'no node has the label of its node selector',
    reason: 'Unsatisfiable',
    arrange: (world) => world.job('mine', { cores: 2, pod: { nodeSelector: { disk: 'ssd' } } }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for 1 node with 2 cores, its node selector, affinity and tolerations leave none: of 2 nodes that are large enough, 2 lack label disk=ssd',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'too few nodes for a gang have the label that its affinity asks for',
    reason: 'Unsatisfiable',
    arrange(world) {
      world.node('node-0', { labels: { disk: 'ssd' } });
      world.job('mine', { ...gang(2), cores: 3, pod: { affinity: hasLabel(['ssd', 'nvme']) } });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for 2 nodes with 3 cores, its node selector, affinity and tolerations leave 1: of 2 nodes that are large enough, 1 lacks label disk=nvme or disk=ssd',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'it does not tolerate the taints of the nodes',
    reason: 'Unsatisfiable',
    async arrange(world) {
      const taints = [{ key: 'maintenance', value: 'today', effect: 'NoSchedule' as const }];
      for (const name of ['node-0', 'node-1']) world.node(name, { spec: { taints } });
      await world.seconds(5);
      world.job('mine', { cores: 2 });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for 1 node with 2 cores, its node selector, affinity and tolerations leave none: of 2 nodes that are large enough, 2 have taint maintenance=today:NoSchedule',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'several of its constraints exclude nodes',
    reason: 'Unsatisfiable',
    async arrange(world) {
      const taints = [{ key: 'maintenance', effect: 'NoSchedule' as const }];
      world.node('node-0', { labels: { disk: 'ssd' }, spec: { taints } });
      await world.seconds(5);
      world.job('mine', { cores: 2, pod: { nodeSelector: { disk: 'ssd' } } });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for 1 node with 2 cores, its node selector, affinity and tolerations leave none: of 2 nodes that are large enough, 1 lacks label disk=ssd and 1 has taint maintenance:NoSchedule',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'no node has the GPU that it asks for',
    reason: 'Unsatisfiable',
    arrange: (world) => world.job('mine', { pods: 2, requests: { 'nvidia.com/gpu': '4' } }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for 4 nvidia.com/gpu, no node of the cluster has any',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'it names a node that does not exist',
    reason: 'Unsatisfiable',
    arrange: (world) => world.job('mine', { pod: { nodeName: 'node-9' } }),
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for node node-9, which does not exist',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'its volume is where no node is',
    reason: 'Unsatisfiable',
    arrange(world) {
      world.create(persistentVolumes(), {
        metadata: { name: 'pv' },
        spec: {
          nodeAffinity: { required: volume('b') },
          claimRef: { namespace: NAMESPACE, name: 'data' },
        },
      });
      world.create(persistentVolumeClaims(NAMESPACE), {
        metadata: { name: 'data', annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
        spec: { volumeName: 'pv', accessModes: ['ReadWriteOnce'] },
        status: { phase: 'Bound' },
      });
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
      world.job('mine', { cores: 2, pod: { volumes } as never });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: asks for 1 node with 2 cores, its node selector, affinity, tolerations and volumes leave none: of 2 nodes that are large enough, 2 lack label zone=b',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'no node has as much ephemeral storage',
    reason: 'Unsatisfiable',
    async arrange(world) {
      for (const node of ['node-0', 'node-1'])
        world.node(node, { allocatable: { 'ephemeral-storage': '50Gi' } });
      await world.seconds(5);
      world.job('mine', { requests: { 'ephemeral-storage': '100Gi' } });
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: needs 1 pod with 1 core, 100 GiB of ephemeral-storage per pod; the cluster has room for none',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'its anti-affinity allows fewer pods than a gang has',
    reason: 'Unsatisfiable',
    async arrange(world) {
      await apart(world, 'mine', 3);
    },
    prints: [
      'science/job/mine waits in queue default, position 1',
      'Unsatisfiable: needs 3 pods with 1 core each, one pod per kubernetes.io/hostname (podAntiAffinity); the cluster has room for 2',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
  {
    because: 'one with the same rules and a smaller request can never start',
    reason: 'Unsatisfiable',
    async arrange(world) {
      await apart(world, 'smaller', 3);
      await apart(world, 'mine', 4);
    },
    prints: [
      'science/job/mine waits in queue default, position 2',
      'Unsatisfiable: needs 4 pods with 1 core each, one pod per kubernetes.io/hostname (podAntiAffinity); the cluster has room for 2',
      'it cannot start as things are',
      'what to do: delete it and submit it with a request that the nodes can hold; or ask your administrator for such nodes, then it starts by itself',
    ],
  },
];
