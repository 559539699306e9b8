import type { EventNote } from '../../runtime/kubernetes/events';
import type { KubernetesObject, ObjectReference } from '../../runtime/kubernetes/types';
import { WorkloadEvents } from '../../runtime/workloads/events';
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
