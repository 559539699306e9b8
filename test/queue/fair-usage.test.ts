import { Client } from 'pg';
import { usageAt } from '../../runtime/queue/fair-usage';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { Share, WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import type { AllocatedNode } from '../../runtime/resources/types';
import { describePostgres } from '../cluster/suite';
import { submission } from './submission';

const HALF_LIFE = 100;
const UNITS = { cpuMillis: 500, memoryMiB: 2048 };
const NODES: readonly AllocatedNode[] = [
  { name: 'node-1', units: { core: '0-2,7', memory: '0-3' } },
  { name: 'node-2', units: { core: '5,9', gpu: '1' } },
];
/** 3 cores, 8 GiB and 1 gpu with the weights of a queue without configuration. */
const BILLED = 3 + 8 / 4 + 16;
/** Unix second of everything here, independent of the database's clock. */
const T = 1_800_000_000;

describePostgres('usage for fair share', (getPostgres) => {
  let url: string;
  let queue: Queue;
  let fence: number;
  let workloadCache: WorkloadCache;
  let now: number;

  beforeEach(async () => {
    url = await getPostgres().freshDatabase();
    queue = openQueue({ url, units: UNITS, halfLifeSeconds: HALF_LIFE });
    await queue.migrate();
    fence = await queue.acquireFence('leader-1');
    now = T;
    workloadCache = await workloadCacheOf();
  });
  afterEach(() => queue.close());

  async function workloadCacheOf(): Promise<WorkloadCache> {
    const made = new WorkloadCache(queue, fence, {
      units: UNITS,
      halfLifeSeconds: HALF_LIFE,
      now: () => now,
    });
    await made.reload();
    return made;
  }

  async function sql(text: string): Promise<void> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(text);
    await client.end();
  }

  /** A row whose first pod started at this second: 4 + 2 units of half a core on two nodes. */
  async function granted(uid: string, at: number, user = 'ada', nodes = NODES): Promise<WorkloadRow> {
    await queue.submit(fence, [submission(uid, { user })]);
    const [row] = await queue.byUid([uid]);
    await queue.allocate(fence, [{ uid, allocation: { jobid: row!.jobid, start: at, end: at + 60, nodes } }]);
    await sql(`UPDATE fluxqueue.workloads SET allocated_at = to_timestamp(${at - 20}) WHERE uid = '${uid}'`);
    await queue.running(fence, [{ uid, startedAt: at }]);
    await workloadCache.reload();
    return workloadCache.byUid(uid)!;
  }

  const expectedUsage = (cores: number, from: number, until: number, at: number) =>
    usageAt(at, cores, from, until, HALF_LIFE);

  test('stores usage with the statement that frees units, decayed to the end of the workload', async () => {
    await granted('a', T - 300);
    await workloadCache.finish('a', 'Succeeded', T - 100);
    expect(await queue.shares()).toEqual<Share[]>([
      {
        queue: 'default',
        user: 'ada',
        coreSeconds: expect.closeTo(expectedUsage(3, T - 300, T - 100, T - 100)),
        memoryGiBSeconds: expect.closeTo(expectedUsage(8, T - 300, T - 100, T - 100)),
        gpuSeconds: expect.closeTo(expectedUsage(1, T - 300, T - 100, T - 100)),
        asOf: T - 100,
      },
    ]);
  });

  test('adds up to the same for ends in any order, in one statement or several', async () => {
    const spans: [number, number][] = [
      [T - 300, T - 100],
      [T - 900, T - 500],
      [T - 200, T],
      [T - 9e8, T - 8e8],
    ];
    for (const [i, [from]] of spans.entries()) await granted(`w-${i}`, from);
    const end = (i: number) => ({ uid: `w-${i}`, result: 'Succeeded' as const, finishedAt: spans[i]![1] });
    await queue.finish(fence, [end(0), end(1)]);
    await queue.finish(fence, [end(2)]);
    await queue.finish(fence, [end(3)]);
    const sum = spans.reduce((total, [from, until]) => total + expectedUsage(1, from, until, T), 0);
    expect(await queue.shares()).toEqual([
      {
        queue: 'default',
        user: 'ada',
        coreSeconds: expect.closeTo(3 * sum, 6),
        memoryGiBSeconds: expect.closeTo(8 * sum, 6),
        gpuSeconds: expect.closeTo(sum, 6),
        asOf: T,
      },
    ]);
  });

  test('a resource that a user has not used for very long counts nothing and causes no error', async () => {
    const withoutGpu = [{ name: 'node-1', units: { core: '0-3' } }];
    // One that is stored after the second end would be no number after the third.
    for (const [i, ago] of [150_000, 90_000, 0].entries()) {
      await granted(`w-${i}`, T - ago - 60, 'ada', i === 0 ? NODES : withoutGpu);
      await workloadCache.finish(`w-${i}`, 'Succeeded', T - ago);
    }
    const coreSeconds = expect.closeTo(expectedUsage(2, T - 60, T, T));
    expect(await queue.shares()).toMatchObject([{ asOf: T, coreSeconds, gpuSeconds: 0 }]);
  });

  test('the cache equals the tables after a shrink, a requeue and an end, and after a reload', async () => {
    now = Date.now() / 1000;
    const row = await granted('a', now - 50);
    await granted('b', now - 80, 'bob');
    await granted('c', now - 10, 'bob');
    await workloadCache.shrink('a', { ...row.allocation!, nodes: row.allocation!.nodes.slice(1) });
    await workloadCache.requeue({ uid: 'b', cause: 'failure', message: 'node died' });
    await workloadCache.finish('c', 'Failed', now - 5);
    const cached = workloadCache.fairUsage(now + 30);
    const again = (await workloadCacheOf()).fairUsage(now + 30);
    // One uses the clock of this machine, the other that of the database: they may differ by a second.
    for (const user of ['ada', 'bob'])
      expect(Math.abs(cached.userUsage('default', user) - again.userUsage('default', user))).toBeLessThan(
        BILLED,
      );
    expect(again.userUsage('default', 'ada')).toBeGreaterThan(60);
    expect(again.queueUsage('default')).toBeCloseTo(
      again.userUsage('default', 'ada') + again.userUsage('default', 'bob'),
      6,
    );
    expect(again.queueUsage('other')).toBe(0);
    expect(again.halfLifeSeconds).toBe(HALF_LIFE);
  });

  test('counts running workloads continuously, without a step at their end', async () => {
    await granted('a', T);
    const running = workloadCache.fairUsage(T + 70).userUsage('default', 'ada');
    expect(running).toBeCloseTo(expectedUsage(BILLED, T, T + 70, T + 70), 6);
    now = T + 70;
    await workloadCache.finish('a', 'Succeeded', T + 70);
    expect(workloadCache.fairUsage(T + 70).userUsage('default', 'ada')).toBeCloseTo(running, 6);
    expect(workloadCache.fairUsage(T + 170).userUsage('default', 'ada')).toBeCloseTo(running / 2, 6);
  });

  test('weighs resources by the weights of their queue, of running and of ended workloads alike', async () => {
    await granted('a', T);
    const weights = { cores: 2, memoryGiB: 0, gpus: 5 };
    const usage = () => workloadCache.fairUsage(T + 70, () => weights).userUsage('default', 'ada');
    expect(usage()).toBeCloseTo(expectedUsage(3 * 2 + 5, T, T + 70, T + 70), 6);
    now = T + 70;
    await workloadCache.finish('a', 'Succeeded', T + 70);
    expect(usage()).toBeCloseTo(expectedUsage(3 * 2 + 5, T, T + 70, T + 70), 6);
    await workloadCache.reload();
    expect(usage()).toBeCloseTo(expectedUsage(3 * 2 + 5, T, T + 70, T + 70), 6);
  });

  test('counts what a workload uses beyond its grant, while it does, for its user and its queue', async () => {
    await granted('a', T);
    const beyond = new Map([['a', { pods: 1, units: { core: 4 } }]]);
    const usage = () => workloadCache.fairUsage(T + 70, undefined, beyond);
    const more = expectedUsage(BILLED + 2, T, T + 70, T + 70);
    expect([usage().userUsage('default', 'ada'), usage().queueUsage('default')]).toEqual([
      expect.closeTo(more, 6),
      expect.closeTo(more, 6),
    ]);
    beyond.clear();
    expect(usage().userUsage('default', 'ada')).toBeCloseTo(expectedUsage(BILLED, T, T + 70, T + 70), 6);
  });

  async function unstarted(): Promise<void> {
    await queue.submit(fence, [submission('a')]);
    const [row] = await queue.byUid(['a']);
    const nodes = [{ name: 'node-1', units: { core: '0-3' } }];
    await queue.allocate(fence, [
      { uid: 'a', allocation: { jobid: row!.jobid, start: T, end: T + 60, nodes } },
    ]);
    await sql(`UPDATE fluxqueue.workloads SET allocated_at = to_timestamp(${T})`);
    await workloadCache.reload();
  }

  const request = (cause: 'failure' | 'cluster') =>
    workloadCache.requestEviction([{ uid: 'a', cause, message: 'it did not start', end: T + 645 }]);

  test('what did not start for a cause of its own is charged from its grant on', async () => {
    await unstarted();
    await request('failure');
    const running = workloadCache.fairUsage(T + 600).userUsage('default', 'ada');
    expect(running).toBeCloseTo(expectedUsage(2, T, T + 600, T + 600), 6);
    now = T + 600;
    await workloadCache.finish('a', 'Cancelled', T + 600);
    expect(workloadCache.fairUsage(T + 600).userUsage('default', 'ada')).toBeCloseTo(running, 6);
    await workloadCache.reload();
    expect(workloadCache.fairUsage(T + 600).userUsage('default', 'ada')).toBeCloseTo(running, 6);
    const [line] = await queue.accounting({ from: 0, until: 4e9, by: [] });
    expect(line!.cpuHours).toBeCloseTo((2 * 600) / 3600, 6);
  });

  test('and as it is requeued', async () => {
    await unstarted();
    await sql(`UPDATE fluxqueue.workloads SET allocated_at = clock_timestamp() - interval '36 s'`);
    await workloadCache.reload();
    await request('failure');
    const hours = async () => (await queue.accounting({ from: 0, until: 4e9, by: [] }))[0]!.cpuHours;
    expect(await hours()).toBeGreaterThanOrEqual((2 * 36) / 3600);
    await workloadCache.requeue({ uid: 'a', cause: 'failure', message: 'it did not start' });
    expect(await hours()).toBeGreaterThanOrEqual((2 * 36) / 3600);
    expect(await queue.shares()).toMatchObject([{ user: 'ada', coreSeconds: expect.any(Number) }]);
  });

  test('the time that a grant waits for its pods costs nothing, if a cause of the cluster ends it', async () => {
    await unstarted();
    expect(workloadCache.fairUsage(T + 3600).userUsage('default', 'ada')).toBe(0);
    await request('cluster');
    await workloadCache.requeue({ uid: 'a', cause: 'cluster', message: 'its image cannot be pulled' });
    expect(workloadCache.fairUsage(T + 3600).userUsage('default', 'ada')).toBe(0);
    expect(await queue.shares()).toEqual([]);
    expect(await queue.accounting({ from: 0, until: 4e9, by: [] })).toMatchObject([{ cpuHours: 0 }]);
  });

  test('usage of years ago counts nothing and causes no error', async () => {
    await granted('old', 1000);
    await queue.finish(fence, [{ uid: 'old', result: 'Succeeded', finishedAt: 2000 }]);
    await granted('new', T);
    await queue.finish(fence, [{ uid: 'new', result: 'Succeeded', finishedAt: T + 10 }]);
    expect(await queue.shares()).toMatchObject([
      { coreSeconds: expect.closeTo(expectedUsage(3, T, T + 10, T + 10), 6) },
    ]);
  });
});
