import { parseConfig } from '../../runtime/config';
import type { Node, Pod } from '../../runtime/kubernetes/types';
import { UnmanagedPods } from '../../runtime/scheduler/unmanaged-pods';
import { NodeCache, nodeFacts } from '../../runtime/shared/node-cache';
import type { Shared } from '../../runtime/shared/shared';
import { podFacts } from '../../runtime/workloads/pod-facts';
import { FakeInformer, metadata } from '../shared/fake-informer';

const pod = (name: string, cpu: string, over: Partial<Pod> = {}): Pod => ({
  metadata: metadata(name, { namespace: 'elsewhere' }),
  spec: {
    nodeName: 'node-1',
    containers: [{ name: 'main', resources: { requests: { cpu, memory: '1Gi' } } }],
  },
  status: { phase: 'Running' },
  ...over,
});

const GRANT = { nodes: [{ name: 'node-1', units: {} }] };

/** @param granted uids of workloads with node-1 */
function setUp(granted: readonly string[] = []) {
  const { units } = parseConfig({});
  const nodes = new FakeInformer<Node>();
  const pods = new FakeInformer<Pod>({
    node: (each) => [podFacts.usedNode(each)].filter((name) => name !== undefined),
  });
  const unmanaged = new UnmanagedPods({
    config: { units },
    informers: { nodes: nodes.asInformer(), pods: pods.asInformer() },
    nodes: new NodeCache(nodes.asInformer(), units),
    podFacts,
    workloadCache: { byUid: (uid: string) => ({ allocation: granted.includes(uid) ? GRANT : null }) },
  } as unknown as Shared);
  for (const name of ['node-1', 'node-2'])
    nodes.set(
      nodeFacts({
        metadata: metadata(name),
        spec: {},
        status: {
          allocatable: { cpu: '4', memory: '16Gi' },
          conditions: [{ type: 'Ready', status: 'True' }],
        },
      }),
    );
  let changes = 0;
  unmanaged.changed.subscribe(() => {
    changes += 1;
  });
  return { pods, unmanaged, changes: () => changes };
}

test('adds the requests of pods outside the queue by node', () => {
  const { pods, unmanaged } = setUp();
  pods.set(pod('a', '1500m'));
  pods.set(pod('b', '1'));
  expect([...unmanaged.usage()]).toEqual([['node-1', { core: 3, memory: 2 }]]);
});

test('leaves out pods that the queue granted units to', () => {
  const { pods, unmanaged, changes } = setUp(['uid-a']);
  pods.set(pod('a', '1'));
  expect([unmanaged.usage().size, changes()]).toEqual([0, 0]);
});

test('counts a pod of a workload on a node that the workload holds no longer', () => {
  const { pods, unmanaged } = setUp(['uid-a']);
  const { spec } = pod('a', '1');
  pods.set(pod('a', '1', { spec: { ...spec, nodeName: 'node-2' } }));
  expect([...unmanaged.usage()]).toEqual([['node-2', { core: 1, memory: 1 }]]);
});

test('reports only changes of the node that a pod uses', () => {
  const { pods, unmanaged, changes } = setUp();
  pods.set(pod('a', '1', { status: { phase: 'Pending' } }));
  pods.set(pod('a', '1'));
  expect(changes()).toBe(1);
  pods.set(pod('a', '1', { status: { phase: 'Succeeded' } }));
  expect([unmanaged.usage().size, changes()]).toEqual([0, 2]);
});
