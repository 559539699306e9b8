/** FluxJobs of namespace science for the tests of commands. */
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';

type Status = NonNullable<FluxJobObject['status']>;
type Conditions = NonNullable<Status['conditions']>;

export const NOW = Date.parse('2026-11-23T12:00:00Z');

export function fluxJob(
  name: string,
  status: Partial<Status> = {},
  { queue = 'default', kind = 'Job' } = {},
): FluxJobObject {
  return {
    metadata: {
      name: `${name}-job`,
      namespace: 'science',
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '2026-11-23T11:55:00Z',
    },
    spec: { queue, workload: { apiVersion: 'batch/v1', kind, name, uid: name } },
    status: status as Status,
  };
}

export const because = (reason: string, message: string, type = 'Scheduled'): Conditions => [
  {
    type,
    status: (type === 'Scheduled' ? 'False' : 'True') as never,
    reason,
    message,
    lastTransitionTime: '',
  },
];

export const waits = (name: string, position: number, over: Partial<Status> = {}) =>
  fluxJob(name, {
    phase: 'Waiting' as never,
    position,
    conditions: because('Busy', 'needs 3 pods with 1 core each; not free now'),
    ...over,
  });
export const runs = fluxJob('runs', {
  phase: 'Running' as never,
  nodes: 'node-[1-2]',
  start: '2026-11-23T11:55:10Z',
  startTime: '2026-11-23T11:55:10Z',
  conditions: because('Allocated', 'runs'),
});
export const ended = fluxJob('ended', {
  phase: 'Finished' as never,
  nodes: 'node-1',
  result: 'Succeeded' as never,
});
