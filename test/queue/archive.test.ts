import type { AccountingLine, AccountingQuery } from '../../runtime/queue/accounting';
import { ARCHIVE } from '../../runtime/queue/archive';
import { MOST_OF_NAME } from '../../runtime/queue/history';
import type { Queue } from '../../runtime/queue/store';
import { HANDED_BACK, type Result, type Submission } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import type { Allocation } from '../../runtime/resources/types';
import { describePostgres } from '../cluster/suite';
import { type Explained, rowsTouched } from './plan';
import { useQueue } from './queue-fixture';
import { submission } from './submission';

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Noon, 1 November 2026, UTC. */
const NOON = Date.UTC(2026, 10, 1, 12) / 1000;

describePostgres('accounting and the archive', (getPostgres) => {
  const database = useQueue(getPostgres, { cpuMillis: 500, memoryMiB: 2048 });
  const sql = <T>(text: string, values?: unknown[]): Promise<T[]> => database.sql<T>(text, values);
  let queue: Queue;
  let fence: number;
  beforeEach(() => {
    ({ queue, fence } = database);
  });

  /** Four units of half a core, two of 2 GiB, one gpu. */
  const allocation = (jobid: number): Allocation => ({
    jobid,
    start: 0,
    end: 60,
    nodes: [{ name: 'node-1', units: { core: '0-3', memory: '4,6', gpu: '0' } }],
  });

  async function grant(uid: string, at: number, over: Partial<Submission> = {}): Promise<void> {
    const [row] = await queue.submit(fence, [submission(uid, { submittedAt: at - 60, ...over })]);
    await queue.allocate(fence, [{ uid, allocation: allocation(row!.jobid) }]);
    await sql('UPDATE fluxqueue.workloads SET allocated_at = to_timestamp($2) WHERE uid = $1', [uid, at]);
    await queue.running(fence, [{ uid, startedAt: at }]);
  }

  async function ran(
    uid: string,
    from: number,
    until: number,
    over: Partial<Submission> = {},
    result: Result = 'Succeeded',
  ): Promise<void> {
    await grant(uid, from, over);
    await queue.finish(fence, [{ uid, result, finishedAt: until }]);
  }

  const hours = (n: number) => ({
    cpuHours: expect.closeTo(2 * n, 6),
    memoryGiBHours: expect.closeTo(4 * n, 6),
    gpuHours: expect.closeTo(n, 6),
  });

  /** All usage by all keys. Archiving must not change it. */
  const everything = (over: Partial<AccountingQuery> = {}): Promise<AccountingLine[]> =>
    queue.accounting({
      from: NOON - 5 * DAY,
      until: NOON + 5 * DAY,
      by: ['queue', 'namespace', 'user'],
      ...over,
    });

  test('sums hours of cores, memory and gpus within the period, by queue and user', async () => {
    await ran('a', NOON, NOON + 2 * HOUR, { user: 'ada', pods: 3 });
    await ran('b', NOON + HOUR, NOON + 2 * HOUR, { user: 'bob' });
    await ran('c', NOON - HOUR, NOON + HOUR, { user: 'bob', queue: 'lab/gpu' });
    await queue.submit(fence, [submission('waits')]);
    expect(await queue.accounting({ from: NOON, until: NOON + DAY, by: ['queue', 'user'] })).toEqual([
      { queue: 'default', user: 'ada', jobs: 1, pods: 3, ...hours(2) },
      { queue: 'default', user: 'bob', jobs: 1, pods: 1, ...hours(1) },
      { queue: 'lab/gpu', user: 'bob', jobs: 1, pods: 1, ...hours(1) },
    ]);
    expect(await queue.accounting({ from: NOON, until: NOON + DAY, by: ['user'] })).toEqual([
      { user: 'ada', jobs: 1, pods: 3, ...hours(2) },
      { user: 'bob', jobs: 2, pods: 2, ...hours(2) },
    ]);
    expect(await queue.accounting({ from: NOON, until: NOON + DAY, by: [] })).toEqual([
      { jobs: 3, pods: 5, ...hours(4) },
    ]);
    expect(await queue.accounting({ from: 0, until: 1, by: [] })).toEqual([
      { jobs: 0, pods: 0, ...hours(0) },
    ]);
    expect(await queue.accounting({ from: 0, until: 1, by: ['user'] })).toEqual([]);
  });

  test('counts running workloads until now, and requeued ones for the time they held units', async () => {
    const now = Date.now() / 1000;
    await grant('runs', now - HOUR);
    await grant('again', now - 2 * HOUR);
    await queue.requeue(fence, [{ uid: 'again', cause: 'failure', message: 'node died' }]);
    const [line] = await queue.accounting({ from: now - DAY, until: now + DAY, by: ['queue'] });
    expect(line).toMatchObject({ jobs: 0, pods: 0 });
    expect(Math.abs(line!.gpuHours - 3)).toBeLessThan(0.05);
    const [past] = await queue.accounting({ from: now - DAY, until: now - 1.5 * HOUR, by: [] });
    expect(past!.gpuHours).toBeCloseTo(0.5, 3);
  });

  test('archiving changes no sum, splits usage at midnight, and leaves younger workloads', async () => {
    await ran('a', NOON, NOON + 30 * HOUR, { user: 'ada' });
    await ran('b', NOON - HOUR, NOON, { user: 'ada', pods: 2 });
    await ran('young', NOON + DAY, NOON + 2 * DAY, { user: 'bob' });
    await queue.finish(fence, [{ uid: 'b', result: 'Failed', finishedAt: NOON }]);
    const before = await everything();
    expect(await queue.archive(fence, NOON + 31 * HOUR)).toBe(2);
    expect(await everything()).toEqual(
      before.map((line) => ({
        ...line,
        cpuHours: expect.closeTo(line.cpuHours, 6),
        memoryGiBHours: expect.closeTo(line.memoryGiBHours, 6),
        gpuHours: expect.closeTo(line.gpuHours, 6),
      })),
    );
    expect(await queue.byUid(['a', 'b', 'young'])).toMatchObject([{ uid: 'young' }]);
    expect(
      await sql('SELECT day::text, jobs::int, pods::int, gpu_seconds FROM fluxqueue.usage_days ORDER BY day'),
    ).toEqual([
      { day: '2026-11-01', jobs: 1, pods: 2, gpu_seconds: 13 * HOUR },
      { day: '2026-11-02', jobs: 1, pods: 1, gpu_seconds: 18 * HOUR },
    ]);
    // Later workloads are added to the same days.
    expect(await queue.archive(fence, NOON + 10 * DAY)).toBe(1);
    expect(await everything()).toHaveLength(2);
    expect(await sql('SELECT sum(jobs)::int AS jobs FROM fluxqueue.usage_days')).toEqual([{ jobs: 3 }]);
    expect(await sql('SELECT FROM fluxqueue.usage')).toEqual([]);
  });

  test('archives in batches, the oldest first, and never active workloads', async () => {
    for (let i = 0; i < 5; i++) await ran(`w-${i}`, NOON + i, NOON + 10 - i);
    await grant('runs', NOON - 9 * DAY);
    expect(await queue.archive(fence, NOON + DAY, 2)).toBe(2);
    expect(
      (await sql<{ uid: string }>('SELECT uid FROM fluxqueue.archive ORDER BY uid')).map(({ uid }) => uid),
    ).toEqual(['w-3', 'w-4']);
    expect(await queue.archive(fence, NOON + DAY, 2)).toBe(2);
    expect(await queue.archive(fence, NOON + DAY, 2)).toBe(1);
    expect(await queue.archive(fence, NOON + DAY, 2)).toBe(0);
    expect((await queue.active()).map(({ uid }) => uid)).toEqual(['runs']);
  });

  test('an old leader archives nothing', async () => {
    await ran('a', NOON, NOON + 1);
    await queue.acquireFence('another');
    await expect(queue.archive(fence, NOON + DAY)).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
    expect(await queue.byUid(['a'])).toHaveLength(1);
  });

  test('returns the history by name before and after workloads are archived', async () => {
    await ran('first', NOON, NOON + 1, { name: 'train' }, 'Failed');
    await ran('second', NOON + 5, NOON + 6, { name: 'train', kind: 'Pod' });
    await ran('else', NOON, NOON + 1, { name: 'train', namespace: 'lab' });
    const history = async () =>
      (await queue.historyOf('science', 'train')).map(
        ({ kind, uid, actor, event, why }) => `${kind} ${uid}: ${actor} ${event}: ${why}`,
      );
    const expected = [
      'Job first: ada Submitted: was admitted and added to the queue',
      'Job first: leader-1 Allocated: enough units were free for it',
      'Job first: leader-1 Running: its first pod runs',
      'Job first: leader-1 Finished: it failed',
      'Pod second: ada Submitted: was admitted and added to the queue',
      'Pod second: leader-1 Allocated: enough units were free for it',
      'Pod second: leader-1 Running: its first pod runs',
      'Pod second: leader-1 Finished: it succeeded',
    ];
    expect(await history()).toEqual(expected);
    const whole = await queue.history('first');
    await queue.archive(fence, NOON + 3);
    expect(await history()).toEqual(expected);
    expect(await queue.history('first')).toEqual(whole);
    await queue.archive(fence, NOON + DAY);
    expect(await history()).toEqual(expected);
    expect(await queue.historyOf('science', 'nothing')).toEqual([]);
  });

  test('tells the newest workloads of a name that was used very often', async () => {
    await ran('w', NOON, NOON + 1, { name: 'again' });
    await queue.archive(fence, NOON + DAY);
    await sql(`INSERT INTO fluxqueue.archive SELECT 'w-' || i, namespace, name, submitted_at, seq + i, result, workload, events
      FROM fluxqueue.archive, generate_series(1, ${MOST_OF_NAME}) i`);
    const uids = new Set((await queue.historyOf('science', 'again')).map(({ uid }) => uid));
    expect(uids).toEqual(new Set(Array.from({ length: MOST_OF_NAME }, (_, i) => `w-${i + 1}`)));
  });

  test('returns the result of an archived workload to its dependents, and refuses an archived uid', async () => {
    await ran('p', NOON, NOON + 1, { name: 'prep' }, 'TimedOut');
    await queue.archive(fence, NOON + DAY);
    expect(await queue.submit(fence, [submission('p', { name: 'prep' })])).toEqual([]);
    const workloadCache = new WorkloadCache(queue, fence);
    await workloadCache.reload();
    await workloadCache.submit(submission('w', { after: [{ type: 'afterok', name: 'prep' }] }));
    expect(workloadCache.outcomeOf('science', 'prep')).toBe('TimedOut');
  });

  test('knows no end of a workload that was handed back, archived or not', async () => {
    const fields = { name: 'prep' };
    await queue.submit(fence, [submission('p', fields)]);
    await queue.finish(fence, [{ uid: 'p', result: 'Cancelled', finishedAt: NOON, message: HANDED_BACK }]);
    const names = [{ namespace: 'science', name: 'prep' }];
    const ends = async () => (await queue.outcomes(names)).map(({ result }) => result);
    expect(await ends()).toEqual(['HandedBack']);
    await queue.archive(fence, NOON + DAY);
    expect(await ends()).toEqual(['HandedBack']);
    const workloadCache = new WorkloadCache(queue, fence);
    await workloadCache.reload();
    await workloadCache.submit(submission('w', { after: [{ type: 'afterok', name: 'prep' }] }));
    expect(workloadCache.outcomeOf('science', 'prep')).toBe('HandedBack');
  });

  test('returns the newest result of each of many names', async () => {
    await ran('p1', NOON, NOON + 1, { name: 'prep', submittedAt: 10 }, 'Succeeded');
    await ran('p2', NOON, NOON + 1, { name: 'prep', submittedAt: 20 }, 'Failed');
    await ran('s1', NOON, NOON + 1, { name: 'scan', submittedAt: 30 }, 'Cancelled');
    await queue.submit(fence, [submission('s2', { name: 'scan', submittedAt: 40 })]);
    const found = await queue.outcomes([
      { namespace: 'science', name: 'prep' },
      { namespace: 'science', name: 'scan' },
      { namespace: 'lab', name: 'prep' },
      { namespace: 'science', name: 'no\0one' },
    ]);
    expect(found.map(({ name, result, submittedAt }) => [name, result, submittedAt])).toEqual([
      ['prep', 'Failed', 20],
      ['scan', 'Cancelled', 30],
    ]);
    const workloadCache = new WorkloadCache(queue, fence);
    await workloadCache.reload();
    await workloadCache.submit(
      submission('w', {
        after: ['prep', 'scan', 'ghost'].map((name) => ({ type: 'afterany' as const, name })),
      }),
    );
    const outcomes = () => ['prep', 'scan', 'ghost'].map((name) => workloadCache.outcomeOf('science', name));
    expect(outcomes()).toEqual(['Failed', 'active', undefined]);
    await workloadCache.finish('s2', 'Succeeded', NOON);
    expect(outcomes()).toEqual(['Failed', 'Succeeded', undefined]);
    await workloadCache.reload();
    expect(outcomes()).toEqual(['Failed', 'Succeeded', undefined]);
  });

  test('archiving ten thousand workloads in batches has linear cost', async () => {
    await sql(`
      INSERT INTO fluxqueue.workloads (uid, kind, namespace, name, queue, priority, submitted_at, walltime, pods,
        jobspec, shape, held, usr, phase, result, finished_at)
      SELECT 'old-' || n, 'Job', 'science', 'job-' || n, 'default', 0, now(), 60, 1, '{}', 's', false, 'u' || n % 20,
        'Finished', 'Succeeded', to_timestamp(n) FROM generate_series(1, 10000) n;
      INSERT INTO fluxqueue.events (fence, uid, actor, event, detail)
      SELECT 1, 'old-' || n, 'x', 'Submitted', '{}' FROM generate_series(1, 10000) n, generate_series(1, 5);
      INSERT INTO fluxqueue.usage (uid, jobid, namespace, queue, usr, nodes, cores, memory_gib, gpus, held_from, held_until)
      SELECT 'old-' || n, n, 'science', 'default', 'u' || n % 20, '[]', 1, 1, 0, to_timestamp(n - 90), to_timestamp(n)
      FROM generate_series(1, 10000) n`);
    const [answer] = await sql<Explained>(`EXPLAIN (ANALYZE, FORMAT JSON) ${ARCHIVE}`, [fence, 10_001, 1000]);
    expect(rowsTouched(answer!)).toBeLessThan(200_000);
    for (let left = 9_000; left > 0; left -= 3_000)
      expect(await queue.archive(fence, 10_001, 3_000)).toBe(3_000);
    expect(await queue.archive(fence, 10_001)).toBe(0);
    const [total] = await queue.accounting({ from: -DAY, until: DAY, by: [] });
    expect(total).toMatchObject({ jobs: 10_000, cpuHours: expect.closeTo(250, 6) });
  });
});
