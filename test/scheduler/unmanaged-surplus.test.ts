import type { Pod } from '../../runtime/kubernetes/types';
import type { ToldSurplus } from '../../runtime/shared/surplus';
import type { FakeInformer } from '../shared/fake-informer';

import { pod, podOf, setUp } from './unmanaged-world';

test('counts what the pods of a workload use beyond its grant: another pod, a larger one, one that still ends', () => {
  const { pods, unmanaged, changes } = setUp(['j']);
  pods.set(podOf('j', 'a', '1'));
  expect([unmanaged.usage().size, unmanaged.surpluses.of('j')]).toEqual([0, []]);
  const ending = podOf('j', 'b', '500m');
  pods.set({ ...ending, metadata: { ...ending.metadata, deletionTimestamp: '2026-01-01T01:00:00Z' } });
  expect([...unmanaged.usage()]).toEqual([['node-1', { core: 1, memory: 1 }]]);
  expect(unmanaged.surpluses.of('j')).toEqual([
    ['node-1', { amounts: { cpu: '500m', memory: '1Gi' }, pods: ['b'] }],
  ]);
  pods.set(podOf('j', 'a', '2500m'));
  expect([...unmanaged.usage()]).toEqual([['node-1', { core: 2, memory: 1 }]]);
  const before = changes();
  pods.delete('science/b');
  expect(changes()).toBe(before + 1);
  expect([...unmanaged.usage()]).toEqual([['node-1', { core: 2 }]]);
  pods.set(podOf('j', 'a', '1', { status: { phase: 'Succeeded' } }));
  expect([unmanaged.usage().size, unmanaged.surpluses.of('j')]).toEqual([0, []]);
});

test('charges a pod that admission did not pin to its workload, on whichever node it runs', () => {
  const { pods, unmanaged, changes, setNode } = setUp(['j']);
  const elsewhere = podOf('j', 'a', '1');
  pods.set({ ...elsewhere, spec: { ...elsewhere.spec, nodeName: 'node-2' } });
  expect(changes()).toBe(1);
  expect([...unmanaged.usage()]).toEqual([['node-2', { core: 1, memory: 1 }]]);
  expect(unmanaged.surpluses.of('j')).toEqual([
    ['node-2', { amounts: { cpu: '1', memory: '1Gi' }, pods: ['a'] }],
  ]);
  expect([...unmanaged.surpluses.charges()]).toEqual([['j', { pods: 1, units: { core: 1, memory: 1 } }]]);
  setNode('node-2', '5');
  unmanaged.usage();
  expect(unmanaged.surpluses.of('j')).toHaveLength(1);
});

test('a pod that ends soon where nothing was granted uses its node until it is gone, and is charged to nobody', () => {
  const { pods, unmanaged, pass } = setUp(['j']);
  const { metadata: own, spec } = podOf('j', 'a', '1');
  const deletionTimestamp = '2026-01-01T00:00:30Z';
  pods.set({ metadata: { ...own, deletionTimestamp }, spec: { ...spec, nodeName: 'node-2' } });
  expect([...unmanaged.usage()]).toEqual([['node-2', { core: 1, memory: 1 }]]);
  expect(unmanaged.surpluses.of('j')).toEqual([]);
  pass(61);
  expect([...unmanaged.usage()]).toEqual([['node-2', { core: 1, memory: 1 }]]);
  expect(unmanaged.surpluses.of('j')).toHaveLength(1);
});

test('charges nobody for a pod that was deleted on a node that is not ready', () => {
  const { pods, unmanaged, setNode } = setUp(['j']);
  const lost = podOf('j', 'a', '1');
  const deletionTimestamp = '2025-12-31T23:00:00Z';
  pods.set({
    ...lost,
    metadata: { ...lost.metadata, deletionTimestamp },
    spec: { ...lost.spec, nodeName: 'node-2' },
  });
  setNode('node-2', '4', 'Unknown');
  expect([...unmanaged.usage()]).toEqual([['node-2', { core: 1, memory: 1 }]]);
  expect(unmanaged.surpluses.of('j')).toEqual([]);
  setNode('node-2', '4');
  unmanaged.usage();
  expect(unmanaged.surpluses.of('j')).toHaveLength(1);
});

test('adds what workloads use beyond their grants to what pods outside the queue use', () => {
  const { pods, unmanaged } = setUp(['j', 'k']);
  for (const name of ['a', 'b', 'c']) pods.set(podOf('j', name, '1'));
  pods.set(podOf('k', 'd', '2'));
  pods.set(pod('e', '1'));
  expect([...unmanaged.usage()]).toEqual([['node-1', { core: 4, memory: 3 }]]);
  expect([...unmanaged.surpluses.charges()]).toEqual([
    ['j', { pods: 2, units: { core: 2, memory: 2 } }],
    ['k', { pods: 0, units: { core: 1 } }],
  ]);
  expect([unmanaged.surpluses.of('j'), unmanaged.surpluses.of('k')]).toEqual([
    [['node-1', { amounts: { cpu: '2', memory: '2Gi' }, pods: ['b', 'c'] }]],
    [['node-1', { amounts: { cpu: '1' }, pods: ['d'] }]],
  ]);
});

test('counts small additions to many pods together, and not a unit for each', () => {
  const grant = { nodes: [{ name: 'node-1', units: { core: '0-31', memory: '0-31' } }] };
  const { pods, unmanaged, setNode } = setUp(['j'], undefined, grant);
  setNode('node-1', '64');
  for (let i = 0; i < 32; i++) pods.set(podOf('j', `p${i}`, '1050m'));
  expect(unmanaged.surpluses.of('j')).toEqual([]);
  expect(unmanaged.usage().get('node-1')).toEqual({ core: 2 });
  const [[node, { amounts, pods: names }]] = unmanaged.surpluses.of('j') as [[string, ToldSurplus]];
  expect([node, amounts, names.length]).toEqual(['node-1', { cpu: '1600m' }, 32]);
});

test('names the pods beyond the grant: a larger one, the youngest, one that ends, and no other', () => {
  const grant = { nodes: [{ name: 'node-1', units: { core: '0-1', memory: '0-1' } }] };
  const { pods, unmanaged } = setUp(['j'], undefined, grant);
  const set = (name: string, cpu: string, of: Partial<Pod['metadata']> = {}) => {
    const created = podOf('j', name, cpu);
    pods.set({ ...created, metadata: { ...created.metadata, ...of } });
  };
  const named = () => {
    unmanaged.usage();
    return unmanaged.surpluses.of('j').flatMap(([, { pods: names }]) => names);
  };
  set('a', '1', { creationTimestamp: '2026-01-01T00:00:02Z' });
  set('b', '1', { creationTimestamp: '2026-01-01T00:00:01Z' });
  expect(named()).toEqual([]);
  set('c', '1', { creationTimestamp: '2026-01-01T00:00:00Z' });
  expect(named()).toEqual(['a']);
  pods.delete('science/c');
  set('c', '1', { creationTimestamp: '2026-01-01T00:00:00Z', deletionTimestamp: '2026-01-01T01:00:00Z' });
  expect(named()).toEqual(['c']);
  pods.delete('science/c');
  set('b', '2', { creationTimestamp: '2026-01-01T00:00:01Z' });
  expect(named()).toEqual(['b']);
});

test('pods may use all of the units to which their requests were rounded up', () => {
  const grant = { nodes: [{ name: 'node-1', units: { core: '0-1', memory: '0-1' } }] };
  const { pods, unmanaged } = setUp(['j'], undefined, grant);
  for (const name of ['a', 'b']) pods.set(podOf('j', name, '900m'));
  expect(unmanaged.usage().size).toBe(0);
});

test('a pod without requests counts as the core unit that each such pod is granted', () => {
  const { pods, unmanaged } = setUp(['j']);
  const bare = (name: string) => {
    const { metadata: own } = podOf('j', name, '0');
    return { metadata: own, spec: { nodeName: 'node-1', containers: [{ name: 'main' }] } };
  };
  pods.set(bare('a'));
  expect(unmanaged.usage().size).toBe(0);
  pods.set(bare('b'));
  expect([...unmanaged.usage()]).toEqual([['node-1', { core: 1 }]]);
});

test('two resources that are units of one type are compared with what was granted of that type', () => {
  const grant = { nodes: [{ name: 'node-1', units: { core: '0-1', memory: '0-1', gpu: '0-1' } }] };
  const { pods, unmanaged } = setUp(['j'], undefined, grant);
  const gpuPod = (name: string, resource: string) => {
    const each = podOf('j', name, '1');
    const requests = { cpu: '1', memory: '1Gi', [resource]: '1' };
    return { ...each, spec: { ...each.spec, containers: [{ name: 'main', resources: { requests } }] } };
  };
  pods.set(gpuPod('a', 'nvidia.com/gpu'));
  pods.set(gpuPod('b', 'amd.com/gpu'));
  unmanaged.usage();
  expect(unmanaged.surpluses.of('j')).toEqual([]);
});

test('a workload that has the whole node uses no more than that', () => {
  const whole = { nodes: [{ name: 'node-1', units: { core: '0-3' }, exclusive: true }] };
  const { pods, unmanaged } = setUp(['j'], undefined, whole);
  for (const name of ['a', 'b', 'c', 'd', 'e']) pods.set(podOf('j', name, '1'));
  expect(unmanaged.usage().size).toBe(0);
});

test('tells of each workload whose surplus changes, and of none twice', () => {
  const { pods, unmanaged, setNode } = setUp(['j']);
  const told: string[] = [];
  unmanaged.surpluses.changed.subscribe((uid) => told.push(uid));
  for (const name of ['a', 'b']) pods.set(podOf('j', name, '1'));
  unmanaged.usage();
  setNode('node-1', '5');
  unmanaged.usage();
  expect(told).toEqual(['j']);
});

test.each([
  ['2026-01-01T00:00:30Z', 'ends in half a minute', 0],
  ['2025-12-31T23:59:50Z', 'has ended ten seconds ago, which its kubelet has not told yet', 0],
  ['2025-12-31T23:59:00Z', 'should have ended a minute ago', 1],
  ['2026-01-01T00:02:00Z', 'ends in two minutes', 1],
])(
  'a pod beside its successor that is deleted at %s, which %s, counts %d times',
  (deletionTimestamp, _, count) => {
    const { pods, unmanaged } = setUp(['j']);
    pods.set(podOf('j', 'a', '1'));
    const ending = podOf('j', 'b', '1');
    pods.set({ ...ending, metadata: { ...ending.metadata, deletionTimestamp } });
    expect(unmanaged.usage().size).toBe(count);
  },
);

test('counts a pod that does not end once it should have ended, without any event', () => {
  const { pods, unmanaged, pass } = setUp(['j']);
  pods.set(podOf('j', 'a', '1'));
  const ending = podOf('j', 'b', '1');
  pods.set({ ...ending, metadata: { ...ending.metadata, deletionTimestamp: '2026-01-01T00:00:30Z' } });
  expect(unmanaged.usage().size).toBe(0);
  pass(59);
  expect(unmanaged.usage().size).toBe(0);
  pass(2);
  expect(unmanaged.usage().size).toBe(1);
});

test.each([
  ['a pod gets larger', (pods: FakeInformer<Pod>) => pods.set(pod('a', '2'))],
  [
    'a pod comes with a sidecar',
    (pods: FakeInformer<Pod>) => {
      pods.delete('elsewhere/a');
      pods.set(pod('a', '2'));
    },
  ],
])('tells at once that a workload uses more than it was granted: %s', (_, enlarge) => {
  const { pods, unmanaged, changes } = setUp(['uid-a']);
  pods.set(pod('a', '1'));
  expect([unmanaged.usage().size, changes()]).toEqual([0, 0]);
  enlarge(pods);
  expect(changes()).toBe(1);
  expect([...unmanaged.usage()]).toEqual([['node-1', { core: 1 }]]);
  pods.set(pod('a', '1'));
  expect([changes(), unmanaged.usage().size]).toEqual([2, 0]);
});
