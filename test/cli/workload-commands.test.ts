/** What the commands about workloads say of one that is gone, of a namespace that is wrong, and of refusals. */
import type { FluxJobObject } from '../../runtime/kubernetes/custom-resources';
import { waits } from './fluxjobs';
import { type Answer, playedReadApi, refusal } from './played-read-api';

const getApi = playedReadApi();
const NOT_FOUND = refusal(404, 'NotFound', 'not found');
const QUEUED = { body: { metadata: { name: 'science', labels: { 'fluxqueue/enabled': 'true' } } } };
const ended = (message: string, event = 'Finished') => ({
  body: {
    entries: [{ at: '2026-11-23T09:00:00.120Z', uid: 'u', kind: 'Job', event, actor: 'c', message }],
  },
});

/** Answers by the end of their paths; the rest is not found. */
function answers(byPath: Readonly<Record<string, Answer>>): void {
  getApi().answer = ({ path }) =>
    Object.entries(byPath).find(([end]) => path.endsWith(end))?.[1] ?? NOT_FOUND;
}

const CANCELLED = { '/namespaces/science': QUEUED, '/histories/train': ended('it was deleted') };

test.each(['why train', 'when job/train', 'hold train', 'cancel train'])(
  '%s of a workload that was cancelled says so',
  async (words) => {
    answers(CANCELLED);
    expect((await getApi().run(...words.split(' '))).refused).toBe(
      `FLUXQ_WORKLOAD_UNKNOWN: workload: is gone: it ended at 2026-11-23T09:00:00Z: it was deleted (got ${JSON.stringify(
        words.split(' ')[1],
      )}); kubectl fluxqueue history train -n science shows its whole history`,
    );
  },
);

test('what others have written is shown as text of one line', async () => {
  const evil = 'x\u001b]0;owned\u0007\nwhat to do: kubectl delete ns prod';
  answers({ ...CANCELLED, '/histories/train': ended(evil) });
  expect((await getApi().run('why', 'train')).refused).toContain(
    ': x ]0;owned what to do: kubectl delete ns prod (got',
  );
  const waiting = waits('lammps', 1);
  const [scheduled] = waiting.status!.conditions!;
  const conditions = [
    scheduled!,
    { ...scheduled!, type: 'PartiallyModeled', status: 'True' as never, message: evil },
  ];
  const record = { ...waiting, status: { ...waiting.status!, conditions } };
  answers({
    '/fluxjobs/lammps-job': { body: record },
    '/fluxjobs': { body: { items: [record] } },
    '/nodereports': refusal(403, 'Forbidden', 'no'),
  });
  const { refused, output } = await getApi().run('why', 'lammps');
  expect(refused).toBeUndefined();
  expect(output.split('\n')).toContain('PartiallyModeled: x ]0;owned what to do: kubectl delete ns prod');
});

test('why of a workload that was cancelled, whose pods have not ended, says so', async () => {
  answers({ ...CANCELLED, '/histories/train': ended('its first pod runs', 'Running') });
  expect((await getApi().run('why', 'train')).refused).toMatch(
    /workload: is gone: it was deleted, and its pods have not all ended yet: until then what it was granted is charged, and kubectl fluxqueue plan lists it \(got "train"\); kubectl fluxqueue history train/,
  );
});

test('why of a workload that was deleted while it waited says nothing of pods', async () => {
  answers({ ...CANCELLED, '/histories/train': ended('its nodes were lost', 'Requeued') });
  expect((await getApi().run('why', 'train')).refused).toMatch(
    /workload: is gone: it was deleted, and its end is not recorded yet \(got "train"\)/,
  );
});

test.each([
  ['queue --queue=', '--queue'],
  ['queue --selector=', '--selector'],
  ['queue --namespace=', '--namespace'],
  ['whatif --filename=', '--filename'],
  ['nodes EMPTY', 'nodes'],
  ['cancel EMPTY', 'workload'],
  ['cancel BLANK', 'workload'],
  ['queue --selector=\t', '--selector'],
])('%s, with an unset variable, asks the cluster nothing', async (words, field) => {
  const api = getApi();
  api.answer = () => {
    throw new Error('it was asked');
  };
  const texts = words.split(' ').map((word) => ({ EMPTY: '', BLANK: ' ' })[word] ?? word);
  expect((await api.run(...texts)).refused).toBe(
    `FLUXQ_EMPTY_NAME: ${field}: is empty (got ""); give it a value; a variable of the shell may be unset`,
  );
});

test('a default may be empty', async () => {
  const words = 'store-backup --folder / --endpoint https://store --bucket dumps';
  expect((await getApi().run(...words.split(' '))).refused).toMatch(
    /^FLUXQ_CONFIG_INVALID: AWS_ACCESS_KEY_ID/,
  );
});

test('the label of the namespace is asked for only where it is missing', async () => {
  const api = getApi();
  answers({ '/namespaces/science': QUEUED });
  const here = await api.run('why', 'train');
  expect(here.refused).toMatch(/no FluxJob in namespace science is about it .*queue --all -n science lists/);
  answers({ '/namespaces/science': { body: { metadata: { name: 'science' } } } });
  const without = await api.run('why', 'train');
  expect(without.refused).toContain('the namespace has not the label fluxqueue/enabled: "true"');
  answers({ '/namespaces/science': refusal(403, 'Forbidden', 'no') });
  expect((await api.run('why', 'train')).refused).not.toContain('label');
});

test.each(['queue', 'top', 'why train', 'hold train'])(
  '%s names a namespace that does not exist',
  async (words) => {
    answers({
      '/fluxjobs': { body: { items: [] } },
      '/jobs': { body: { items: [] } },
      '/pods': { body: { items: [] } },
    });
    expect((await getApi().run(...words.split(' '), '-n', 'nosuch')).refused).toBe(
      'FLUXQ_NAMESPACE_UNKNOWN: namespace: the cluster has no namespace of this name (got "nosuch"); kubectl get namespaces lists them; the option -n names one',
    );
  },
);

test('a MiniCluster is named as one: its Job waits, and cancel deletes the MiniCluster', async () => {
  const api = getApi();
  const waiting: FluxJobObject = waits('lammps', 1);
  answers({
    '/fluxjobs/lammps-job': { body: waiting },
    '/fluxjobs': { body: { items: [waiting] } },
    '/miniclusters/lammps': { body: {} },
    '/nodereports': refusal(403, 'Forbidden', 'no'),
    '/namespaces/science': QUEUED,
  });
  const why = await api.run('why', 'mc/lammps');
  expect([why.refused, why.output]).toEqual([
    undefined,
    expect.stringContaining('job/lammps waits in queue'),
  ]);
  expect((await api.run('queue', 'minicluster/lammps', '-o', 'name')).output).toBe('job/lammps\n');
  expect((await api.run('cancel', 'mc/lammps')).output).toBe('minicluster/lammps cancelled\n');
  expect(api.asked.at(-1)).toMatchObject({
    method: 'DELETE',
    path: '/apis/flux-framework.org/v1alpha2/namespaces/science/miniclusters/lammps',
  });
});

describe('of a MiniCluster', () => {
  const job = (annotations: object = {}) => ({
    body: {
      metadata: {
        name: 'lammps',
        namespace: 'science',
        labels: { 'fluxqueue/admitted': 'true' },
        annotations,
        ownerReferences: [
          {
            apiVersion: 'flux-framework.org/v1alpha2',
            kind: 'MiniCluster',
            name: 'lammps',
            uid: 'm',
            controller: true,
          },
        ],
      },
      spec: { suspend: true },
    },
  });

  // Its controller writes on the Job what the spec says, at each change of it and every five minutes.
  test.each<[string, object, object, string, object]>([
    ['hold lammps', { suspend: false }, {}, 'minicluster/lammps held', { spec: { suspend: true } }],
    [
      'release job/lammps',
      { suspend: true },
      { 'fluxqueue/hold': 'true' },
      'minicluster/lammps released; kubectl fluxqueue why lammps -n science says what it waits for',
      { spec: { suspend: false } },
    ],
    [
      'release mc/lammps',
      { suspend: true },
      { 'fluxqueue/hold': 'true', 'fluxqueue/suspend': 'true' },
      'minicluster/lammps released; kubectl fluxqueue why lammps -n science says what it waits for',
      { spec: { suspend: false } },
    ],
    [
      'priority lammps -50',
      { priority: -5 },
      { 'fluxqueue/priority': '-5' },
      'minicluster/lammps asks for priority -50',
      { spec: { priority: -50 } },
    ],
  ])('%s of %j writes its spec', async (words, spec, annotations, said, body) => {
    answers({
      '/jobs/lammps': job(annotations),
      '/miniclusters/lammps': { body: { spec } },
      '/namespaces/science': QUEUED,
    });
    const { refused, output } = await getApi().run(...words.split(' '));
    expect([refused, output]).toEqual([undefined, `${said}\n`]);
    const written = getApi().asked.filter(({ method }) => method === 'PATCH');
    expect(written.map(({ path }) => path.split('/').at(-2))).toEqual(['miniclusters']);
    expect(written[0]!.body).toEqual(body);
  });

  test.each([
    ['hold lammps', { priority: -5 }],
    ['priority lammps -50', { suspend: false, priority: 5 }],
  ])('%s of %j writes its Job, which keeps what the spec says nothing of', async (words, spec) => {
    answers({ '/jobs/lammps': job(), '/miniclusters/lammps': { body: { spec } } });
    const { refused } = await getApi().run(...words.split(' '));
    const written = getApi().asked.filter(({ method }) => method === 'PATCH');
    expect([refused, ...written.map(({ path }) => path.split('/').at(-2))]).toEqual([undefined, 'jobs']);
  });

  test('release changes nothing where the spec says that it is not held', async () => {
    answers({
      '/jobs/lammps': job({ 'fluxqueue/hold': 'false' }),
      '/miniclusters/lammps': { body: { spec: { suspend: false } } },
      '/namespaces/science': QUEUED,
    });
    expect((await getApi().run('release', 'lammps')).output).toBe('job/lammps is not held\n');
    expect(getApi().asked.map(({ method }) => method)).not.toContain('PATCH');
  });
});

const WAITING_JOB = {
  body: { metadata: { name: 'train', labels: { 'fluxqueue/admitted': 'true' } }, spec: { suspend: true } },
};

test.each([
  [
    'admission, with its own remedy',
    'jobs.batch "train" is forbidden: ValidatingAdmissionPolicy \'p\' with binding \'b\' denied request: FLUXQ_PRIORITY: metadata: is above 0 (got "9"); lower it',
    'FLUXQ_PRIORITY: metadata: is above 0 (got "9"); lower it',
  ],
  [
    'RBAC, with one remedy',
    'jobs.batch "train" is forbidden: User "ada" cannot patch resource "jobs"',
    'FLUXQ_KUBERNETES_FORBIDDEN: jobs.batch "train" is forbidden: User "ada" cannot patch resource "jobs"; ask an administrator for the right, such as a RoleBinding to edit',
  ],
])('a change that is refused shows the sentence of %s, and no request', async (_, said, shown) => {
  getApi().answer = ({ method }) => (method === 'GET' ? WAITING_JOB : refusal(403, 'Forbidden', said));
  expect((await getApi().run('priority', 'job/train', '9')).refused).toBe(shown);
});

test.each([
  ['hold', { labels: { 'fluxqueue/admitted': 'true' } }, { suspend: false }, {}, /has its nodes already/],
  [
    'hold',
    { labels: { 'fluxqueue/admitted': 'true' } },
    { suspend: true },
    { conditions: [{ type: 'Failed', status: 'True' }] },
    /has ended/,
  ],
  ['hold', {}, { suspend: true }, {}, /is not in the queue/],
])('%s of what does not wait is refused (%j %j %j)', async (command, metadata, spec, status, problem) => {
  answers({ '/jobs/train': { body: { metadata: { name: 'train', ...metadata }, spec, status } } });
  const { refused, output } = await getApi().run(command, 'train');
  expect([refused, output]).toEqual([expect.stringMatching(problem), '']);
  expect(getApi().asked.map(({ method }) => method)).not.toContain('PATCH');
});

test('requeue that fails half-way says what it has done, and how to go on', async () => {
  const job = {
    metadata: { name: 'train', labels: { 'fluxqueue/admitted': 'true' } },
    spec: { suspend: false },
  };
  const lifts = ({ method, body }: { readonly method: string; readonly body: unknown }) =>
    method === 'PATCH' && (body as typeof job).spec.suspend === false;
  getApi().answer = (asked) => {
    if (lifts(asked)) return refusal(403, 'Forbidden', 'jobs.batch "train" is forbidden: no');
    if (asked.path.endsWith('/namespaces/science')) return QUEUED;
    return asked.path.endsWith('/jobs/train') ? { body: job } : NOT_FOUND;
  };
  const { refused, output } = await getApi().run('requeue', 'job/train');
  expect([output, refused]).toEqual([
    '',
    'FLUXQ_REQUEUE: workload: was stopped, and may still be held, because the change that lets it wait again failed: FLUXQ_KUBERNETES_FORBIDDEN: jobs.batch "train" is forbidden: no (got "job/train"); kubectl fluxqueue release job/train -n science lets it wait in its queue',
  ]);
});

test.each<[string, object, string]>([
  [
    'StatefulSet',
    { apiVersion: 'apps/v1', name: 'ss' },
    '; statefulset/ss makes it again: scale it down or delete it to end that',
  ],
  [
    'ReplicaSet',
    { apiVersion: 'apps/v1', name: 'web-5d' },
    '; replicaset/web-5d makes it again: scale its Deployment down or delete it to end that',
  ],
])('cancel of a pod of a %s says that it is made again', async (kind, owner, said) => {
  const api = getApi();
  const ownerReferences = [{ kind, uid: 'o', controller: true, ...owner }];
  const metadata = {
    name: 'ss-0',
    namespace: 'science',
    labels: { 'fluxqueue/admitted': 'true' },
    ownerReferences,
  };
  api.answer = ({ path }) =>
    path.endsWith('/pods/ss-0')
      ? { body: { metadata, spec: { containers: [] } } }
      : refusal(404, 'NotFound', 'not found');
  expect((await api.run('cancel', 'pod/ss-0')).output).toBe(`pod/ss-0 cancelled${said}\n`);
});
