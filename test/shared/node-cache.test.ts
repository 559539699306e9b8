import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import type { Node, Pod } from '../../runtime/kubernetes/types';
import { type Agents, agentsOf, isAgent } from '../../runtime/shared/agents';
import { NodeCache, nodeFacts } from '../../runtime/shared/node-cache';
import { Signal } from '../../runtime/signal';
import { podFacts } from '../../runtime/workloads/pod-facts';
import { FakeInformer, metadata } from './fake-informer';

const node = (name: string, cpu = '4', labels: Record<string, string> = {}): Node =>
  nodeFacts({
    metadata: metadata(name, { labels, resourceVersion: String(Math.random()) }),
    spec: {},
    status: { allocatable: { cpu, memory: '16Gi' }, conditions: [{ type: 'Ready', status: 'True' }] },
  });

const NO_AGENTS: Agents = { changed: new Signal(), requestsOn: () => new Map() };

let informer: FakeInformer<Node>;
let cache: NodeCache;
let changes: number;
let deleted: string[];

beforeEach(() => {
  informer = new FakeInformer();
  cache = new NodeCache(informer.asInformer(), DEFAULT_UNITS, NO_AGENTS);
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

test('takes the requests of agents from the capacity of their node', () => {
  const pods = new FakeInformer<Pod>({
    agents: (pod) => (isAgent(pod) && podFacts.usedNode(pod) !== undefined ? [podFacts.usedNode(pod)!] : []),
  });
  const nodes = new FakeInformer<Node>();
  const units = { cpuMillis: 100, memoryMiB: 128 };
  const withAgents = new NodeCache(nodes.asInformer(), units, agentsOf(pods.asInformer(), podFacts));
  const outdated: string[] = [];
  nodes.set(node('a', '3920m'));
  withAgents.changed.subscribe((name) => outdated.push(name));
  const agent = (name: string, cpu: string, over: Partial<Pod['metadata']>): Pod => ({
    metadata: metadata(name, over),
    spec: {
      nodeName: 'a',
      containers: [{ name: 'main', resources: { requests: { cpu, memory: '64Mi' } } }],
    },
    status: { phase: 'Running' },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'd', controller: true };
  expect(withAgents.graphNodes().get('a')?.units).toEqual({ core: 39, memory: 128 });
  pods.set(agent('proxy', '15m', { ownerReferences: [owner] }));
  pods.set(agent('static', '100m', { annotations: { 'kubernetes.io/config.mirror': 'x' } }));
  pods.set(agent('other', '1', {}));
  // 3920m - 115m is rounded down once.
  expect(withAgents.graphNodes().get('a')?.units).toEqual({ core: 38, memory: 127 });
  const before = withAgents.graphNodes();
  pods.set({
    ...agent('static', '100m', { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    status: {},
  });
  expect([withAgents.graphNodes() === before, outdated]).toEqual([true, ['a', 'a']]);
  pods.delete('static');
  expect(withAgents.graphNodes().get('a')?.units.core).toBe(39);
});

test('computes the cluster facts again after a change', () => {
  const before = cache.clusterFacts();
  expect(cache.clusterFacts()).toBe(before);
  informer.set(node('a', '4', { zone: 'west' }));
  expect(cache.clusterFacts()).not.toEqual(before);
});

test('reports a ready node that comes, also one that comes again', () => {
  const turned: string[] = [];
  cache.readinessChanged.subscribe((name) => turned.push(name));
  informer.set(node('again'));
  expect(turned).toEqual(['again']);
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
