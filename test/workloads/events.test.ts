import type { EventNote, ObjectReference } from '../../runtime/kubernetes/events';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { scheduledNote, WorkloadEvents } from '../../runtime/workloads/events';
import { rowIn } from '../queue/rows';

const UNSATISFIABLE = rowIn('Waiting', {
  kind: 'Job',
  namespace: 'science',
  name: 'wide',
  uid: 'u1',
  reason: 'Unsatisfiable',
  message: 'asks for 5 nodes with 8 nvidia.com/gpu, the cluster has 3',
});

let recorded: [ObjectReference, EventNote][];
let seen: KubernetesObject | undefined;
let events: WorkloadEvents;

beforeEach(() => {
  recorded = [];
  seen = {
    metadata: {
      name: 'wide',
      namespace: 'science',
      uid: 'u1',
      resourceVersion: '1',
      creationTimestamp: '1970-01-01T00:00:00Z',
    },
  };
  events = new WorkloadEvents({
    events: { record: (about, event) => recorded.push([about, event]) },
    objectOf: () => seen,
  });
});

test('records that a workload is unsatisfiable on the object that its user created', () => {
  events.rowChanged(UNSATISFIABLE);
  expect(recorded).toEqual([
    [
      { apiVersion: 'batch/v1', kind: 'Job', namespace: 'science', name: 'wide', uid: 'u1' },
      { type: 'Warning', reason: 'Unsatisfiable', message: UNSATISFIABLE.message },
    ],
  ]);
});

test('records no Event for other reasons, for a replaced object, or for a deleted one', () => {
  events.rowChanged({ ...UNSATISFIABLE, reason: 'Busy' });
  events.rowChanged(rowIn('Finished', { ...UNSATISFIABLE, phase: 'Finished' }));
  events.rowChanged({ ...UNSATISFIABLE, uid: 'u0' });
  seen = undefined;
  events.rowChanged(UNSATISFIABLE);
  expect(recorded).toEqual([]);
});

describe('what is recorded when the first pods run', () => {
  const nodesNamed = (...names: string[]) => names.map((name) => ({ name, units: { core: '0' } }));
  const running = (waited: number, ...names: string[]) =>
    rowIn('Running', {
      queue: 'default',
      pods: names.length,
      submittedAt: 1_000,
      allocatedAt: 1_000 + waited,
      allocation: { jobid: 1, start: 1_000, end: 2_000, nodes: nodesNamed(...names) },
    });
  const quiet = { now: 2_000, isBusy: false };
  const busy = { now: 2_000, isBusy: true };

  test.each([
    ['a short wait for one node', running(4, 'n1'), quiet, undefined],
    ['a longer wait for one node', running(5, 'n1'), quiet, '1 pod on n1 after 5s in queue default'],
    ['a longer wait in a busy queue', running(60, 'n1'), busy, undefined],
    ['several nodes', running(0, 'n1', 'n2'), quiet, '2 pods on n1, n2 after 0s in queue default'],
    [
      'several nodes in a busy queue',
      running(0, 'n1', 'n2'),
      busy,
      '2 pods on n1, n2 after 0s in queue default',
    ],
  ])('%s', (_, row, state, message) => {
    expect(scheduledNote(row, state)?.message).toBe(message);
  });
});
