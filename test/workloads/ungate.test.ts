import { jobspecOf } from '../../runtime/jobspec/jobspec';
import { gangOf, type SetJobspec } from '../../runtime/jobspec/pod-sets';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Pod, PodSpec } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import type { DecisionLogger } from '../../runtime/shared/decision-log';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { placementOf } from '../../runtime/workloads/assignment';
import { jobAdapter } from '../../runtime/workloads/job';
import { assignedNode } from '../../runtime/workloads/pod';
import { nodesForGatedPods, Ungating } from '../../runtime/workloads/ungate';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

/** Four pods: two on each node. */
const row = rowIn('Running', {
  ...submission('a', { pods: 4 }),
  allocation: {
    jobid: 7,
    start: 0,
    end: 60,
    nodes: ['node-1', 'node-2'].map((name) => ({ name, units: { core: '0-1', memory: '0-1' } })),
  },
});

/** Of a gang of several pod sets, the name of a pod begins with that of its pod set. */
function workloadOf(of: WorkloadRow, awaited: ReadonlyMap<string, number> = new Map()) {
  const adapter = {
    ...jobAdapter,
    podSetOf: (_: object, { metadata }: Pod) => metadata.name.split('-')[0]!,
    awaitedPods: () => awaited,
  };
  return { object: pod('job'), adapter: adapter as unknown as WorkloadAdapter, row: of };
}

function pod(
  name: string,
  spec: Partial<PodSpec> = {},
  phase: 'Running' | 'Succeeded' | 'Failed' = 'Running',
): Pod {
  const metadata = { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  return { metadata, spec: { containers: [], ...spec }, status: { phase } };
}

const pinned = (node: string): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
      },
    },
  },
});

const given = (pods: readonly Pod[], gated: readonly Pod[], exists = (_: string) => true) =>
  nodesForGatedPods(workloadOf(row), [...pods, ...gated], gated, { exists }).map(
    ({ pod: { metadata }, node }) => `${metadata.name} ${node}`,
  );

describe('gated pods', () => {
  const gated = ['a', 'b', 'c', 'd', 'e'].map((name) => pod(name));

  test('leave the slots of pods to come that are pinned', () => {
    const workload = workloadOf(row, new Map([['node-1', 2]]));
    const placed = nodesForGatedPods(workload, gated, gated, { exists: () => true });
    expect(placed.map(({ node }) => node)).toEqual(['node-2', 'node-2']);
  });

  test('fill the whole allocation and nothing more', () => {
    expect(given([], gated)).toEqual(['a node-1', 'b node-1', 'c node-2', 'd node-2']);
  });

  test('get no slot on a node that is gone', () => {
    expect(given([], gated, (name) => name !== 'node-1')).toEqual(['a node-2', 'b node-2']);
  });

  test('leave out the slots of pods that run on a node or are pinned to it', () => {
    const others = [pod('x', { nodeName: 'node-1' }), pod('y', pinned('node-2'))];
    expect(given(others, gated)).toEqual(['a node-1', 'b node-2']);
  });

  test('reuse the slot of a pod that has ended', () => {
    const others = [pod('x', { nodeName: 'node-1' }, 'Succeeded'), pod('y', { nodeName: 'node-1' })];
    expect(given(others, gated)).toEqual(['a node-2', 'b node-2', 'c node-1']);
  });

  // Regression: after a crash the next term put pod a on a node whose pods had succeeded, and then freed that node.
  test('avoid a node whose pods have succeeded while other slots are free, because that node is freed', () => {
    const over = ['x', 'y'].map((name) => pod(name, { nodeName: 'node-1' }, 'Succeeded'));
    expect(given(over, gated.slice(0, 2))).toEqual(['a node-2', 'b node-2']);
  });

  test('reuse the slot of a failed pod like any other free slot', () => {
    const others = [pod('x', { nodeName: 'node-1' }, 'Failed'), pod('y', { nodeName: 'node-1' })];
    expect(given(others, gated)).toEqual(['a node-1', 'b node-2', 'c node-2']);
  });

  test('ignore pods on nodes outside the allocation', () => {
    expect(given([pod('x', { nodeName: 'node-9' })], gated)).toHaveLength(4);
  });
});

describe('gated pods of a gang of several pod sets', () => {
  const set = (name: string, count: number, cpu: number): SetJobspec => {
    const podSpec = { containers: [{ resources: { requests: { cpu } } }] };
    const jobspec = jobspecOf({ pod: podSpec, pods: count, walltime: 60 });
    return { name, traits: { namespace: 'science', labels: {} }, jobspec };
  };
  const gang = rowIn('Running', {
    ...submission('a', { pods: 4, jobspec: gangOf([set('driver', 1, 1), set('worker', 3, 2)]) }),
    allocation: {
      jobid: 7,
      start: 0,
      end: 60,
      nodes: [
        { name: 'node-1', units: { core: '0-4' }, podSets: { driver: 1, worker: 2 } },
        { name: 'node-2', units: { core: '0-1' }, podSets: { worker: 1 } },
      ],
    },
  });
  const placed = (pods: readonly Pod[], gated: readonly string[]) => {
    const waiting = gated.map((name) => pod(name));
    const all = [...pods, ...waiting];
    return nodesForGatedPods(workloadOf(gang), all, waiting, { exists: () => true }).map(
      ({ pod: { metadata }, node }) => `${metadata.name} ${node}`,
    );
  };

  test('get the nodes of their own pod set, in whatever order they come', () => {
    expect(placed([], ['worker-0', 'worker-1', 'worker-2', 'driver-0'])).toEqual([
      'driver-0 node-1',
      'worker-0 node-1',
      'worker-1 node-1',
      'worker-2 node-2',
    ]);
  });

  test('take the place of the pod of their pod set that has ended, and no other one', () => {
    const driver = pod('driver-0', { nodeName: 'node-1' }, 'Failed');
    const workers = [
      pod('worker-0', { nodeName: 'node-1' }),
      pod('worker-1', { nodeName: 'node-1' }),
      pod('worker-2', { nodeName: 'node-2' }, 'Failed'),
    ];
    expect(placed([driver, ...workers], ['worker-3', 'worker-4', 'driver-1'])).toEqual([
      'driver-1 node-1',
      'worker-3 node-2',
    ]);
  });

  test('fill what the assignment shows for the whole gang', () => {
    expect(placementOf(gang)).toEqual([
      { node: 'node-1', pods: 3 },
      { node: 'node-2', pods: 1 },
    ]);
  });
});

test('the assigned node of a pod is the node that it runs on, else the node that it is pinned to', () => {
  expect(assignedNode(pod('x', { ...pinned('node-2'), nodeName: 'node-1' }))).toBe('node-1');
  expect(assignedNode(pod('x', pinned('node-2')))).toBe('node-2');
  expect(assignedNode(pod('x'))).toBeUndefined();
});

test('gives no slot twice while the watch does not show a pin', async () => {
  const placed: string[] = [];
  const client = {
    patch: async (path: string, body: readonly { path: string; value?: unknown }[]) => {
      placed.push(`${path.split('/').at(-1)} ${/node-\d/.exec(JSON.stringify(body))?.[0]}`);
      return { metadata: { name: 'any' } };
    },
  } as unknown as KubernetesClient;
  const logger = { debug: () => undefined } as unknown as DecisionLogger;
  const nodes = { exists: () => true, isReady: () => true };
  const ungating = new Ungating({ client, logger, nodes, now: () => 0 });
  const old = (name: string, node: string, phase: 'Running' | 'Failed') => pod(name, pinned(node), phase);
  const gated = (name: string) => pod(name, { schedulingGates: [{ name: 'fluxqueue' }] });
  const running = [
    old('a', 'node-1', 'Running'),
    old('b', 'node-1', 'Running'),
    old('c', 'node-2', 'Running'),
  ];
  await ungating.ungate({ ...workloadOf(row), pods: [...running, gated('first')] });
  // A pod of the other node ends, and its successor comes before the watch shows the pin of the first.
  const later = [old('a', 'node-1', 'Failed'), ...running.slice(1), gated('first'), gated('second')];
  await ungating.ungate({ ...workloadOf(row), pods: later });
  expect(placed).toEqual(['first node-2', 'second node-1']);
  ungating.forget(row);
  await ungating.ungate({ ...workloadOf(row), pods: later });
  expect(placed).toHaveLength(4);
});
