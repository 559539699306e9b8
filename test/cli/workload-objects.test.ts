/** What `queue` and `top` read of workloads beside their FluxJobs: labels and users. */
import { ADMITTED_LABEL, GROUP, GROUP_MEMBER_ANNOTATION, USER_ANNOTATION } from '../../constructs/api/labels';
import { fluxJob, runs, waits } from './fluxjobs';
import { type Answer, playedReadApi, refusal } from './played-read-api';

const getApi = playedReadApi();

const QUEUED = { body: { metadata: { name: 'science', labels: { 'fluxqueue/enabled': 'true' } } } };
const ADMITTED = { [ADMITTED_LABEL]: 'true' };
const of = (user: string) => ({ [USER_ANNOTATION]: user });
const list = (...metadata: readonly object[]): Answer => ({
  body: {
    items: metadata.map((each) => ({ metadata: { namespace: 'science', labels: ADMITTED, ...each } })),
  },
});
const OWNER = {
  apiVersion: 'trainer.kubeflow.org/v1alpha1',
  kind: 'TrainJob',
  name: 'tune',
  controller: true,
};
const TRAINER = of('system:serviceaccount:kubeflow-system:trainer');

const waiting = (name: string, kind: string, uid = name) => {
  const made = fluxJob(name, waits(name, 1).status, { kind });
  return { ...made, spec: { ...made.spec, workload: { ...made.spec.workload, uid } } };
};
const FLUX_JOBS = [
  runs,
  waiting('train', 'JobSet'),
  waiting('tune', 'JobSet'),
  waiting('ring', 'PodGroup', 'group-1'),
  waiting('pair', 'PodGroup', 'group-2'),
  waiting('wide-2', 'Pod', 'p2'),
];

/** A cluster that serves JobSets and TrainJobs, and no other workload kinds. */
function answers(labelled: (path: string) => Answer | undefined): void {
  getApi().answer = ({ path }) =>
    labelled(path.split('/').at(-1)!) ??
    (path.endsWith('/science')
      ? QUEUED
      : path.endsWith('/fluxjobs')
        ? { body: { items: FLUX_JOBS } }
        : path.endsWith('/mpijobs')
          ? refusal(403, 'Forbidden', 'no')
          : refusal(404, 'NotFound', 'not found'));
}

const ALL: Readonly<Record<string, Answer>> = {
  jobs: list(
    { name: 'runs', uid: 'runs', annotations: of('ada') },
    { name: 'wide', uid: 'wide', annotations: of('zoe') },
  ),
  jobsets: list(
    { name: 'train', uid: 'train', annotations: of('bob') },
    { name: 'tune', uid: 'tune', annotations: TRAINER, ownerReferences: [{ ...OWNER, uid: 'maker' }] },
  ),
  trainjobs: list({ name: 'tune', uid: 'maker', annotations: of('eve'), labels: {} }),
  pods: list(
    { name: 'ring-0', uid: 'p0', annotations: { ...of('kim'), [GROUP]: 'ring' } },
    { name: 'pair-0', uid: 'p1', annotations: { ...of('lea'), [GROUP_MEMBER_ANNOTATION]: 'group-2/pods' } },
    // Beyond the gang of its Job it is a workload of its own.
    {
      name: 'wide-2',
      uid: 'p2',
      ownerReferences: [{ kind: 'Job', name: 'wide', uid: 'wide', controller: true }],
    },
  ),
};

test('users of all kinds of workloads are shown and summed up', async () => {
  answers((resource) => ALL[resource]);
  const wide = await getApi().run('queue', '-o', 'wide');
  expect(wide.refused).toBeUndefined();
  const [head = '', ...rows] = wide.output.trimEnd().split('\n');
  const userAt = head.indexOf('USER');
  const users = rows.map((row) => [/\S+\/\S+/.exec(row)?.[0], row.slice(userAt).split(' ')[0]]);
  expect(users.toSorted()).toEqual([
    ['job/runs', 'ada'],
    ['jobset/train', 'bob'],
    ['jobset/tune', 'eve'],
    ['pod/wide-2', 'zoe'],
    ['podgroup/pair', 'lea'],
    ['podgroup/ring', 'kim'],
  ]);
  const top = await getApi().run('top', '--by', 'user');
  expect(top.output).not.toContain('- ');
  expect(top.output.split('\n').map((row) => row.split(' ')[0])).toEqual(
    expect.arrayContaining(['ada', 'bob', 'eve', 'kim', 'lea']),
  );
});

test('what is deleted in the foreground is listed until its pods have ended, as its FluxJob is gone', async () => {
  const deleted = { deletionTimestamp: '2026-11-23T12:00:00Z', finalizers: ['foregroundDeletion'] };
  const jobs = list(
    { name: 'runs', uid: 'runs', ...deleted },
    { name: 'slow', uid: 'slow', ...deleted, labels: { ...ADMITTED, 'fluxqueue/queue': 'night' } },
    { name: 'kept', uid: 'kept', ...deleted, finalizers: ['example.org/keep'] },
  );
  answers((resource) => ({ jobs, jobsets: list({ name: 'set', uid: 'set', ...deleted }) })[resource]);
  const rows = async (...words: string[]) => {
    const { output, refused } = await getApi().run('queue', ...words);
    expect(refused).toBeUndefined();
    return output
      .split('\n')
      .filter((row) => /job.*\/(runs|slow|kept|set)\b/.test(row))
      .toSorted();
  };
  const [set, runs, slow] = await rows();
  expect(set).toMatch(/^ +jobset\/set +Deleting .* PodsEnding$/);
  expect(runs).toMatch(/^default +job\/runs +Running /);
  expect(slow).toMatch(/^night +job\/slow +Deleting .* PodsEnding$/);
  expect(await rows('job/slow')).toHaveLength(1);
  expect(await rows('-o', 'name')).toEqual(['job/runs']);
  answers((resource) => (resource === 'jobs' ? refusal(403, 'Forbidden', 'no') : undefined));
  expect(await rows()).toHaveLength(1);
});

test('a selector chooses workloads of all kinds, and groups by their pods', async () => {
  const chosen = async (resource: string, answer: Answer) => {
    answers((asked) => (asked === resource ? answer : asked in ALL ? list() : undefined));
    return (await getApi().run('queue', '-l', 'app=x', '-o', 'name')).output;
  };
  expect(await chosen('jobsets', list({ name: 'train', uid: 'train' }))).toBe('jobset/train\n');
  expect(await chosen('pods', ALL.pods!)).toBe('podgroup/ring\npodgroup/pair\npod/wide-2\n');
  const asked = getApi().asked.filter(({ path }) => path.endsWith('/jobsets'));
  expect(asked[0]!.query.labelSelector).toBe(`${ADMITTED_LABEL}=true,app=x`);
});
