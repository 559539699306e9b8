import { ASSIGNMENT_ANNOTATION, COMPLETION_INDEX_ANNOTATION } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import { elasticPodSettings } from '../../runtime/workloads/elastic-pod';
import { rowIn } from '../queue/rows';

const CREATED = '1970-01-01T00:02:00Z';
const job = rowIn('Running', { uid: 'j', queue: 'science/fast', user: 'ada', priority: 3 });

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

const settings = (of: Pod, row = job) => elasticPodSettings(of, (uid) => (uid === row.uid ? row : undefined));

test('an elastic pod has the settings of its Job and the walltime that the Job has left', () => {
  expect(settings(pod(2))).toEqual({
    queue: 'science/fast',
    user: 'ada',
    priority: 3,
    // The Job ends at second 160 and the pod was created at second 120.
    walltimeSeconds: 40,
    hold: false,
    exclusive: false,
    after: [],
    preemptible: false,
  });
});

test('an elastic pod has a walltime of at least one second', () => {
  const allocation = { ...job.allocation!, end: 60 };
  expect(settings(pod(2), { ...job, allocation })?.walltimeSeconds).toBe(1);
});

test('every other object has no settings of a Job', () => {
  expect(settings(pod(1))).toBeUndefined();
  expect(settings(pod(2, '0/2:node-1'))).toBeUndefined();
  expect(settings(pod(2, '0/2:node-1;2/1:', 'gone'))).toBeUndefined();
  expect(
    elasticPodSettings({ metadata: { ...pod(2).metadata, annotations: {} } }, () => job),
  ).toBeUndefined();
});
