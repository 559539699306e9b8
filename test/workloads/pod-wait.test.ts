/** What a pod waits for: one row per cause, in the words of the component that said so. */
import { GATE } from '../../constructs/api/labels';
import type { Pod, PodSpec } from '../../runtime/kubernetes/types';
import { isLive } from '../../runtime/workloads/live-pods';
import { podWait } from '../../runtime/workloads/pod-wait';

const NODES = { exists: (name: string) => name !== 'gone', isReady: (name: string) => name === 'n1' };
const CONTEXT = { ...NODES, schedulerRuns: (name: string) => name === 'default-scheduler' };
const SENTENCE = '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.';

interface Given {
  readonly spec?: Partial<PodSpec>;
  readonly status?: Pod['status'];
  readonly deleted?: boolean;
}

function pod({ spec, status, deleted = false }: Given): Pod {
  return {
    metadata: {
      name: 'p',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(deleted && { deletionTimestamp: '2026-01-01T00:01:00Z' }),
    },
    spec: { containers: [{ name: 'main', image: 'registry.example/a:1' }], ...spec },
    status: { phase: 'Pending', ...status },
  };
}

const refused = (reason: string, message: string): Pod['status'] => ({
  conditions: [{ type: 'PodScheduled', status: 'False', reason, message }],
});
const waiting = (reason: string, message?: string): Pod['status'] => ({
  containerStatuses: [{ name: 'main', state: { waiting: { reason, ...(message && { message }) } } }],
});
const claim = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };
const bound = { nodeName: 'n1' };

const WAITS: readonly [string, Given, string, string, string][] = [
  ['is refused', { status: refused('Unschedulable', SENTENCE) }, 'unschedulable', 'Unschedulable', SENTENCE],
  [
    'could not be bound',
    { status: refused('SchedulerError', 'binding volumes: timed out') },
    'unschedulable',
    'SchedulerError',
    'binding volumes: timed out',
  ],
  [
    'has a gate of another controller',
    { spec: { schedulingGates: [{ name: 'example.com/data' }] } },
    'gated',
    'SchedulingGated',
    'waiting for scheduling gate example.com/data',
  ],
  [
    'names a scheduler that does not run',
    { spec: { schedulerName: 'nobody' } },
    'unschedulable',
    'SchedulerMissing',
    'scheduler nobody does not answer, and has never scheduled a pod',
  ],
  [
    'waits for volumes that are bound with it',
    { spec: { volumes: [claim] } },
    'volumes',
    'VolumesUnbound',
    'waiting for its volumes to be bound',
  ],
  ['has no verdict yet', {}, 'pending', 'Pending', 'waiting for default-scheduler'],
  [
    'was gated when it was created',
    { status: refused('SchedulingGated', 'Scheduling is blocked due to non-empty scheduling gates') },
    'pending',
    'Pending',
    'waiting for default-scheduler',
  ],
  [
    'has just been bound',
    { spec: bound },
    'starting',
    'ContainerCreating',
    'its containers are being created',
  ],
  [
    'waits for its image',
    { spec: bound, status: waiting('ImagePullBackOff', 'Back-off pulling image') },
    'starting',
    'ImagePullBackOff',
    'ImagePullBackOff: registry.example/a:1',
  ],
  [
    'waits for a Secret',
    { spec: bound, status: waiting('CreateContainerConfigError', 'secret "key" not found') },
    'starting',
    'CreateContainerConfigError',
    'CreateContainerConfigError: secret "key" not found',
  ],
  [
    'has an init container that runs',
    {
      spec: bound,
      status: {
        initContainerStatuses: [{ name: 'copy', state: { running: {} } }],
        ...waiting('PodInitializing'),
      },
    },
    'pending',
    'PodInitializing',
    'init container copy is running',
  ],
  [
    'has an init container that waits for its image',
    {
      spec: { ...bound, initContainers: [{ name: 'copy', image: 'registry.example/b:2' }] },
      status: {
        initContainerStatuses: [{ name: 'copy', state: { waiting: { reason: 'ErrImagePull' } } }],
        ...waiting('PodInitializing'),
      },
    },
    'starting',
    'ErrImagePull',
    'ErrImagePull: registry.example/b:2',
  ],
  [
    'is deleted on a node that is not ready',
    { spec: { nodeName: 'n2' }, status: { phase: 'Running' }, deleted: true },
    'unschedulable',
    'NodeNotReady',
    'node n2 is not ready',
  ],
  [
    'is on a node that does not exist',
    { spec: { nodeName: 'gone' }, status: { phase: 'Running' } },
    'unschedulable',
    'NodeLost',
    'node gone was lost',
  ],
];

test.each(WAITS)(
  'a pod that %s waits with the reason and the sentence',
  (_, given, cause, reason, message) => {
    expect(podWait(pod(given), CONTEXT)).toMatchObject({ cause, reason, message, pod: 'p', uid: 'u' });
  },
);

test.each<[string, Given]>([
  ['runs', { spec: bound, status: { phase: 'Running' } }],
  [
    'runs on a node that is not ready, and is not deleted',
    { spec: { nodeName: 'n2' }, status: { phase: 'Running' } },
  ],
  ['has ended', { spec: bound, status: { phase: 'Failed' } }],
  ['is being deleted', { spec: bound, deleted: true }],
  ['is deleted before it was bound', { deleted: true }],
  ['waits for the queue', { spec: { schedulingGates: [{ name: GATE }] } }],
])('a pod that %s waits for nothing', (_, given) => {
  expect(podWait(pod(given), CONTEXT)).toBeUndefined();
});

test.each<[string, Given, boolean]>([
  ['runs', { spec: bound, status: { phase: 'Running' } }, true],
  ['is not bound yet', {}, true],
  ['is terminating on a live node', { spec: bound, status: { phase: 'Running' }, deleted: true }, true],
  ['runs on a node that is not ready', { spec: { nodeName: 'n2' }, status: { phase: 'Running' } }, true],
  ['is terminating on a node that is not ready', { spec: { nodeName: 'n2' }, deleted: true }, false],
  ['is on a deleted node', { spec: { nodeName: 'gone' } }, false],
  ['was deleted before it was bound', { deleted: true }, false],
  ['is gated', { spec: { schedulingGates: [{ name: GATE }] } }, false],
  ['has ended', { spec: bound, status: { phase: 'Succeeded' } }, false],
])('a pod that %s: it can still run is %#', (_, given, live) => {
  expect(isLive(pod(given), NODES)).toBe(live);
});
