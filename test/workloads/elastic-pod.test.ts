import { ASSIGNMENT_ANNOTATION, COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import { joiningSettings } from '../../runtime/workloads/elastic-pod';
import { rowIn } from '../queue/rows';

const CREATED = '1970-01-01T00:02:00Z';
const job = rowIn('Running', { uid: 'j', queue: 'fast', priority: 3 });

function pod(index: number, assignment = '0/2:node-1;2/1:', owner = 'j'): Pod {
  return {
    metadata: {
      name: 'p',
      uid: 'p',
      resourceVersion: '1',
      creationTimestamp: CREATED,
      annotations: { [ASSIGNMENT_ANNOTATION]: assignment, [COMPLETION_INDEX_ANNOTATION]: String(index) },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: owner, controller: true }],
    },
    spec: { containers: [] },
  };
}

const settings = (of: Pod, row = job) => joiningSettings(of, (uid) => (uid === row.uid ? row : undefined));

test('a pod beyond the gang asks as its Job did, for the time that is left', () => {
  expect(settings(pod(2))).toEqual({
    queue: 'fast',
    priority: 3,
    // The Job may run until second 160, the pod is of second 120.
    walltimeSeconds: 40,
    hold: false,
    exclusive: false,
    after: [],
    preemptible: false,
  });
});

test('past the time of its Job it still asks for some', () => {
  const allocation = { ...job.allocation!, end: 60 };
  expect(settings(pod(2), { ...job, allocation })?.walltimeSeconds).toBe(1);
});

test('everything else stands for itself', () => {
  expect(settings(pod(1))).toBeUndefined();
  expect(settings(pod(2, '0/2:node-1'))).toBeUndefined();
  expect(settings(pod(2, '0/2:node-1;2/1:', 'gone'))).toBeUndefined();
  expect(joiningSettings({ metadata: { ...pod(2).metadata, annotations: {} } }, () => job)).toBeUndefined();
});
