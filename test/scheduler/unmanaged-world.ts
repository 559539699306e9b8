/** Pods on two nodes, some of which workloads were granted. */
import { jobspecOf } from '../../runtime/jobspec/jobspec';
import type { Node, Pod } from '../../runtime/kubernetes/types';
import { UnmanagedPods } from '../../runtime/scheduler/unmanaged-pods';
import { agentsOf, isAgent } from '../../runtime/shared/agents';
import { NodeCache, nodeFacts } from '../../runtime/shared/node-cache';
import type { Shared } from '../../runtime/shared/shared';
import { Signals } from '../../runtime/shared/signals';
import { Signal } from '../../runtime/signal';
import { podFacts } from '../../runtime/workloads/pod-facts';
import { FakeInformer, metadata } from '../shared/fake-informer';

export const pod = (name: string, cpu: string, over: Partial<Pod> = {}): Pod => ({
  metadata: metadata(name, { namespace: 'elsewhere' }),
  spec: {
    nodeName: 'node-1',
    containers: [{ name: 'main', resources: { requests: { cpu, memory: '1Gi' } } }],
  },
  status: { phase: 'Running' },
  ...over,
});

const NOW = 1_767_225_600;
const GRANT = { nodes: [{ name: 'node-1', units: { core: '0', memory: '0' } }] };
/** Of a pod with one core and 1 GiB. */
const JOBSPEC = jobspecOf({
  pod: { containers: [{ resources: { requests: { cpu: 1, memory: '1Gi' } } }] },
  pods: 1,
  walltime: 60,
});
export const AGENT: Partial<Pod> = {
  metadata: metadata('agent', {
    namespace: 'elsewhere',
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'a', uid: 'd', controller: true }],
  }),
};

/** @param granted uids of workloads with node-1 */
export function setUp(
  granted: string[] = [],
  units = { cpuMillis: 1000, memoryMiB: 1024 },
  grant: object = GRANT,
) {
  let now = NOW;
  const nodes = new FakeInformer<Node>();
  const usedNode = (each: Pod) => [podFacts.usedNode(each)].filter((name) => name !== undefined);
  const pods = new FakeInformer<Pod>({
    node: usedNode,
    agents: (each) => (isAgent(each) ? usedNode(each) : []),
    workload: (each) => podFacts.workloadUids(each),
  });
  const rowChanged = new Signal<{ uid: string }>();
  const signals = new Signals();
  const unmanaged = new UnmanagedPods({
    config: { units },
    informers: { nodes: nodes.asInformer(), pods: pods.asInformer() },
    nodes: new NodeCache(nodes.asInformer(), units, agentsOf(pods.asInformer(), podFacts)),
    podFacts,
    signals,
    now: () => now,
    workloadCache: {
      byUid: (uid: string) => ({
        uid,
        namespace: 'science',
        jobspec: JOBSPEC,
        allocation: granted.includes(uid) ? grant : null,
      }),
      onChange: (listener: (row: { uid: string }) => void) => rowChanged.subscribe(listener),
    },
  } as unknown as Shared);
  const setNode = (name: string, cpu = '4', ready: 'True' | 'Unknown' = 'True') =>
    nodes.set(
      nodeFacts({
        metadata: metadata(name),
        spec: {},
        status: { allocatable: { cpu, memory: '16Gi' }, conditions: [{ type: 'Ready', status: ready }] },
      }),
    );
  for (const name of ['node-1', 'node-2']) setNode(name);
  let changes = 0;
  unmanaged.changed.subscribe(() => {
    changes += 1;
  });
  const pass = (seconds: number) => {
    now += seconds;
  };
  return { pods, unmanaged, changes: () => changes, rowChanged, signals, setNode, pass };
}

/** A pod of the Job with the uid. */
export const podOf = (uid: string, name: string, cpu: string, over: Partial<Pod> = {}): Pod => ({
  ...pod(name, cpu),
  metadata: metadata(name, {
    namespace: 'science',
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid, controller: true }],
  }),
  ...over,
});
