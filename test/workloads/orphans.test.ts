/** Deadlines of pods that no Job controller ends. */
import { JOBID_ANNOTATION } from '../../constructs/api/labels';
import type { KubernetesClient } from '../../runtime/kubernetes/client';
import type { Pod } from '../../runtime/kubernetes/types';
import { ENDLESS_SECONDS } from '../../runtime/resources/endless';
import { Orphans } from '../../runtime/workloads/orphans';
import { ManualClock } from '../kubernetes/manual-clock';
import { rowIn } from '../queue/rows';
import { submission } from '../queue/submission';

/** Unix seconds. */
const STARTED = 1_800_000_000;
const WALLTIME = 3600;
const time = (seconds: number) => new Date(seconds * 1000).toISOString();

const ROW = {
  ...rowIn('Running', submission('train', { walltime: WALLTIME })),
  startedAt: STARTED,
  jobid: 7,
  allocation: { jobid: 7, start: STARTED, end: STARTED + WALLTIME, nodes: [] },
  evictionReason: null,
};
const jobWith = (activeDeadlineSeconds: number | undefined) =>
  ({
    spec: { ...(activeDeadlineSeconds !== undefined && { activeDeadlineSeconds }) },
    status: { startTime: time(STARTED) },
  }) as never;

function pod(more: { metadata?: object; spec?: object; status?: object } = {}): Pod {
  return {
    metadata: {
      ...{ name: 'p', namespace: 'science', uid: 'p', resourceVersion: '1', creationTimestamp: '' },
      annotations: { [JOBID_ANNOTATION]: '7' },
      ...more.metadata,
    },
    spec: { containers: [], nodeName: 'n1', ...more.spec },
    status: { phase: 'Running', startTime: time(STARTED + 10), ...more.status },
  } as Pod;
}

/** The deadlines that are written this long after the start of the Job, and when it is looked at again. */
async function after(
  seconds: number,
  { pods = [pod()], row = {}, job = jobWith(WALLTIME) }: { pods?: Pod[]; row?: object; job?: never } = {},
) {
  const written: unknown[] = [];
  const client = {
    patch: (_path: string, body: { path: string; value: unknown }[]) => {
      written.push(body.find(({ path }) => path === '/spec/activeDeadlineSeconds')?.value);
      return Promise.resolve({});
    },
  } as unknown as KubernetesClient;
  const orphans = new Orphans({ client, clock: new ManualClock(), now: () => STARTED + seconds });
  const again = await orphans.limitOverdue({ object: job, row: { ...ROW, ...row }, pods });
  return { written, again };
}

test('a pod of a Job that ends in time gets no deadline of its own', async () => {
  expect(await after(WALLTIME)).toEqual({ written: [], again: { after: 60_000 } });
  expect(await after(WALLTIME + 60)).toEqual({ written: [], again: { after: 240_000 } });
});

test('the pods of a Job whose controller does not end them at its deadline get one', async () => {
  expect(await after(WALLTIME + 300)).toEqual({ written: [WALLTIME - 10], again: undefined });
});

test.each([
  ['has started late ends by its walltime', STARTED + 600, 600],
  ['has not started ends by its deadline, which allows for that', null, 3_600],
  ['has started later than its deadline allows for ends by its deadline', STARTED + 9_000, 3_600],
])('a Job that %s', async (_, startedAt, later) => {
  const job = jobWith(WALLTIME + 3_600);
  const row = { startedAt, walltime: WALLTIME };
  expect(await after(WALLTIME + 300, { job, row })).toEqual({
    written: [],
    again: { after: (later - 240) * 1000 },
  });
});

test('a Job that should have left its nodes ends with its grant', async () => {
  const allocation = { ...ROW.allocation, end: STARTED + 145 };
  const row = { allocation, evictionReason: 'preempted by science/other' };
  expect(await after(445, { row })).toEqual({ written: [135], again: undefined });
});

test.each<readonly [string, Parameters<typeof pod>[0]]>([
  ['has ended', { status: { phase: 'Failed' } }],
  ['was deleted', { metadata: { deletionTimestamp: time(STARTED) } }],
  ['is of another grant', { metadata: { annotations: { [JOBID_ANNOTATION]: '6' } } }],
  ['ends earlier', { spec: { activeDeadlineSeconds: 60 } }],
])('a pod that %s stays as it is', async (_, more) => {
  expect((await after(WALLTIME + 300, { pods: [pod(more)] })).written).toEqual([]);
});

/** The pods that are evicted this long after the start of the grant, which were made `waited` seconds before. */
async function evictedAfter(
  seconds: number,
  row: object,
  pods: readonly Pod[],
  { isDeleted = false, waited = 300 } = {},
) {
  const evicted: string[] = [];
  const client = {
    patch: () => Promise.resolve({}),
    create: (path: string) => {
      evicted.push(path);
      return Promise.resolve({});
    },
  } as unknown as KubernetesClient;
  const clock = new ManualClock();
  const orphans = new Orphans({ client, clock, now: () => STARTED + seconds });
  const given = { ...ROW, releasedAt: STARTED, walltime: WALLTIME, ...row };
  const look = () =>
    isDeleted
      ? orphans.limitOrphans(given, pods)
      : orphans.limitOverdue({ object: jobWith(WALLTIME), row: given, pods });
  await look();
  expect(evicted).toEqual([]);
  clock.freeze(waited * 1000);
  await look();
  return evicted;
}

describe('a pod that has never started, of which the kubelet counts no deadline', () => {
  const status = { phase: 'Pending', startTime: undefined };
  const waiting = pod({ spec: { nodeName: undefined, activeDeadlineSeconds: 60 }, status });
  const EVICTED = ['/api/v1/namespaces/science/pods/p/eviction'];

  test.each(['Job', 'JobSet', 'PyTorchJob'])('of a %s ends some time after its walltime', async (kind) => {
    expect(await evictedAfter(WALLTIME + 299, { kind }, [waiting])).toEqual([]);
    expect(await evictedAfter(WALLTIME + 300, { kind }, [waiting])).toEqual(EVICTED);
  });

  test.each(['JobSet', 'PodGroup'])(
    'of a %s that should have left ends some time after that',
    async (kind) => {
      const row = { kind, evictionReason: 'preempted', allocation: { ...ROW.allocation, end: STARTED + 45 } };
      expect(await evictedAfter(344, row, [waiting])).toEqual([]);
      expect(await evictedAfter(345, row, [waiting])).toEqual(EVICTED);
    },
  );

  test('of what is deleted ends with its walltime', async () => {
    const evictedIn = (seconds: number, startedAt: number | null) =>
      evictedAfter(seconds, { startedAt }, [waiting], { isDeleted: true });
    expect(await evictedIn(WALLTIME - 1, null)).toEqual([]);
    expect(await evictedIn(WALLTIME, null)).toEqual(EVICTED);
    // The walltime counts from the first start.
    expect(await evictedIn(WALLTIME + 1199, STARTED + 1200)).toEqual([]);
    expect(await evictedIn(WALLTIME + 1200, STARTED + 1200)).toEqual(EVICTED);
  });

  test.each([true, false])(
    'stays while it is new, if the clock of the queue is ahead, deleted: %s',
    async (isDeleted) => {
      const hours = 3 * 3600;
      expect(await evictedAfter(hours, {}, [waiting], { isDeleted, waited: 299 })).toEqual([]);
      expect(await evictedAfter(hours, {}, [waiting], { isDeleted, waited: 300 })).toEqual(EVICTED);
    },
  );

  test.each<readonly [string, Parameters<typeof pod>[0]]>([
    ['waits for the queue', { spec: { schedulingGates: [{ name: 'fluxqueue' }] }, status }],
    ['has ended', { status: { phase: 'Failed', startTime: undefined } }],
    ['was deleted', { metadata: { deletionTimestamp: time(STARTED) }, status }],
    ['is of another grant', { metadata: { annotations: { [JOBID_ANNOTATION]: '6' } }, status }],
  ])('stays if it %s', async (_, more) => {
    expect(await evictedAfter(WALLTIME + 300, { kind: 'JobSet' }, [pod(more)])).toEqual([]);
  });
});

test.each([
  ['has not started has an hour more', null, 3_600],
  ['has started late ends by its walltime', STARTED + 420, 420],
])('a JobSet that %s', async (_, startedAt, later) => {
  const row = { kind: 'JobSet', startedAt, walltime: WALLTIME };
  expect(await after(WALLTIME + 300, { row })).toEqual({
    written: [],
    again: { after: (later - 240) * 1000 },
  });
});

test('a pod that runs beyond the eviction of its JobSet gets a deadline', async () => {
  const allocation = { ...ROW.allocation, end: STARTED + 145 };
  const row = { kind: 'JobSet', allocation, evictionReason: 'preempted by science/other' };
  expect(await after(445, { row })).toEqual({ written: [135], again: undefined });
});

test('a pod without a Job, and a Job without a walltime, get none', async () => {
  expect(await after(WALLTIME + 300, { row: { kind: 'Pod' } })).toEqual({ written: [], again: undefined });
  const allocation = { ...ROW.allocation, end: STARTED + ENDLESS_SECONDS };
  const endless = { row: { allocation, walltime: ENDLESS_SECONDS }, job: jobWith(undefined) };
  expect(await after(WALLTIME + 300, endless)).toEqual({ written: [], again: undefined });
});

test('a Job that has lost its deadline after its faked end is ended by its walltime', async () => {
  const lost = (startedAt: number | null) => ({
    row: { startedAt, walltime: WALLTIME },
    job: jobWith(undefined),
  });
  expect(await after(WALLTIME + 300, lost(STARTED))).toEqual({ written: [WALLTIME - 10], again: undefined });
  expect(await after(WALLTIME + 300, lost(null))).toEqual({ written: [], again: { after: 3_360_000 } });
});

describe('the FluxJob of a Job whose walltime is over', () => {
  const said = (seconds: number, pods: Pod[] = [pod()], row: object = {}) =>
    new Orphans({
      client: {} as KubernetesClient,
      clock: new ManualClock(),
      now: () => STARTED + seconds,
    }).overrunOf({ object: jobWith(undefined), row: { ...ROW, ...row }, pods } as never);

  test('names the pod that nobody ends, and when the queue does', () => {
    expect(said(WALLTIME + 59)).toBeUndefined();
    expect(said(WALLTIME + 60)).toEqual({
      reason: 'Pending',
      pod: 'p',
      message:
        'its walltime ended at 2027-01-15T09:00:00Z, and pod p still runs, which is charged; the queue ends it 5m after that',
      isPartial: true,
    });
    expect(said(WALLTIME + 300)?.message).toBe(
      'its walltime ended at 2027-01-15T09:00:00Z, and pod p still runs, which is charged; its kubelet has been asked to end it',
    );
  });

  test.each<readonly [string, Parameters<typeof pod>[0]]>([
    ['has ended', { status: { phase: 'Failed' } }],
    ['was asked to end', { metadata: { deletionTimestamp: time(STARTED) } }],
    ['is of another grant', { metadata: { annotations: { [JOBID_ANNOTATION]: '6' } } }],
  ])('says nothing of a pod that %s', (_, more) => {
    expect(said(WALLTIME + 60, [pod(more)])).toBeUndefined();
  });

  test('says nothing of one without a walltime', () => {
    const allocation = { ...ROW.allocation, end: STARTED + ENDLESS_SECONDS };
    expect(said(10 * ENDLESS_SECONDS, [pod()], { allocation })).toBeUndefined();
  });
});

test('a Job of ten years is looked at as late as a timer can', async () => {
  const ten = 10 * 365 * 86_400;
  const allocation = { ...ROW.allocation, end: STARTED + ten };
  const { again } = await after(1, { row: { allocation }, job: jobWith(ten) });
  expect(again).toEqual({ after: 2 ** 31 - 1 });
});
