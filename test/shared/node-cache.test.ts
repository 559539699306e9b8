import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import type { Node } from '../../runtime/kubernetes/types';
import { NodeCache, nodeFacts } from '../../runtime/shared/node-cache';
import { FakeInformer, metadata } from './fake-informer';

const node = (name: string, cpu = '4', labels: Record<string, string> = {}): Node =>
  nodeFacts({
    metadata: metadata(name, { labels, resourceVersion: String(Math.random()) }),
    spec: {},
    status: { allocatable: { cpu, memory: '16Gi' }, conditions: [{ type: 'Ready', status: 'True' }] },
  });

let informer: FakeInformer<Node>;
let cache: NodeCache;
let changes: number;
let deleted: string[];

beforeEach(() => {
  informer = new FakeInformer();
  cache = new NodeCache(informer.asInformer(), DEFAULT_UNITS);
  changes = 0;
  deleted = [];
  cache.changed.subscribe(() => {
    changes += 1;
  });
  cache.deleted.subscribe((name) => deleted.push(name));
  for (const name of ['a', 'b']) informer.set(node(name));
  changes = 0;
});

test('ignores heartbeats', () => {
  const graph = cache.graphNodes();
  informer.set(node('a'));
  expect(changes).toBe(0);
  expect(cache.graphNodes()).toBe(graph);
});

test('keeps the graph nodes of all nodes but the changed one', () => {
  const before = cache.graphNodes();
  informer.set(node('a', '8'));
  const after = cache.graphNodes();
  expect(changes).toBe(1);
  expect(after.get('a')?.units.core).toBe(8);
  expect(after.get('b')).toBe(before.get('b'));
});

test('computes the cluster facts again after a change', () => {
  const before = cache.clusterFacts();
  expect(cache.clusterFacts()).toBe(before);
  informer.set(node('a', '4', { zone: 'west' }));
  expect(cache.clusterFacts()).not.toEqual(before);
});

test('reports nodes that become ready or are no longer ready', () => {
  const turned: string[] = [];
  cache.readinessChanged.subscribe((name) => turned.push(name));
  const dead = {
    ...node('a'),
    status: { ...node('a').status, conditions: [{ type: 'Ready', status: 'Unknown' }] },
  };
  informer.set(dead as Node);
  expect([turned, cache.isReady('a'), cache.isReady('b'), cache.isReady('c')]).toEqual([
    ['a'],
    false,
    true,
    false,
  ]);
  informer.set(node('a'));
  informer.set(node('a', '8'));
  expect([turned, cache.isReady('a')]).toEqual([['a', 'a'], true]);
});

test('reports deleted nodes', () => {
  informer.delete('a');
  expect([deleted, changes]).toEqual([['a'], 1]);
  expect([cache.exists('a'), cache.exists('b')]).toEqual([false, true]);
  expect([...cache.graphNodes().keys()]).toEqual(['b']);
});
