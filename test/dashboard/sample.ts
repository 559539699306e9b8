/** FluxJobs and nodes for the tests of the dashboard. */
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import type { Node } from '../../runtime/kubernetes/types';
import { at, type FluxJobStatus, fluxJobObject, NOW } from '../fluxjobs/fluxjob-object';

export { at, NOW };

/** Units of half a core. */
const JOBSPEC = JSON.stringify({
  attributes: { system: { duration: 1 }, user: { units: { cpuMillis: 500, memoryMiB: 128 }, requests: {} } },
});

export function fluxJob(
  name: string,
  status: FluxJobStatus,
  spec: Partial<FluxJobObject['spec']> = {},
): FluxJobObject {
  return fluxJobObject(name, status, { jobspec: JOBSPEC, ...spec }, at(-30));
}

export const condition = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: at(-1),
});

export const RUNNING = fluxJob(
  'train',
  {
    phase: 'Running',
    startTime: at(-10),
    nodes: 'node[0-1]',
    nodeCount: 2,
    allocation: [
      { node: 'node0', units: { core: '0-7' } },
      { node: 'node1', units: { core: '0-1,7-9', gpu: '0' }, exclusive: true },
    ],
    conditions: [condition('Scheduled', 'True', 'Granted', 'runs on node[0-1]')],
  },
  { walltimeSeconds: 3600, pods: 2, priority: 5 },
);
export const RESERVED = fluxJob(
  'wide',
  {
    phase: 'Waiting',
    position: 1,
    estimatedStart: at(50),
    likelyStart: at(20),
    conditions: [condition('Scheduled', 'False', 'Reserved', 'starts when job/train ends')],
  },
  { walltimeSeconds: 600 },
);
export const PLANNED = fluxJob('next', {
  phase: 'Waiting',
  position: 2,
  plannedStart: at(60),
  conditions: [
    condition('Scheduled', 'False', 'Busy', 'needs 1 pod with 3 cores; not free now'),
    condition('SettingsReduced', 'True', 'Walltime', 'its walltime is cut to 1h'),
  ],
});
export const ENDED = fluxJob('old', {
  phase: 'Finished',
  result: 'Succeeded',
  nodes: 'node0',
  startTime: at(-25),
  finishTime: at(-20),
  allocation: [{ node: 'node0', units: { core: '0' } }],
});

export function node(name: string, state: { ready?: boolean; unschedulable?: boolean } = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: at(-60) },
    spec: { unschedulable: state.unschedulable ?? false },
    status: {
      allocatable: { cpu: '7800m', memory: '64Gi', 'nvidia.com/gpu': '2' },
      conditions: [{ type: 'Ready', status: state.ready === false ? 'Unknown' : 'True' }],
    },
  };
}
