/**
 * `npm run -s bench:pods -- [--json] [--nodes 1000] [--pods-per-node 10]`: what pods outside the queue cost. CPU of the part of a
 * pass that counts what they use: for the first time, when nothing changed, and when one pod or one node in ten changed;
 * and the memory of a pod, whole and as it is kept. Run it with `--expose-gc` in NODE_OPTIONS for the memory.
 */
import { parseArgs } from 'node:util';
import { InternPool } from '../../runtime/intern';
import { ObjectCache } from '../../runtime/kubernetes/cache';
import type { Change, Informer } from '../../runtime/kubernetes/informer';
import type { KubernetesObject, Node, Pod } from '../../runtime/kubernetes/types';
import { UnmanagedPods } from '../../runtime/scheduler/unmanaged-pods';
import { agentsOf, isAgent } from '../../runtime/shared/agents';
import { NodeCache, nodeFacts } from '../../runtime/shared/node-cache';
import { projectPod } from '../../runtime/shared/pod-projection';
import type { Shared } from '../../runtime/shared/shared';
import { Signals } from '../../runtime/shared/signals';
import { Signal } from '../../runtime/signal';
import { podFacts } from '../../runtime/workloads/pod-facts';

const UNITS = { cpuMillis: 100, memoryMiB: 128 };
const REPEATS = 20;
const pool = new InternPool();

/** An informer without an apiserver, on the cache of a real one. */
class LocalInformer<T extends KubernetesObject> {
  readonly changed = new Signal<Change<T>>();
  private readonly cache: ObjectCache<T>;

  constructor(indexes: Readonly<Record<string, (object: T) => readonly string[]>> = {}) {
    this.cache = new ObjectCache(indexes);
  }

  get = (key: string) => this.cache.entry(key)?.object;
  list = () => [...this.cache.objects()];
  byIndex = (index: string, name: string) => this.cache.byIndex(index, name);

  set(object: T): void {
    const key = object.metadata.name;
    const before = this.get(key);
    this.cache.set(key, object.metadata, object);
    this.changed.emit({ key, now: object, before });
  }

  asInformer(): Informer<T> {
    return this as unknown as Informer<T>;
  }
}

const metadata = (name: string) => ({
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});

function node(name: string, cpu = '64'): Node {
  const status = { allocatable: { cpu, memory: '256Gi' }, conditions: [{ type: 'Ready', status: 'True' }] };
  return nodeFacts({ metadata: metadata(name), spec: {}, status } as Node);
}

/** As large as a usual pod of a DaemonSet. */
function daemonSetPod(name: string, nodeName: string, cpu = '50m'): Pod {
  const text = (length: number) => name.padEnd(length, '.');
  return {
    metadata: {
      ...metadata(name),
      namespace: 'kube-system',
      labels: { app: 'agent', 'controller-revision-hash': text(10) },
      annotations: { 'kubectl.kubernetes.io/default-container': 'main', config: text(600) },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'uid-agent', controller: true },
      ],
    },
    spec: {
      nodeName,
      containers: [
        {
          name: 'main',
          image: 'registry.example/agent:1.2.3',
          command: ['/agent', text(300)],
          env: Array.from({ length: 25 }, (_, i) => ({ name: `VARIABLE_${i}`, value: text(60) })),
          resources: { requests: { cpu, memory: '64Mi' } },
          volumeMounts: Array.from({ length: 8 }, (_, i) => ({ name: `v${i}`, mountPath: text(40) })),
        },
      ],
      volumes: Array.from({ length: 8 }, (_, i) => ({ name: `v${i}`, hostPath: { path: text(40) } })),
      tolerations: Array.from({ length: 6 }, (_, i) => ({
        key: `node.kubernetes.io/taint-${i}`,
        operator: 'Exists',
      })),
    },
    status: {
      phase: 'Running',
      conditions: ['Initialized', 'Ready', 'PodScheduled'].map((type) => ({ type, status: 'True' })),
      containerStatuses: [
        { name: 'main', imageID: text(100), state: { running: { startedAt: '2026-01-01T00:00:00Z' } } },
      ],
    },
  } as unknown as Pod;
}

/** @param isAgents whether the pods belong to a DaemonSet; else they are other pods outside the queue */
function cluster(nodeCount: number, podsPerNode: number, isAgents: boolean) {
  const usedNode = (pod: Pod) => [podFacts.usedNode(pod)].filter((name) => name !== undefined);
  const pods = new LocalInformer<Pod>({
    node: usedNode,
    agents: (pod) => (isAgent(pod) ? usedNode(pod) : []),
    workload: (pod) => podFacts.workloadUids(pod),
  });
  const nodes = new LocalInformer<Node>();
  const nodeCache = new NodeCache(nodes.asInformer(), UNITS, agentsOf(pods.asInformer(), podFacts));
  const unmanaged = new UnmanagedPods({
    config: { units: UNITS },
    informers: { nodes: nodes.asInformer(), pods: pods.asInformer() },
    nodes: nodeCache,
    podFacts,
    signals: new Signals(),
    workloadCache: { byUid: () => undefined, onChange: () => undefined },
    now: () => 0,
  } as unknown as Shared);
  const setPod = (i: number, cpu?: string) => {
    const pod = daemonSetPod(`pod-${i}`, `node-${i % nodeCount}`, cpu);
    const { ownerReferences: _, ...others } = pod.metadata;
    pods.set(projectPod(isAgents ? pod : { ...pod, metadata: others }, pool));
  };
  for (let i = 0; i < nodeCount; i++) nodes.set(node(`node-${i}`));
  for (let i = 0; i < nodeCount * podsPerNode; i++) setPod(i);
  return { setPod, read: () => [nodeCache.graphNodes().size, unmanaged.usage().size] };
}

/** Milliseconds of CPU of one call, after a change that does not count. */
function cpuOf(
  read: () => unknown,
  change: (round: number) => void = () => undefined,
  rounds = REPEATS,
): number {
  let spent = 0;
  for (let round = 0; round < rounds; round++) {
    change(round);
    const from = process.cpuUsage();
    read();
    const { user, system } = process.cpuUsage(from);
    spent += (user + system) / 1000;
  }
  return spent / rounds;
}

function figuresOf(nodeCount: number, podsPerNode: number, isAgents: boolean) {
  const { setPod, read } = cluster(nodeCount, podsPerNode, isAgents);
  const firstMs = cpuOf(read, undefined, 1);
  const unchangedMs = cpuOf(read);
  const onePodMs = cpuOf(read, (round) => setPod(round, `${51 + round}m`));
  const tenthMs = cpuOf(read, (round) => {
    for (let i = 0; i < nodeCount / 10; i++) setPod(i, `${151 + round}m`);
  });
  return { firstMs, unchangedMs, onePodMs, tenthMs };
}

/** Kilobytes of heap of one of these objects. */
function kilobytesOf(make: (i: number) => unknown, count = 5_000): number {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  // As from the apiserver: parsed JSON shares no text.
  const kept = Array.from({ length: count }, (_, i) => make(i));
  globalThis.gc?.();
  const used = process.memoryUsage().heapUsed - before;
  return kept.length === 0 ? 0 : used / count / 1024;
}

function main(): void {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      nodes: { type: 'string', default: '1000' },
      'pods-per-node': { type: 'string', default: '10' },
    },
  });
  const [nodes, podsPerNode] = [Number(values.nodes), Number(values['pods-per-node'])];
  const parsed = (i: number) => JSON.parse(JSON.stringify(daemonSetPod(`pod-${i}`, `node-${i}`))) as Pod;
  const figures = {
    nodes,
    pods: nodes * podsPerNode,
    agents: figuresOf(nodes, podsPerNode, true),
    others: figuresOf(nodes, podsPerNode, false),
    wholePodKiB: kilobytesOf(parsed),
    keptPodKiB: kilobytesOf((i) => projectPod(parsed(i), pool)),
  };
  process.stdout.write(`${values.json ? JSON.stringify(figures) : JSON.stringify(figures, undefined, 2)}\n`);
}

main();
