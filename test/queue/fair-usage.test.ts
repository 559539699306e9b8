import { Client } from 'pg';
import { usageAt } from '../../runtime/queue/fair-usage';
import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { Share, WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { describePostgres } from '../cluster/suite';
import { submission } from './submission';

const HALF_LIFE = 100;
const UNITS = { cpuMillis: 500, memoryMiB: 2048 };
/** When everything here happens; a database's clock has no part in it. */
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
      cpuMillis: UNITS.cpuMillis,
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

  /** Granted at this second: 4 + 2 core units of half a core on two nodes. */
  async function granted(uid: string, at: number, user = 'ada'): Promise<WorkloadRow> {
    await queue.submit(fence, [submission(uid, { user })]);
    const [row] = await queue.byUid([uid]);
    const nodes = [
      { name: 'node-1', units: { core: '0-2,7', memory: '0-3' } },
      { name: 'node-2', units: { core: '5,9', gpu: '1' } },
    ];
    await queue.allocate(fence, [{ uid, allocation: { jobid: row!.jobid, start: at, end: at + 60, nodes } }]);
    await sql(`UPDATE fluxqueue.workloads SET allocated_at = to_timestamp(${at}) WHERE uid = '${uid}'`);
    await workloadCache.reload();
    return workloadCache.byUid(uid)!;
  }

  const worth = (cores: number, from: number, until: number, at: number) =>
    usageAt(at, cores, from, until, HALF_LIFE);

  test('what ended is stored by the statement that freed it, decayed to its end', async () => {
    await granted('a', T - 300);
    await workloadCache.finish('a', 'Succeeded', T - 100);
    expect(await queue.shares()).toEqual<Share[]>([
      {
        queue: 'default',
        user: 'ada',
        coreSeconds: expect.closeTo(worth(3, T - 300, T - 100, T - 100)),
        asOf: T - 100,
      },
    ]);
  });

  test('ends in any order, in one statement or several, add up to the same', async () => {
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
    const sum = spans.reduce((total, [from, until]) => total + worth(3, from, until, T), 0);
    expect(await queue.shares()).toEqual([
      { queue: 'default', user: 'ada', coreSeconds: expect.closeTo(sum, 6), asOf: T },
    ]);
  });

  test('the mirror says the same as the tables: by shrink, requeue and end, and after it is read again', async () => {
    now = Date.now() / 1000;
    const row = await granted('a', now - 50);
    await granted('b', now - 80, 'bob');
    await granted('c', now - 10, 'bob');
    await workloadCache.shrink('a', { ...row.allocation!, nodes: row.allocation!.nodes.slice(1) });
    await workloadCache.requeue({ uid: 'b', cause: 'failure', message: 'node died' });
    await workloadCache.finish('c', 'Failed', now - 5);
    const mirror = workloadCache.fairUsage(now + 30);
    const again = (await workloadCacheOf()).fairUsage(now + 30);
    // The one asks this machine's clock when it was freed, the other the database's.
    for (const user of ['ada', 'bob'])
      expect(Math.abs(mirror.userUsage('default', user) - again.userUsage('default', user))).toBeLessThan(3);
    expect(again.userUsage('default', 'ada')).toBeGreaterThan(60);
    expect(again.queueUsage('default')).toBeCloseTo(
      again.userUsage('default', 'ada') + again.userUsage('default', 'bob'),
      6,
    );
    expect(again.queueUsage('other')).toBe(0);
    expect(again.halfLifeSeconds).toBe(HALF_LIFE);
  });

  test('what runs counts as it runs, and ends at what it was worth', async () => {
    await granted('a', T);
    const running = workloadCache.fairUsage(T + 70).userUsage('default', 'ada');
    expect(running).toBeCloseTo(worth(3, T, T + 70, T + 70), 6);
    now = T + 70;
    await workloadCache.finish('a', 'Succeeded', T + 70);
    expect(workloadCache.fairUsage(T + 70).userUsage('default', 'ada')).toBeCloseTo(running, 6);
    expect(workloadCache.fairUsage(T + 170).userUsage('default', 'ada')).toBeCloseTo(running / 2, 6);
  });

  test('a share of years ago is nothing, and no error', async () => {
    await granted('old', 1000);
    await queue.finish(fence, [{ uid: 'old', result: 'Succeeded', finishedAt: 2000 }]);
    await granted('new', T);
    await queue.finish(fence, [{ uid: 'new', result: 'Succeeded', finishedAt: T + 10 }]);
    expect(await queue.shares()).toMatchObject([
      { coreSeconds: expect.closeTo(worth(3, T, T + 10, T + 10), 6) },
    ]);
  });
});
