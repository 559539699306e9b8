/** Who is preempted, when, and what a queue lends, on the real control plane. */
import { describeStack, eachInFreshNamespace } from './suite';
import { type Namespace, UNTIL_ENDED } from './workloads';

const MIN_RUNTIME_SECONDS = 6;

describeStack(
  'preemption and lending',
  (getFixture) => {
    let science: Namespace;

    eachInFreshNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    /** A Job that fills a node of 4 cores. */
    const job = (name: string, queue: string, priority: number, runs = UNTIL_ENDED) =>
      science.job(name, {
        cores: 4,
        runs,
        labels: { 'fluxqueue/queue': queue },
        annotations: { 'fluxqueue/priority': String(priority), 'fluxqueue/preemptible': 'true' },
      });

    test('a preemptor at priority 10 takes the 0 and spares the 9, which is younger', async () => {
      await science.fluxSetup('calm', { preemption: { minRuntime: '0s' } });
      await science.fluxSetup('urgent', { preemption: { policy: 'LowerPriority' } });
      const zero = await job('zero', 'calm', 0);
      await science.phase(zero, 'Running');
      const nine = await job('nine', 'calm', 9);
      await science.phase(nine, 'Running');
      const ten = await job('ten', 'urgent', 10, '1s');
      await science.phase(ten, 'Finished');
      expect((await science.row(zero))!).toMatchObject({ preemptions: 1, requeues: 0 });
      expect((await science.row(nine))!).toMatchObject({ phase: 'Running', preemptions: 0 });
      await science.phase(zero, 'Running');
    });

    test('a workload is preempted once it has run for the minimum time of its queue', async () => {
      await science.fluxSetup('calm', { preemption: { minRuntime: `${MIN_RUNTIME_SECONDS}s` } });
      await science.fluxSetup('urgent', { preemption: { policy: 'LowerPriority' } });
      const low = [await job('low-0', 'calm', 0), await job('low-1', 'calm', 0)];
      const [first, second] = [
        await science.phase(low[0]!, 'Running'),
        await science.phase(low[1]!, 'Running'),
      ];
      const ten = await job('ten', 'urgent', 10, '1s');
      const ended = await science.phase(ten, 'Finished');
      const earliest = Math.min(first.startedAt!, second.startedAt!) + MIN_RUNTIME_SECONDS;
      expect(ended.allocatedAt!).toBeGreaterThanOrEqual(earliest);
      const rows = [(await science.row(low[0]!))!, (await science.row(low[1]!))!];
      expect(rows.map(({ preemptions }) => preemptions).sort()).toEqual([0, 1]);
    });

    test('a cohort borrows of a quota no more than its lending limit, and the owner starts at once', async () => {
      const cohort = science.name;
      await science.fluxSetup('owner', { cohort, quota: { cores: 4 }, lendingLimit: { cores: 1 } });
      await science.fluxSetup('guest', { cohort, quota: { cores: 2 } });
      const of = (queue: string, cores: number) => ({
        cores,
        runs: UNTIL_ENDED,
        labels: { 'fluxqueue/queue': queue },
      });
      const borrows = await science.job('borrows', of('guest', 3));
      await science.phase(borrows, 'Running');
      const more = await science.job('more', of('guest', 1));
      const waits = await science.phase(more, 'Waiting', 'QuotaExceeded');
      expect(waits.message).toBe(
        `needs 1 core, more than is left of the quota of cohort ${cohort} without what other queues keep (3 cores in all)`,
      );
      const own = await science.job('own', of('owner', 3));
      await science.phase(own, 'Running');
      expect((await science.row(more))!.phase).toBe('Waiting');
    });
  },
  { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
);
