import { AGENT, pod, setUp } from './unmanaged-world';

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

test('keeps its map until something changes, and never changes a map that it gave out', () => {
  const { pods, unmanaged } = setUp();
  pods.set(pod('a', '1'));
  const before = unmanaged.usage();
  pods.set(pod('a', '1', { status: { phase: 'Running', message: 'still' } }));
  expect(unmanaged.usage()).toBe(before);
  pods.set(pod('b', '1'));
  expect([...unmanaged.usage()]).toEqual([['node-1', { core: 2, memory: 2 }]]);
  expect([...before]).toEqual([['node-1', { core: 1, memory: 1 }]]);
});

test('follows grants, a reload of the rows, requests that change, and nodes', () => {
  const granted: string[] = [];
  const { pods, unmanaged, rowChanged, signals, setNode } = setUp(granted);
  const core = () => unmanaged.usage().get('node-1')?.core;
  pods.set(pod('a', '1'));
  expect(core()).toBe(1);
  granted.push('uid-a');
  rowChanged.emit({ uid: 'uid-a' });
  expect(core()).toBeUndefined();
  granted.pop();
  signals.resync.emit();
  expect(core()).toBe(1);
  pods.set(pod('a', '2500m'));
  expect(core()).toBe(3);
  setNode('node-1', '4500m');
  expect(core()).toBe(2);
});

test('leaves out agents, which have taken their part of the node already', () => {
  const { pods, unmanaged } = setUp([], { cpuMillis: 100, memoryMiB: 128 });
  pods.set(pod('agent', '100m', AGENT));
  expect(unmanaged.usage().size).toBe(0);
  pods.set(pod('a', '250m'));
  expect([...unmanaged.usage()]).toEqual([['node-1', { core: 3, memory: 8 }]]);
});
