/** What commands say of a name whose FluxJob is not, or no more, of the object that has the name. */
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { fluxJob, runs, waits } from './fluxjobs';
import { type Answer, playedReadApi, refusal } from './played-read-api';

const getApi = playedReadApi();
const ADMITTED = { 'fluxqueue/admitted': 'true' };
const QUEUED = { body: { metadata: { name: 'science', labels: { 'fluxqueue/enabled': 'true' } } } };

/** Answers by the end of their paths; the rest is not found. */
function answers(byPath: Readonly<Record<string, Answer>>): void {
  getApi().answer = ({ path }) =>
    Object.entries({ '/namespaces/science': QUEUED, ...byPath }).find(([end]) => path.endsWith(end))?.[1] ??
    refusal(404, 'NotFound', 'not found');
}

const records = (...all: readonly FluxJobObject[]): Record<string, Answer> => ({
  ...Object.fromEntries(all.map((each) => [`/fluxjobs/${each.metadata.name}`, { body: each }])),
  '/fluxjobs': { body: { items: all } },
});
const entry = (event: string, message: string, uid = 'train') => ({
  ...{ at: '2026-11-23T09:00:00.120Z', uid, kind: 'Job', event, actor: 'c', message },
});
const object = (name: string, metadata: object = {}) => ({
  body: { metadata: { name, namespace: 'science', uid: name, labels: ADMITTED, ...metadata } },
});
const STUCK = {
  metadata: {
    ...{ name: 'train-0', namespace: 'science', uid: 'p', deletionTimestamp: '2026-11-23T09:00:00Z' },
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'train', controller: true }],
  },
  spec: { nodeName: 'node-2', containers: [] },
  status: { phase: 'Running' },
};
const ENDS = { ...STUCK, metadata: { ...STUCK.metadata, deletionTimestamp: '2099-01-01T00:00:00Z' } };

test.each(['why', 'when'])(
  '%s of a Job says first that pods of a deleted one have its name',
  async (word) => {
    answers({ ...records(runs), '/jobs/runs': object('runs', { uid: 'new' }) });
    const { output } = await getApi().run(word, 'runs');
    expect(output.trim().split('\n').slice(0, 2)).toEqual([
      'science/job/runs is not in the queue yet: pods of a deleted Job of this name still run on node-[1-2]: it is queued once they have ended, as of its creation',
      word === 'why'
        ? 'the deleted science/job/runs runs on node-[1-2]'
        : 'the deleted one: it started at 2026-11-23T11:55:10Z',
    ]);
  },
);

test('why of a Job that is the one of its FluxJob says nothing of another', async () => {
  answers({ ...records(runs), '/jobs/runs': object('runs') });
  expect((await getApi().run('why', 'runs')).output).toMatch(/^science\/job\/runs runs on node-\[1-2\]\n/);
});

test('why of a Pod that has joined a group while it waited is that of the group', async () => {
  const alone = fluxJob('p', { phase: 'Finished' as never, result: 'Cancelled' as never }, { kind: 'Pod' });
  const group = waits('ring', 1);
  const ofGroup = {
    ...group,
    metadata: { ...group.metadata, name: 'ring-podgroup' },
    spec: { ...group.spec, workload: { ...group.spec.workload, kind: 'PodGroup' } },
  };
  const metadata = {
    ...{ name: 'p', namespace: 'science', uid: 'p', labels: { ...ADMITTED, 'fluxqueue/group': 'ring' } },
    annotations: { 'fluxqueue/group-size': '2' },
  };
  const pod = { metadata, spec: { containers: [], schedulingGates: [{ name: 'fluxqueue' }] } };
  answers({
    ...records({ ...alone, metadata: { ...alone.metadata, name: 'p-pod' } }, ofGroup),
    '/pods/p': { body: pod },
    '/nodereports': refusal(403, 'Forbidden', 'no'),
  });
  expect((await getApi().run('why', 'p')).output).toMatch(/^science\/podgroup\/ring waits in queue default/);
});

/** Of a Job that was deleted with --cascade=orphan. */
const orphan = (job: string) => ({
  metadata: {
    ...{ name: `${job}-0`, namespace: 'science', uid: 'p', annotations: { 'fluxqueue/jobid': '7' } },
    labels: { 'batch.kubernetes.io/job-name': job, 'batch.kubernetes.io/controller-uid': job },
  },
  spec: { nodeName: 'node-2', containers: [] },
  status: { phase: 'Running' },
});
const ENDS_THEM = (job: string) =>
  `kubectl delete pods -n science -l batch.kubernetes.io/job-name=${job} ends them`;
const KEPT = 'and what was granted is charged until its pods have ended';

test.each<[string, Record<string, Answer>, string, string | undefined]>([
  [
    'without its pods',
    { '/pods': { body: { items: [orphan('runs')] } } },
    `its Job was deleted, ${KEPT}`,
    `what to do: ${ENDS_THEM('runs')}`,
  ],
  [
    'in the foreground',
    {
      '/jobs/runs': object('runs', {
        ...{ deletionTimestamp: '2026-11-23T12:00:00Z', deletionGracePeriodSeconds: 0 },
      }),
    },
    `its Job was deleted at 2026-11-23T12:00:00Z, ${KEPT}`,
    undefined,
  ],
])('why and when of a Job that was deleted %s say that first', async (_, byPath, first, last) => {
  answers({ ...records(runs), ...byPath });
  const lines = (await getApi().run('why', 'runs')).output.trim().split('\n');
  expect(lines.slice(0, 2)).toEqual([first, 'science/job/runs runs on node-[1-2]']);
  expect(lines.find((line) => line.startsWith('what to do'))).toBe(last);
  expect((await getApi().run('when', 'runs')).output.split('\n')[0]).toBe(first);
});

test('a command on a Job that was deleted without its pods says what ends them', async () => {
  answers({ '/histories/train': GRANTED, '/pods': { body: { items: [orphan('train')] } } });
  const { refused } = await getApi().run('cancel', 'train');
  expect(refused).toContain('its pods have not all ended yet (train-0 on node-2)');
  expect(refused).toContain(ENDS_THEM('train'));
});

test('why says nothing of the deletion of a Job that its user may not read', async () => {
  answers({ ...records(runs), '/jobs/runs': refusal(403, 'Forbidden', 'no') });
  expect((await getApi().run('why', 'runs')).output).toMatch(/^science\/job\/runs runs on/);
});

const DELETED = { deletionTimestamp: '2026-11-23T09:00:00Z' };
const GRANTED = { body: { entries: [entry('Running', 'its first pod runs')] } };
const CHARGED = 'until then what it was granted is charged, and kubectl fluxqueue plan lists it';

test.each<[string, Record<string, Answer>, RegExp]>([
  [
    'that is gone',
    { '/histories/train': GRANTED, '/pods': { body: { items: [ENDS] } } },
    /is gone: it was deleted, and its pods have not all ended yet \(train-0 on node-2\): until then/,
  ],
  [
    'that a finalizer or its pods keep',
    {
      '/histories/train': GRANTED,
      '/jobs/train': object('train', DELETED),
      '/pods': { body: { items: [ENDS] } },
    },
    /is being deleted: its pods have not all ended yet \(train-0 on node-2\): until then/,
  ],
  [
    'of which nothing is known but its pods',
    { '/jobs/train': object('train', DELETED), '/pods': { body: { items: [ENDS] } } },
    /is being deleted: its pods have not all ended yet \(train-0 on node-2\): until then/,
  ],
  [
    'that had ended before',
    {
      '/histories/train': {
        body: { entries: [entry('Finished', 'it failed', 'old'), entry('Finished', 'ran')] },
      },
      '/jobs/train': object('train', DELETED),
    },
    /is being deleted: it ended at 2026-11-23T09:00:00Z: ran \(got/,
  ],
  [
    'whose name an earlier one had',
    {
      '/histories/train': {
        body: { entries: [entry('Finished', 'it failed', 'old'), entry('Running', 'runs')] },
      },
    },
    new RegExp(`is gone: it was deleted, and its pods have not all ended yet: ${CHARGED} `),
  ],
])('why of a deleted Job %s says so at once', async (_, byPath, expected) => {
  answers(byPath);
  expect((await getApi().run('why', 'train')).refused).toMatch(expected);
});

test('why of a deleted Job says which of its pods does not end, and what ends it', async () => {
  answers({ '/histories/train': GRANTED, '/pods': { body: { items: [STUCK] } } });
  expect((await getApi().run('why', 'train')).refused).toBe(
    `FLUXQ_WORKLOAD_UNKNOWN: workload: is gone: it was deleted, and its pods have not all ended yet: ${CHARGED}; pod train-0 should have ended at 2026-11-23T09:00:00Z and still uses node-2, which is charged until it has ended (got "train"); ask your administrator: if the node is off, or runs no container of it any more: kubectl -n science delete pod train-0 --force --grace-period=0`,
  );
});
