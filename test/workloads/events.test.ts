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
  message: 'asks for 5 nodes with 8 gpus, the cluster has 3',
});

let told: [ObjectReference, EventNote][];
let seen: KubernetesObject | undefined;
let news: WorkloadEvents;

beforeEach(() => {
  told = [];
  seen = {
    metadata: {
      name: 'wide',
      namespace: 'science',
      uid: 'u1',
      resourceVersion: '1',
      creationTimestamp: '1970-01-01T00:00:00Z',
    },
  };
  news = new WorkloadEvents({
    events: { record: (about, what) => told.push([about, what]) },
    objectOf: () => seen,
  });
});

test('that a workload can never start is told of the object as its user made it', () => {
  news.rowChanged(UNSATISFIABLE);
  expect(told).toEqual([
    [
      { apiVersion: 'batch/v1', kind: 'Job', namespace: 'science', name: 'wide', uid: 'u1' },
      { type: 'Warning', reason: 'Unsatisfiable', message: UNSATISFIABLE.message },
    ],
  ]);
});

test('not what passes by itself, nor of an object that came after it or is gone', () => {
  news.rowChanged({ ...UNSATISFIABLE, reason: 'Busy' });
  news.rowChanged(rowIn('Finished', { ...UNSATISFIABLE, phase: 'Finished' }));
  news.rowChanged({ ...UNSATISFIABLE, uid: 'u0' });
  seen = undefined;
  news.rowChanged(UNSATISFIABLE);
  expect(told).toEqual([]);
});
