import { openQueue } from '../../runtime/queue/queue';
import type { Queue } from '../../runtime/queue/store';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { describePostgres } from '../cluster/suite';
import { type Fault, FaultInjector } from '../stack/fault-injector';
import { allocationOf, submission } from './submission';

describePostgres('the ledger', (getPostgres) => {
  let queue: Queue;
  let fence: number;
  let told: string[];
  let doubts: number;

  beforeEach(async () => {
    queue = openQueue({ url: await getPostgres().freshDatabase() });
    await queue.migrate();
    fence = await queue.acquireFence('test');
    told = [];
    doubts = 0;
  });
  afterEach(() => queue.close());

  async function workloadCacheOver(port: Queue): Promise<WorkloadCache> {
    const workloadCache = new WorkloadCache(port, fence, {
      onStale: () => {
        doubts += 1;
      },
    });
    await workloadCache.reload();
    workloadCache.onChange(({ uid, phase }: WorkloadRow) => told.push(`${uid} ${phase}`));
    return workloadCache;
  }

  const lostAnswer = (call: string): Fault => ({ call, nth: 1, when: 'after', crash: false });

  test('an end whose answer was lost is found, and told, when it is read again', async () => {
    const faults = new FaultInjector(lostAnswer('queue.finish'));
    const workloadCache = await workloadCacheOver(faults.around('queue', queue));
    await workloadCache.submit(submission('a'));
    await expect(workloadCache.finish('a', 'Succeeded', 10)).rejects.toMatchObject({
      code: 'FLUXQ_DATABASE_DOWN',
    });
    expect(workloadCache.isStale).toBe(true);
    expect(doubts).toBe(1);
    expect(workloadCache.byUid('a')!.phase).toBe('Waiting');
    await workloadCache.reload();
    expect(workloadCache.isStale).toBe(false);
    expect(workloadCache.byUid('a')).toBeUndefined();
    expect(told).toEqual(['a Waiting', 'a Finished']);
    expect(workloadCache.count('Waiting')).toBe(0);
  });

  test('what is committed while it is read again is newer than what was read', async () => {
    const stale = await workloadCacheOver(queue);
    await stale.submit(submission('a'));
    await stale.submit(submission('b'));
    // A read that answers as things were before the commits that overtake it.
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

  test('a grant that is refused although nothing speaks against it: the mirror is wrong', async () => {
    const workloadCache = await workloadCacheOver(queue);
    const row = (await workloadCache.submit(submission('a')))!;
    const allocation = allocationOf(row);
    await queue.allocate(fence, [{ uid: 'a', allocation }]);
    expect(await workloadCache.allocate([{ uid: 'a', allocation }])).toEqual([]);
    expect(workloadCache.isStale).toBe(true);
    await workloadCache.reload();
    expect(workloadCache.byUid('a')!.phase).toBe('Ready');
  });

  test('a grant that its user overtook is no doubt', async () => {
    const workloadCache = await workloadCacheOver(queue);
    const row = (await workloadCache.submit(submission('a')))!;
    await workloadCache.update({ ...submission('a', { walltime: 90 }), shape: 'other' });
    expect(await workloadCache.allocate([{ uid: 'a', allocation: allocationOf(row) }])).toEqual([]);
    expect(workloadCache.isStale).toBe(false);
  });
});
