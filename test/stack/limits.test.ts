/** Quotas, limits and devices that a workload waits for, on the real control plane. */
import { GANG_SIZE } from '../../constructs/api/labels';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeStack, eachInFreshNamespace } from './suite';
import { type Namespace, UNTIL_ENDED } from './workloads';

describeStack(
  'quotas and limits',
  (getFixture) => {
    let lab: Namespace;

    eachInFreshNamespace(getFixture, (namespace) => {
      lab = namespace;
    });

    const inQueue = (queue: string, walltime: string) => ({
      labels: { 'fluxqueue/queue': queue },
      annotations: { 'fluxqueue/walltime': walltime },
    });

    /** The message of its FluxJob, once that is stalled. */
    const stalled = (name: string) =>
      waitFor(`${name} to be stalled`, async () => {
        const { status } = (await lab.fluxJob(name)) ?? {};
        const condition = status?.conditions?.find(({ type }) => type === 'Stalled');
        return condition?.status === 'True' && condition.message;
      });

    test('a Job that the running limit delays has a start that is kept, and a stream of small ones does not pass it', async () => {
      await lab.fluxSetup('team', { limits: { running: 2 } });
      const of = (walltime: string) => ({ ...inQueue('team', walltime), runs: UNTIL_ENDED });
      const running = [await lab.job('run-0', of('30m')), await lab.job('run-1', of('1h'))];
      for (const job of running) await lab.phase(job, 'Running');
      const wide = await lab.job('wide', { ...inQueue('team', '5m'), pods: 3, cores: 4 });
      const { estimatedStart, message } = await lab.phase(wide, 'Waiting', 'QuotaExceeded');
      expect(message).toBe('at most 2 workloads of its queue run at a time');
      const small = [];
      for (let i = 0; i < 4; i++) small.push(await lab.job(`small-${i}`, of('2h')));
      const [first, second] = running as [Job, Job];
      await lab.end(first);
      await lab.phase(first, 'Finished');
      // A small one could start now, on nodes that the wide one needs later.
      const last = await lab.job('small-last', of('2h'));
      small.push(last);
      await waitFor('a pass that knows this', async () => {
        const row = await lab.row(last);
        return row !== undefined && row.reason !== 'Submitted';
      });
      await lab.end(second);
      const started = (await lab.phase(wide, 'Finished')).allocatedAt!;
      expect(started).toBeLessThanOrEqual(estimatedStart!);
      for (const job of small) {
        const { allocatedAt } = (await lab.row(job))!;
        expect(allocatedAt ?? Infinity).toBeGreaterThanOrEqual(started);
      }
    });

    test('a Job that asks for more than quota and borrowing is stalled with the numbers, and blocks nobody', async () => {
      const cohort = lab.name;
      await lab.fluxSetup('small', { quota: { cores: 1 }, borrowing: { cores: 2 }, cohort });
      await lab.fluxSetup('large', { quota: { cores: 8 }, cohort });
      await lab.job('too-much', { ...inQueue('small', '10s'), cores: 4 });
      expect(await stalled('too-much-job')).toBe(
        "can never start: asks for 4 cores, more than its queue's quota of 1 core and 2 cores of borrowing",
      );
      const next = await lab.job('next', { ...inQueue('small', '10s'), cores: 3 });
      await lab.phase(next, 'Finished');
    });

    test('a whole node counts with everything it has, and one that the quota never allows does not block its queue', async () => {
      await lab.fluxSetup('team', { quota: { cores: 3 } });
      const whole = { labels: { 'fluxqueue/queue': 'team', 'fluxqueue/exclusive': 'true' } };
      await lab.job('whole', whole);
      expect(await stalled('whole-job')).toMatch(
        /^can never start: asks for 1 whole node, which holds at least 4 cores, more than its queue's quota of 3 cores$/,
      );
      const next = await lab.job('next', inQueue('team', '10s'));
      await lab.phase(next, 'Finished');
    });

    test('more whole nodes than there are is impossible, not busy', async () => {
      const annotations = { [GANG_SIZE]: '4' };
      const four = await lab.job('four', { pods: 4, annotations, labels: { 'fluxqueue/exclusive': 'true' } });
      const waits = await lab.phase(four, 'Waiting', 'Unsatisfiable');
      expect(waits.estimatedStart).toBeNull();
    });

    test('the head of a fcfs queue has a reservation, which other queues keep', async () => {
      await lab.fluxSetup('strict', { policy: 'fcfs' });
      await lab.fluxSetup('other', {});
      const busy = await lab.job('busy', { ...inQueue('other', '1h'), cores: 4, runs: UNTIL_ENDED });
      await lab.phase(busy, 'Running');
      const head = await lab.job('head', { ...inQueue('strict', '10s'), pods: 3, cores: 4 });
      const { estimatedStart } = await lab.phase(head, 'Waiting', 'Reserved');
      const long = await lab.job('long', { ...inQueue('other', '2h'), cores: 4 });
      await lab.phase(long, 'Waiting');
      const short = await lab.job('short', { ...inQueue('other', '10m'), cores: 4, runs: '100ms' });
      await lab.phase(short, 'Finished');
      await lab.end(busy);
      const started = (await lab.phase(head, 'Finished')).allocatedAt!;
      expect(started).toBeLessThanOrEqual(estimatedStart!);
      expect((await lab.phase(long, 'Finished')).allocatedAt!).toBeGreaterThanOrEqual(started);
    });

    test('work without devices leaves a GPU node free until nothing else is', async () => {
      const { cluster } = getFixture().stack;
      const [gpu = ''] = await cluster.addNodes(1, { cpu: '4', memory: '64Gi', gpus: 2 });
      const nodes = async (name: string) => {
        const job = await lab.job(name, { labels: {}, cores: 4, runs: UNTIL_ENDED });
        const { allocation } = await lab.phase(job, 'Running');
        return allocation!.nodes.map((node) => node.name);
      };
      await waitFor('the GPU node to be granted', async () => {
        const probe = await lab.job(`probe-${lab.uids.length}`, {
          podSpec: { nodeSelector: { 'kubernetes.io/hostname': gpu } },
          runs: '100ms',
        });
        return (await lab.phase(probe, 'Finished')).result === 'Succeeded';
      });
      const used = [await nodes('plain-0'), await nodes('plain-1'), await nodes('plain-2')].flat();
      expect(used).not.toContain(gpu);
      expect(await nodes('plain-3')).toEqual([gpu]);
    });
  },
  { nodes: 3, nodeShape: { cpu: '4', memory: '64Gi' } },
);
