/** What the two updates of `requeue` leave behind, as admission corrects them. */
import { HOLD, SUSPEND_ANNOTATION } from '../../constructs/api/labels';
import { restoreJob } from '../../runtime/admission/job-updates';
import { requeueSteps, requireQueued } from '../../runtime/cli/requeue';
import type { Job } from '../../runtime/kubernetes/types';
import { settingOf } from '../../runtime/workloads/settings';
import { applyJsonPatch, mergePatch, type Operation } from '../fuzz/json-patch';

type Annotations = Readonly<Record<string, string>>;

function running(annotations: Annotations = {}, labels: Annotations = {}): Job {
  return {
    metadata: {
      name: 'train',
      uid: 'train',
      resourceVersion: '1',
      creationTimestamp: '',
      annotations,
      labels: { 'fluxqueue/admitted': 'true', ...labels },
    },
    spec: { suspend: false, template: { spec: { containers: [] } } },
  };
}

function updated(old: Job, patch: object): Job {
  const job = mergePatch(old, patch) as Job;
  return applyJsonPatch(job, restoreJob(job, old) as readonly Operation[])!;
}

test.each<[string, Job]>([
  ['runs', running()],
  ['is never held', running({ [HOLD]: 'false' })],
  ['was released after suspend: true in its manifest', running({ [SUSPEND_ANNOTATION]: 'held' })],
  ['was suspended and resumed by its user', running({ [SUSPEND_ANNOTATION]: 'true' }, { [HOLD]: 'false' })],
])('a Job that %s is suspended, and waits without a hold', (_, job) => {
  const [suspend, lift] = requeueSteps('job/train', job);
  const between = updated(job, suspend!);
  expect(between.spec.suspend).toBe(true);
  expect(settingOf(between.metadata, HOLD)).toBe('true');
  const after = updated(between, lift!);
  expect(after.spec.suspend).toBe(true);
  expect(settingOf(after.metadata, HOLD)).not.toBe('true');
  expect(after.metadata.annotations?.[HOLD]).toBe(job.metadata.annotations?.[HOLD]);
  expect(after.metadata.annotations).not.toHaveProperty([SUSPEND_ANNOTATION]);
});

test('a Job of a namespace that left the queue is refused: nothing would start it again', () => {
  const [suspend] = requeueSteps('job/train', running());
  expect(() => requireQueued('job/train', updated(running(), suspend!))).not.toThrow();
  // Admission has no part in it any more.
  const alone = mergePatch(running(), suspend!) as Job;
  expect(() => requireQueued('job/train', alone)).toThrow(
    'FLUXQ_REQUEUE: workload: runs in a namespace that left',
  );
});

test.each<[string, string, Job]>([
  ['a Pod', 'pod/train', running()],
  ['waits already', 'job/train', { ...running(), spec: { ...running().spec, suspend: true } }],
  ['has ended', 'job/train', { ...running(), status: { conditions: [{ type: 'Failed', status: 'True' }] } }],
  ['is not in the queue', 'job/train', running({}, { 'fluxqueue/admitted': 'no' })],
])('what has no nodes to give back is refused: %s', (problem, shown, job) => {
  expect(() => requeueSteps(shown, job)).toThrow(problem);
  expect(() => requeueSteps(shown, job)).toThrow('FLUXQ_REQUEUE: workload: ');
});
