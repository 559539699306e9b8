import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { describePostgres } from '../cluster/suite';
import { type Fault, FaultInjector } from '../stack/fault-injector';
import { allocationOf, submission } from './submission';

describePostgres('the workload cache', (getPostgres) => {
  let queue: Queue;
  let fence: number;
  let notified: string[];
  let staleCalls: number;

  beforeEach(async () => {
    queue = openQueue({ url: await getPostgres().freshDatabase() });
    await queue.migrate();
    fence = await queue.acquireFence('test');
    notified = [];
    staleCalls = 0;
  });
  afterEach(() => queue.close());

  async function workloadCacheOver(port: Queue): Promise<WorkloadCache> {
    const workloadCache = new WorkloadCache(port, fence, {
      onStale: () => {
        staleCalls += 1;
      },
    });
    await workloadCache.reload();
    workloadCache.onChange(({ uid, phase }: WorkloadRow) => notified.push(`${uid} ${phase}`));
    return workloadCache;
  }

  const lostAnswer = (call: string): Fault => ({ call, nth: 1, when: 'after', crash: false });

  test('a reload notifies of a row that finished although the answer was lost', async () => {
    const faults = new FaultInjector(lostAnswer('queue.finish'));
    const workloadCache = await workloadCacheOver(faults.around('queue', queue));
    await workloadCache.submit(submission('a'));
    await expect(workloadCache.finish('a', 'Succeeded', 10)).rejects.toMatchObject({
      code: 'FLUXQ_DATABASE_DOWN',
    });
    expect(workloadCache.isStale).toBe(true);
    expect(staleCalls).toBe(1);
    expect(workloadCache.byUid('a')!.phase).toBe('Waiting');
    await workloadCache.reload();
    expect(workloadCache.isStale).toBe(false);
    expect(workloadCache.byUid('a')).toBeUndefined();
    expect(notified).toEqual(['a Waiting', 'a Finished']);
    expect(workloadCache.count('Waiting')).toBe(0);
  });

  test('rows that are committed during a reload are newer than those which it reads', async () => {
    const stale = await workloadCacheOver(queue);
    await stale.submit(submission('a'));
    await stale.submit(submission('b'));
    // A read that returns the rows from before the commits.
    const slow: Queue = Object.create(queue, {
      active: {
        value: async () => {
          const rows = await queue.active();
          await workloadCache.finish('a', 'Succeeded', 10);
          await workloadCache.submit(submission('c'));
          return rows;
        },
      },
    });
    const workloadCache = new WorkloadCache(slow, fence);
    await workloadCache.reload();
    expect([...workloadCache.active()].map(({ uid }) => uid).sort()).toEqual(['b', 'c']);
    expect(workloadCache.byName('Job', 'science', 'job-a')).toBeUndefined();
    expect(workloadCache.count('Waiting')).toBe(2);
  });

  test('a refused allocation that the cache allows makes it stale', async () => {
    const workloadCache = await workloadCacheOver(queue);
    const row = (await workloadCache.submit(submission('a')))!;
    const allocation = allocationOf(row);
    await queue.allocate(fence, [{ uid: 'a', allocation }]);
    expect(await workloadCache.allocate([{ uid: 'a', allocation }])).toEqual([]);
    expect(workloadCache.isStale).toBe(true);
    await workloadCache.reload();
    expect(workloadCache.byUid('a')!.phase).toBe('Ready');
  });

  test('an allocation that is refused after an update of the row does not make it stale', async () => {
    const workloadCache = await workloadCacheOver(queue);
    const row = (await workloadCache.submit(submission('a')))!;
    await workloadCache.update({ ...submission('a', { walltime: 90 }), shape: 'other' });
    expect(await workloadCache.allocate([{ uid: 'a', allocation: allocationOf(row) }])).toEqual([]);
    expect(workloadCache.isStale).toBe(false);
  });
});
