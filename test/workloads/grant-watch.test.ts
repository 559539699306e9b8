/** The limits of waits: which of them end a grant, when, and with which sentence. */
import { apiError } from '../../runtime/kubernetes/errors';
import type { Pod } from '../../runtime/kubernetes/types';
import type { WorkloadAdapter } from '../../runtime/workloads/adapter';
import { jobAdapter } from '../../runtime/workloads/job';
import { podAdapter } from '../../runtime/workloads/pod';
import { rowIn } from '../queue/rows';
import { array, pinnedTo, pod, RELEASED, RUNS, refused, setUp } from './watched-grant';

test('a refused pod ends the grant after 30 s, and its node is avoided', async () => {
  const { observe, seconds } = setUp();
  const pods = [pod('a', RUNS, 'n1'), { ...pod('b', refused), spec: pinnedTo('n2') }];
  const wait = { reason: 'Unschedulable', message: 'pod b waits: 0/2 nodes', isPartial: true };
  expect(await observe(pods)).toMatchObject({ wait, failure: undefined, after: 30_000 });
  seconds(29);
  expect(await observe(pods)).toMatchObject({ failure: undefined, after: 1_000 });
  seconds(1);
  expect((await observe(pods)).failure).toEqual({
    cause: 'cluster',
    message: 'pod b did not run on n2: 0/2 nodes',
    avoid: ['n2'],
  });
});

test('a pod of which the grant has no place any more ends it after 30 s', async () => {
  const { observe, seconds } = setUp();
  const [done, again] = [pod('a', { phase: 'Failed' }, 'n1'), pod('b', {}, undefined, 6)];
  const ofKind = { podSetOf: () => 'init', placelessPods: () => [again], missingPods: () => 0 };
  const adapter = { ...jobAdapter, ...ofKind } as WorkloadAdapter;
  const message = 'its grant has no place for pod set init any more, whose pods had all succeeded';
  const wait = { reason: 'Unschedulable', message, pod: 'b' };
  expect(await observe([done, again], adapter)).toMatchObject({ wait, failure: undefined, after: 30_000 });
  seconds(30);
  const failure = { cause: 'cluster', message: `pod b did not run: ${message}` };
  expect((await observe([done, again], adapter)).failure).toMatchObject(failure);
});

test('a pod that is scheduled in time ends nothing, and its successor has the whole time', async () => {
  const { observe, seconds } = setUp();
  await observe([pod('a', RUNS, 'n1'), pod('b', refused)]);
  seconds(29);
  expect(await observe([pod('a', RUNS, 'n1'), pod('b', RUNS, 'n1')])).toEqual({
    wait: undefined,
    failure: undefined,
    after: undefined,
  });
  expect(await observe([pod('a', RUNS, 'n1'), pod('c', refused)])).toMatchObject({ after: 30_000 });
});

test('says what the workload waits for only while none of its pods runs', async () => {
  const { observe } = setUp();
  const starting = pod('b', undefined, 'n2');
  expect((await observe([pod('a', refused), starting])).wait).toEqual({
    reason: 'Unschedulable',
    message: '0/2 nodes',
    pod: 'a',
  });
  expect((await observe([starting, pod('c', undefined, 'n1')])).wait).toMatchObject({
    reason: 'ContainerCreating',
  });
  expect((await observe([pod('a', RUNS, 'n1'), starting])).wait).toBeUndefined();
});

test('a container that does not start has ten minutes', async () => {
  const { observe, seconds } = setUp();
  const pods = [pod('a', RUNS, 'n1'), pod('b', undefined, 'n2')];
  expect(await observe(pods)).toMatchObject({ after: 600_000 });
  seconds(600);
  expect((await observe(pods)).failure).toMatchObject({ avoid: ['n2'] });
});

test.each([
  ['CreateContainerConfigError', 'secret "late" not found', 3, 30_000],
  ['ErrImagePull', 'rpc error: code = NotFound desc = a:1: not found', 3, 30_000],
  ['ErrImagePull', 'rpc error: code = Unavailable desc = no route to host', 3, 600_000],
  ['CreateContainerConfigError', 'secret "late" not found', 2, 600_000],
])(
  'what is tried once an hour has half a minute, if its own cause is still there: %s, %s',
  async (...row) => {
    const [reason, message, requeues, after] = row;
    const given = rowIn('Ready', { uid: 'job', jobid: 7, pods: 2, releasedAt: RELEASED, requeues });
    const { observe } = setUp({ given });
    const waiting = { containerStatuses: [{ name: 'main', state: { waiting: { reason, message } } }] };
    const pods = [pod('a', RUNS, 'n1'), pod('b', waiting, 'n2')];
    expect(await observe(pods)).toMatchObject({ failure: undefined, after });
  },
);

test('a pod for which a scheduler of others says nothing ends the grant after ten minutes', async () => {
  const { observe, seconds } = setUp();
  const waiting = pod('b', {});
  const pods = [pod('a', RUNS, 'n1'), { ...waiting, spec: { ...waiting.spec, schedulerName: 'volcano' } }];
  expect(await observe(pods)).toMatchObject({ failure: undefined, after: 600_000 });
  seconds(600);
  expect((await observe(pods)).failure).toMatchObject({
    cause: 'cluster',
    message: 'pod b did not run: waiting for volcano',
  });
  const own = [pod('a', RUNS, 'n1'), pod('b', {})];
  expect(await observe(own)).toMatchObject({ failure: undefined, after: undefined });
});

test.each([
  ['FailedCreatePodSandBox', 'plugin type="cilium" failed', 'cluster'],
  ['FailedMount', 'MountVolume.SetUp failed for volume "a" : configmap "b" not found', 'failure'],
])(
  'a container that is not created ends the grant with the last warning: %s',
  async (reason, note, cause) => {
    const failures = [
      { reason: 'FailedScheduling', note: 'once', deprecatedLastTimestamp: '2026-01-01T00:00:01Z' },
      { reason, note, deprecatedLastTimestamp: '2026-01-01T00:09:00Z' },
    ];
    const { observe, seconds, lists } = setUp({ failures });
    const pods = [pod('a', RUNS, 'n1'), pod('b', undefined, 'n2')];
    await observe(pods);
    expect(lists).toEqual([]);
    seconds(600);
    expect((await observe(pods)).failure).toEqual({
      cause,
      message: `pod b did not run on n2: ${note}`,
      avoid: ['n2'],
    });
    expect(lists).toEqual([expect.objectContaining({ fieldSelector: 'regarding.uid=b,type=Warning' })]);
  },
);

test('tells the warning about a pod that waits for its containers, and reads it ever less often', async () => {
  const note = 'MountVolume.SetUp failed for volume "a" : configmap "b" not found';
  const failures = [
    { reason: 'FailedMount', note: 'long over', deprecatedLastTimestamp: '2025-12-31T00:00:00Z' },
    { reason: 'FailedMount', note, deprecatedLastTimestamp: '2026-01-01T00:00:12Z' },
  ];
  const workload = { ...array, spec: { ...array.spec, parallelism: 1, completions: 1 } };
  const { observe, seconds, lists } = setUp({ failures, workload });
  const pods = [pod('a', undefined, 'n1')];
  const told = { wait: { reason: 'FailedMount', message: note, pod: 'a' }, failure: undefined };
  const untold = { wait: { reason: 'ContainerCreating' }, after: 10_000 };
  expect(await observe(pods)).toMatchObject(untold);
  seconds(10);
  expect(await observe(pods)).toMatchObject({ ...told, after: 10_000 });
  seconds(9);
  expect(await observe(pods)).toMatchObject({ ...told, after: 1_000 });
  expect(lists).toHaveLength(1);
  seconds(300);
  expect(await observe(pods)).toMatchObject({ wait: { reason: 'ContainerCreating' } });
});

test('missing pods end the grant with the newest sentence of the Job controller since they are missing', async () => {
  const failures = [
    {
      note: 'Error creating: pods "b" is forbidden: too old',
      deprecatedLastTimestamp: '2025-12-31T23:00:00Z',
    },
    {
      note: 'Error creating: pods "b" is forbidden: exceeded quota',
      deprecatedLastTimestamp: '2026-01-01T00:00:09Z',
    },
  ];
  const { observe, seconds, lists } = setUp({ failures });
  const pods = [pod('a', RUNS, 'n1')];
  expect(await observe(pods)).toMatchObject({ failure: undefined, after: 5_000 });
  expect(lists).toEqual([]);
  seconds(5);
  const message = 'the Job controller cannot create its pods: pods "b" is forbidden: exceeded quota';
  const wait = { reason: 'PodsMissing', message, isPartial: true };
  expect(await observe(pods)).toMatchObject({ wait, failure: undefined });
  seconds(25);
  expect((await observe(pods)).failure).toEqual({ cause: 'failure', message });
  const asked = { fieldSelector: 'regarding.uid=job,reason=FailedCreate' };
  expect(lists).toEqual([expect.objectContaining(asked), expect.objectContaining(asked)]);
});

test('missing pods without a sentence end nothing for as long as a start may take: the Job controller may be down', async () => {
  const { observe, seconds } = setUp();
  await observe([]);
  // It was released ten seconds before.
  seconds(589);
  expect(await observe([])).toEqual({
    wait: { reason: 'PodsMissing', message: 'waiting for the Job controller to create 2 pods' },
    failure: undefined,
    after: 1_000,
  });
  // It waits for pods of an earlier Job of this name, and nothing else wakes it.
  seconds(1);
  expect((await observe([])).failure).toEqual({
    cause: 'cluster',
    message: 'the Job controller has created none of its pods for 600 s',
  });
});

test('a clock that is an hour ahead of the database ends no gang before its pods can come', async () => {
  const given = rowIn('Ready', { uid: 'job', jobid: 7, pods: 2, releasedAt: RELEASED - 3_600 });
  const { observe, seconds } = setUp({ given });
  expect(await observe([])).toMatchObject({ failure: undefined });
  seconds(29);
  expect(await observe([])).toMatchObject({ failure: undefined });
  seconds(1);
  expect((await observe([])).failure).toMatchObject({ cause: 'cluster' });
});

test('missing pods without a sentence end nothing that has run', async () => {
  const given = rowIn('Running', { uid: 'job', jobid: 7, pods: 2, releasedAt: RELEASED });
  const { observe, seconds } = setUp({ given });
  await observe([]);
  seconds(3600);
  expect(await observe([])).toMatchObject({ wait: { reason: 'PodsMissing' }, failure: undefined });
});

test('ignores pods of an earlier grant', async () => {
  const { observe, seconds } = setUp();
  const pods = [pod('a', RUNS, 'n1'), pod('b', RUNS, 'n2'), pod('old', refused, undefined, 6)];
  await observe(pods);
  seconds(60);
  expect(await observe(pods)).toMatchObject({ failure: undefined, after: undefined });
});

test('names how many pods did not run, and avoids all their nodes', async () => {
  const { observe, seconds } = setUp();
  const pods = ['n1', 'n2'].map((node) => ({ ...pod(`on-${node}`, refused), spec: pinnedTo(node) }));
  await observe(pods);
  seconds(30);
  expect((await observe(pods)).failure).toMatchObject({
    message: 'pod on-n1 and 1 more did not run on n1: 0/2 nodes',
    avoid: ['n1', 'n2'],
  });
});

test('a cause of its own that the kubelet says of one pod counts, whatever the others wait for', async () => {
  const note = 'MountVolume.SetUp failed for volume "config": configmap "train" not found';
  const said = { note, reason: 'FailedMount', deprecatedLastTimestamp: '2026-01-01T00:00:20Z' };
  const silent = ['a', 'b'].map((name) => pod(name, {}, 'node-1'));
  for (const [failures, cause] of [
    [[said], 'failure'],
    [[], 'cluster'],
  ] as const) {
    const { observe, seconds } = setUp({ failures });
    await observe(silent);
    seconds(600);
    expect((await observe(silent)).failure).toMatchObject({ cause });
  }
});

test('a lone pod that is bound keeps its node, however long it takes to start', async () => {
  const { observe, seconds } = setUp({
    given: rowIn('Ready', { uid: 'a', kind: 'Pod', releasedAt: RELEASED }),
  });
  const pods = [pod('a', undefined, 'n1')];
  const adapter = podAdapter as unknown as WorkloadAdapter;
  await observe(pods, adapter);
  seconds(3600);
  expect(await observe(pods, adapter)).toEqual({
    wait: { reason: 'ContainerCreating', message: 'its containers are being created', pod: 'a' },
    failure: undefined,
    after: 3_600_000,
  });
});

describe('a pod with resource claims that kube-scheduler does not mention', () => {
  const notFound = (path: string, message: string) =>
    apiError(404, JSON.stringify({ reason: 'NotFound', message }), undefined, `GET ${path}`);

  function claimant(name: string, source: object, claims: readonly object[] = []): Pod {
    const waiting = pod(name, { resourceClaimStatuses: claims } as Pod['status']);
    return { ...waiting, spec: { ...pinnedTo('n1'), resourceClaims: [{ name: 'gpu', ...source }] } };
  }

  function withMissing(kind: string, schedulerRuns = true) {
    const asked: string[] = [];
    const get = async (path: string) => {
      asked.push(path);
      throw notFound(path, `${kind}s.resource.k8s.io "missing" not found`);
    };
    return { ...setUp({ get, schedulerRuns }), asked };
  }

  test.each([
    ['resourceclaim', { resourceClaimName: 'missing' }],
    ['resourceclaimtemplate', { resourceClaimTemplateName: 'missing' }],
  ])('ends the grant after 30 s with a missing %s, and avoids no node', async (kind, source) => {
    const { observe, seconds, asked } = withMissing(kind);
    const pods = [claimant('a', source), claimant('b', source)];
    expect(await observe(pods)).toMatchObject({
      wait: { reason: 'ResourceClaimMissing', message: `${kind} "missing" not found` },
      failure: undefined,
      after: 30_000,
    });
    // The pods of a gang name the same claim.
    expect(asked).toEqual([`/apis/resource.k8s.io/v1/namespaces/science/${kind}s/missing`]);
    seconds(30);
    expect((await observe(pods)).failure).toEqual({
      cause: 'failure',
      message: `pod a and 1 more did not run on n1: ${kind} "missing" not found`,
      avoid: [],
    });
  });

  test('says so too if the scheduler has never scheduled a pod', async () => {
    const { observe } = withMissing('resourceclaim', false);
    const pods = [claimant('a', { resourceClaimName: 'missing' })];
    expect((await observe(pods)).wait).toMatchObject({ message: 'resourceclaim "missing" not found' });
  });

  test('ends the grant after 30 s with a claim that a finalizer keeps from being deleted', async () => {
    const get = async () => ({ metadata: { deletionTimestamp: '2027-01-01T00:00:00Z' } });
    const { observe, seconds } = setUp({ get });
    const pods = [claimant('a', { resourceClaimName: 'dying' })];
    expect((await observe(pods)).wait).toMatchObject({ message: 'resourceclaim "dying" is being deleted' });
    seconds(30);
    expect((await observe(pods)).failure).toMatchObject({ cause: 'failure' });
    // Claims are still made of such a template.
    const { observe: again } = setUp({ get });
    expect((await again([claimant('b', { resourceClaimTemplateName: 'dying' })])).wait?.message).not.toMatch(
      /deleted/,
    );
  });

  test('looks again while the claim exists, because it may be deleted', async () => {
    const { observe, seconds } = setUp({ get: async () => ({ metadata: {} }) });
    const pods = [claimant('a', { resourceClaimName: 'there' }), pod('b', RUNS, 'n1')];
    await observe(pods);
    seconds(3600);
    expect(await observe(pods)).toEqual({ wait: undefined, failure: undefined, after: 15_000 });
  });

  test('asks nothing of a template whose claim was made', async () => {
    const made = [{ name: 'gpu', resourceClaimName: 'a-gpu' }];
    const { observe } = setUp();
    const pods = [claimant('a', { resourceClaimTemplateName: 'missing' }, made), pod('b', RUNS, 'n1')];
    expect((await observe(pods)).wait).toBeUndefined();
  });

  test('an apiserver without the API says nothing about the claim', async () => {
    const get = async (path: string) => {
      throw notFound(path, 'the server could not find the requested resource');
    };
    const { observe, seconds } = setUp({ get });
    const pods = [claimant('a', { resourceClaimName: 'missing' }), pod('b', RUNS, 'n1')];
    await observe(pods);
    seconds(60);
    expect((await observe(pods)).failure).toBeUndefined();
  });
});
