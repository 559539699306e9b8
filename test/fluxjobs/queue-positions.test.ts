import { QueuePositions } from '../../runtime/fluxjobs/queue-positions';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import { WorkloadCache } from '../../runtime/queue/workload-cache';
import { describePostgres } from '../cluster/suite';
import { submission } from '../queue/submission';

describePostgres('queue positions', (getPostgres) => {
  test('follow priority, then age, then arrival, separately for each queue', async () => {
    const queue = openQueue({ url: await getPostgres().freshDatabase(), units: DEFAULT_UNITS });
    try {
      await queue.migrate();
      const workloadCache = new WorkloadCache(queue, await queue.acquireFence('test'));
      let now = 50;
      const positions = new QueuePositions(
        workloadCache,
        () => ({ now, settingsOf: () => undefined }),
        () => now,
      );
      workloadCache.onChange(() => positions.invalidate());
      await workloadCache.submit(submission('late', { submittedAt: 20 }));
      await workloadCache.submit(submission('early', { submittedAt: 10 }));
      await workloadCache.submit(submission('urgent', { submittedAt: 30, priority: 1 }));
      await workloadCache.submit(submission('other', { submittedAt: 40, queue: 'gpu' }));
      const all = () => ['urgent', 'early', 'late', 'other'].map((uid) => positions.of(uid));
      expect(all()).toEqual([1, 2, 3, 1]);
      expect([...positions.front()].sort()).toEqual(['early', 'late', 'other', 'urgent']);
      const { jobid } = workloadCache.byUid('urgent')!;
      const nodes = [{ name: 'node-1', units: { core: '0', memory: '0' } }];
      await workloadCache.allocate([{ uid: 'urgent', allocation: { jobid, start: 0, end: 60, nodes } }]);
      expect(all()).toEqual([undefined, 1, 2, 1]);

      // Of many workloads the positions are computed once per second.
      await queue.submit(
        1,
        Array.from({ length: 600 }, (_, i) => submission(`many-${i}`, { submittedAt: 100 + i })),
      );
      await workloadCache.reload();
      positions.invalidate();
      expect(positions.of('many-599')).toBe(602);
      await workloadCache.submit(submission('last', { submittedAt: 900 }));
      expect([positions.of('last'), positions.of('many-599')]).toEqual([undefined, 602]);
      now += 1;
      expect(positions.of('last')).toBe(603);
    } finally {
      await queue.close();
    }
  });
});
