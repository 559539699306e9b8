/** What the two updates of `requeue` leave behind, as admission corrects them. */
import { ADMITTED_LABEL, HOLD, SUSPEND_ANNOTATION } from '../../constructs/api/labels';
import { restoreJob } from '../../runtime/admission/job-updates';
import { requeueSteps } from '../../runtime/cli/requeue';
import { takesJobs } from '../../runtime/cli/takes-jobs';
import { apiError } from '../../runtime/kubernetes/errors';
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

test('a group of pods is told what its user can do instead', () => {
  const job = { ...running(), spec: {}, status: { phase: 'Running' } } as unknown as Job;
  expect(() => requeueSteps('podgroup/ring', job)).toThrow(
    /a group of Pods cannot leave its nodes and start again .*cancel it: what controllers make again waits in the queue/,
  );
});

const refused = async () => Promise.reject(apiError(403, 'quota', undefined, ''));

test.each([
  ['holds it back', async () => ({ metadata: { labels: { [ADMITTED_LABEL]: 'true' } } }), true],
  ['has no part in it any more', async () => ({ metadata: {} }), false],
  ['is not asked, because a quota refuses it, and the namespace has the label', refused, true],
  ['is not asked, because a quota refuses it, and the namespace left', refused, false],
])('a Job that is tried in a dry run, where admission %s', async (title, create, expected) => {
  const tried: object[] = [];
  const labels = title.endsWith('left') ? {} : { 'fluxqueue/enabled': 'true' };
  const client = {
    get: async () => ({ metadata: { labels } }),
    create: async (path: string, body: object, options: object) => {
      tried.push({ path, body, options });
      return create();
    },
  };
  expect(await takesJobs(client as never, 'science')).toBe(expected);
  expect(tried).toMatchObject([
    { path: '/apis/batch/v1/namespaces/science/jobs', body: { kind: 'Job' }, options: { dryRun: true } },
  ]);
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
