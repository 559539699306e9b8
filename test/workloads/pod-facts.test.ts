import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  COMPLETION_INDEX_ANNOTATION,
} from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import { podFacts } from '../../runtime/workloads/pod-facts';
import { metadata } from '../shared/fake-informer';

const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'uid-train', controller: true };
const pod = (over: Partial<Pod['metadata']> = {}, status: Pod['status'] = { phase: 'Running' }): Pod => ({
  metadata: metadata('pod', { namespace: 'science', ...over }),
  spec: { containers: [], nodeName: 'node-1' },
  status,
});
const admitted = (index: string) => ({
  labels: { [ADMITTED_LABEL]: 'true' },
  annotations: { [ASSIGNMENT_ANNOTATION]: '0/4:n1;4/1:', [COMPLETION_INDEX_ANNOTATION]: index },
  ownerReferences: [owner],
});
const JOB = { kind: 'Job', namespace: 'science', name: 'train' };
const POD = { kind: 'Pod', namespace: 'science', name: 'pod' };

test.each<[string, Partial<Pod['metadata']>, string, typeof JOB | undefined]>([
  ['a pod of a Job belongs to the Job', { ownerReferences: [owner] }, 'uid-train', JOB],
  ['a pod within the gang of a released Job belongs to the Job', admitted('3'), 'uid-train', JOB],
  ['a pod beyond the gang of a released Job is a workload itself', admitted('4'), 'uid-pod', POD],
  ['a queued pod is a workload', { labels: { [ADMITTED_LABEL]: 'true' } }, 'uid-pod', POD],
  [
    'a queued pod with an empty assignment is a workload',
    { labels: { [ADMITTED_LABEL]: 'true' }, annotations: { [ASSIGNMENT_ANNOTATION]: '' } },
    'uid-pod',
    POD,
  ],
  ['a pod outside the queue concerns no workload', {}, 'uid-pod', undefined],
])('%s', (_, over, uid, key) => {
  expect(podFacts.workloadUids(pod(over))).toEqual([uid]);
  expect(podFacts.workloadKey(pod(over))).toEqual(key);
});

test('a pod uses its node until it has finished', () => {
  expect(podFacts.usedNode(pod())).toBe('node-1');
  for (const phase of ['Succeeded', 'Failed'] as const)
    expect(podFacts.usedNode(pod({}, { phase }))).toBeUndefined();
});
