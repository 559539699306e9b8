/** Quotas of queues that lend, take back and share, on the real control plane: nothing idles, and evictions end. */
import type { Job } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { waitFor } from '../cluster/wait';
import { describeStack, eachInFreshNamespace } from './suite';
import { type Namespace, type Shape, UNTIL_ENDED } from './workloads';

const WALLTIME = { 'fluxqueue/walltime': '1h' };

describeStack(
  'quotas of queues that share',
  (getFixture) => {
    let science: Namespace;

    eachInFreshNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    const job = (
      name: string,
      queue: string,
      cores: number,
      { annotations, ...over }: Shape & { priority?: number } = {},
    ) =>
      science.job(name, {
        cores,
        runs: UNTIL_ENDED,
        labels: { 'fluxqueue/queue': queue },
        annotations: { ...WALLTIME, 'fluxqueue/priority': `${over.priority ?? 0}`, ...annotations },
        ...over,
      });

    /** Running, each started before the next one is created. */
    async function running(...all: readonly (() => Promise<Job>)[]): Promise<readonly Job[]> {
      const started: Job[] = [];
      for (const create of all) {
        const one = await create();
        await science.phase(one, 'Running');
        started.push(one);
      }
      return started;
    }

    const rowsOf = (jobs: readonly Job[]) =>
      Promise.all(jobs.map((one) => science.row(one) as Promise<WorkloadRow>));
    const preemptionsOf = async (jobs: readonly Job[]) =>
      (await rowsOf(jobs)).map(({ preemptions }) => preemptions);

    test('no quota idles in a queue that reclaims, where Jobs end long before their walltime', async () => {
      const cohort = science.name;
      await science.fluxSetup('owner', { cohort, quota: { cores: 8 }, reclaim: true });
      await science.fluxSetup('guest', { cohort, quota: { cores: 4 } });
      const large = ['large-0', 'large-1', 'large-2'].map((name) =>
        job(name, 'owner', 2, { pods: 4, runs: '1s' }),
      );
      const small = ['small-0', 'small-1', 'small-2'].map((name) => job(name, 'owner', 1, { runs: '1s' }));
      // A promise by walltimes would be an hour away.
      for (const one of await Promise.all([...large, ...small])) await science.phase(one, 'Finished');
    });

    test('a borrower of higher priority is evicted once, and does not take the place of the owner', async () => {
      const cohort = science.name;
      await science.fluxSetup('owner', { cohort, quota: { cores: 8 }, reclaim: true });
      await science.fluxSetup('guest', { cohort });
      const borrowers = await running(
        () => job('guest-0', 'guest', 4, { priority: 1 }),
        () => job('guest-1', 'guest', 4, { priority: 1 }),
      );
      const own = await job('own', 'owner', 4);
      await science.phase(own, 'Running');
      expect(await preemptionsOf(borrowers)).toEqual([0, 1]);
      await science.end(own);
      await science.phase(borrowers[1]!, 'Running');
    });

    test('what one borrower has left early is kept for the owner while another one leaves late', async () => {
      const cohort = science.name;
      await science.fluxSetup('owner', { cohort, quota: { cores: 8 }, reclaim: true });
      await science.fluxSetup('guest', { cohort });
      const [late, early] = await running(
        () => job('late', 'guest', 4, { stuck: true, priority: 1 }),
        () => job('early', 'guest', 4, { priority: 1 }),
      );
      const own = await job('own', 'owner', 4, { pods: 2 });
      await science.phase(early!, 'Waiting');
      await waitFor('the first prediction of its end to pass', async () => {
        const { allocation } = (await science.row(late!))!;
        return allocation !== null && allocation.end < Date.now() / 1000;
      });
      const [waits] = await rowsOf([early!]);
      expect(waits).toMatchObject({ phase: 'Waiting', preemptions: 1 });
      for (const pod of await science.podsOf(late!))
        await science.patch(pod, 'Pod', { metadata: { finalizers: [] } });
      await science.phase(own, 'Running');
      expect(await preemptionsOf([late!, early!])).toEqual([1, 1]);
    });

    test('a priority takes the place of a lower one within a full quota, on nodes that have room', async () => {
      await science.fluxSetup('team', {
        quota: { cores: 4 },
        preemption: { policy: 'LowerPriority', minRuntime: '0s' },
      });
      const annotations = { 'fluxqueue/preemptible': 'true' };
      const [low] = await running(() => job('low', 'team', 4, { priority: -10, annotations }));
      const urgent = await job('urgent', 'team', 4, { priority: 100, runs: '1s' });
      await science.phase(urgent, 'Finished');
      await science.phase(low!, 'Running');
      expect(await preemptionsOf([low!])).toEqual([1]);
    });

    test('a queue with the smaller share of its cohort takes the place of a borrower, once', async () => {
      const lab = { cohort: science.name, quota: { cores: 2 } };
      await science.fluxSetup('heavy', { ...lab, preemption: { minRuntime: '0s' } });
      await science.fluxSetup('light', { ...lab, preemption: { fairSharing: 'LessThanInitialShare' } });
      await science.fluxSetup('idle', { ...lab, quota: { cores: 4 } });
      const heavy = await running(
        () => job('heavy-0', 'heavy', 4, { priority: 1 }),
        () => job('heavy-1', 'heavy', 4, { priority: 1 }),
      );
      const light = await job('light', 'light', 4);
      await science.phase(light, 'Running');
      expect(await preemptionsOf(heavy)).toEqual([0, 1]);
      const events = await getFixture().queue.history(heavy[1]!.metadata.uid);
      expect(events.map(({ why }) => why)).toContainEqual(
        expect.stringContaining(`whose queue has a smaller share of cohort ${science.name}`),
      );
      await science.end(light);
      await science.phase(heavy[1]!, 'Running');
    });

    test('aging of a thousandth point an hour does not put its queue before others', async () => {
      await science.fluxSetup('aging', { agingPerHour: 0.001 });
      await science.fluxSetup('plain');
      const [blocks] = await running(() => job('blocks', 'plain', 4, { pods: 2 }));
      const first = await job('first', 'plain', 4, { pods: 2 });
      await science.phase(first, 'Waiting', 'Reserved');
      const later = await job('later', 'aging', 4, { pods: 2 });
      await science.phase(later, 'Waiting');
      await science.end(blocks!);
      await science.phase(first, 'Running');
      expect((await science.row(later))!.phase).toBe('Waiting');
    });

    test('two queues have one reservation together, and what delays it by nothing is backfilled', async () => {
      for (const queue of ['one', 'two']) await science.fluxSetup(queue);
      await running(() => job('blocks', 'one', 4));
      const first = await job('first', 'one', 4, { pods: 2 });
      const { estimatedStart } = await science.phase(first, 'Waiting', 'Reserved');
      expect(estimatedStart).not.toBeNull();
      const second = await job('second', 'two', 4, { pods: 2 });
      expect((await science.phase(second, 'Waiting', 'Busy')).estimatedStart).toBeNull();
      const brief = await job('brief', 'two', 4, { runs: '1s', annotations: { 'fluxqueue/walltime': '1m' } });
      await science.phase(brief, 'Finished');
    });

    test('of two workloads of one priority the one that has run shorter is evicted', async () => {
      await science.fluxSetup('calm', { preemption: { minRuntime: '0s' } });
      await science.fluxSetup('urgent', { preemption: { policy: 'LowerPriority' } });
      const annotations = { 'fluxqueue/preemptible': 'true' };
      const [older, younger] = await running(
        () => job('older', 'calm', 4, { annotations }),
        () => job('younger', 'calm', 4, { annotations }),
      );
      const urgent = await job('urgent', 'urgent', 4, { priority: 10 });
      await science.phase(urgent, 'Running');
      expect(await preemptionsOf([older!, younger!])).toEqual([0, 1]);
    });
  },
  { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
);
