/** FluxJobs of namespace science for the tests of commands. */
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { at, type FluxJobStatus, fluxJobObject, NOW } from '../fluxjobs/fluxjob-object';

export { NOW };

type Conditions = NonNullable<FluxJobStatus['conditions']>;

export function fluxJob(
  name: string,
  status: Partial<FluxJobStatus> = {},
  { queue = 'default', kind = 'Job', walltimeSeconds = 3600 } = {},
): FluxJobObject {
  const workload = { apiVersion: 'batch/v1', kind, name, uid: name };
  return fluxJobObject(name, status as FluxJobStatus, { queue, walltimeSeconds, workload }, at(-5));
}

const because = (reason: string, message: string, type = 'Scheduled'): Conditions => [
  {
    type,
    status: (type === 'Scheduled' ? 'False' : 'True') as never,
    reason,
    message,
    lastTransitionTime: '',
  },
];

export const waits = (name: string, position: number, over: Partial<FluxJobStatus> = {}) =>
  fluxJob(name, {
    phase: 'Waiting' as never,
    position,
    conditions: because('Busy', 'needs 3 pods with 1 core each; not free now for its walltime'),
    ...over,
  });
export const runs = fluxJob('runs', {
  phase: 'Running' as never,
  nodes: 'node-[1-2]',
  start: '2026-11-23T11:55:10Z',
  startTime: '2026-11-23T11:55:10Z',
  conditions: because('Running', 'running on node-[1-2]'),
});
export const ended = fluxJob('ended', {
  phase: 'Finished' as never,
  nodes: 'node-1',
  result: 'Succeeded' as never,
});
