/** The patches by which a workload of a namespace that left the queue becomes one of plain Kubernetes. */
import {
  ADMITTED_LABEL,
  ASSIGNMENT_ANNOTATION,
  DEADLINE_ANNOTATION,
  GATE,
  HOLD,
  JOBID_ANNOTATION,
} from '../../constructs/api/labels';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { isHeldByUser, jobHandOver } from '../../runtime/workloads/hand-over';
import { podHandOver } from '../../runtime/workloads/pod';
import { applyJsonPatch } from '../fuzz/json-patch';

const job: Job = {
  metadata: {
    name: 'train',
    uid: 'uid',
    namespace: 'science',
    resourceVersion: '1',
    generation: 4,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'train', [ADMITTED_LABEL]: 'true' },
    annotations: { [DEADLINE_ANNOTATION]: '3600/7200', note: 'mine' },
  },
  spec: {
    suspend: true,
    activeDeadlineSeconds: 3600,
    template: {
      metadata: { annotations: { [ASSIGNMENT_ANNOTATION]: '0/1:node-1', [JOBID_ANNOTATION]: '7', own: 'a' } },
      spec: { containers: [] },
    },
  },
};

test('a Job that was requeued loses all that the queue wrote, and starts with the deadline of its user', () => {
  const left = applyJsonPatch(job, jobHandOver(job, true)) as Job;
  expect(left.metadata.labels).toEqual({ app: 'train' });
  expect(left.metadata.annotations).toEqual({ note: 'mine' });
  expect(left.spec).toMatchObject({ suspend: false, activeDeadlineSeconds: 7200 });
  expect(left.spec.template.metadata?.annotations).toEqual({ own: 'a' });
});

test('a deadline that only the queue set goes', () => {
  const metadata = { ...job.metadata, annotations: { [DEADLINE_ANNOTATION]: '3600/none' } };
  const left = applyJsonPatch({ ...job, metadata }, jobHandOver({ ...job, metadata }, true)) as Job;
  expect(left.spec.activeDeadlineSeconds).toBeUndefined();
});

test.each([
  ['0/1:node-1;replaces-deleted', 'TerminatingOrFailed'],
  ['0/1:node-1', 'Failed'],
])('a Job with the assignment %s replaces pods as its user had it: %s', (assignment, policy) => {
  const metadata = { annotations: { [ASSIGNMENT_ANNOTATION]: assignment } };
  const template = { ...job.spec.template, metadata };
  const released: Job = { ...job, spec: { ...job.spec, podReplacementPolicy: 'Failed', template } };
  const left = applyJsonPatch(released, jobHandOver(released, true)) as Job;
  expect(left.spec.podReplacementPolicy).toBe(policy);
  expect(left.spec.template.metadata?.annotations ?? {}).toEqual({});
});

test('the template of a Job that has started cannot change, and a Job that its user suspended stays so', () => {
  const started = { ...job, status: { startTime: '2026-01-01T00:00:00Z' } };
  const left = applyJsonPatch(started, jobHandOver(started, false)) as Job;
  expect(left.spec.template).toEqual(job.spec.template);
  expect(left.spec.suspend).toBe(true);
  expect(left.metadata.labels?.[ADMITTED_LABEL]).toBeUndefined();
});

test('a Pod loses the gate of the queue, and keeps those of others', () => {
  const pod: Pod = {
    metadata: job.metadata,
    spec: { containers: [], schedulingGates: [{ name: 'example.com/data' }, { name: GATE }] },
  };
  const left = applyJsonPatch(pod, podHandOver(pod)) as Pod;
  expect(left.spec.schedulingGates).toEqual([{ name: 'example.com/data' }]);
  expect(left.metadata.labels).toEqual({ app: 'train' });
});

test.each([
  [{ [HOLD]: 'true' }, true],
  [{ [HOLD]: 'false' }, false],
  [{}, false],
])('whether its user holds a workload with the labels %p: %p', (labels, held) => {
  expect(isHeldByUser({ metadata: { ...job.metadata, labels } })).toBe(held);
});
