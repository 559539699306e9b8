/** The deletion of a workload frees its units in every phase. */
import { waitFor } from '../cluster/wait';
import { describeStack, inOneNamespace } from './suite';
import { type Namespace, UNTIL_ENDED } from './workloads';

/** A pod whose kubelet does not end it; the simulated one keeps nobody from deleting it, which the finalizer does. */
const stuck = (isStuck: boolean, finalizers: readonly string[]) => ({
  metadata: {
    annotations: { 'fluxqueue.test/stuck': isStuck ? 'true' : null },
    finalizers: isStuck ? [...finalizers, 'example.org/slow'] : finalizers,
  },
});

describeStack(
  'the deletion of a workload',
  (getFixture) => {
    let science: Namespace;

    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    /** A Job for all units of the cluster runs only if no other workload has an allocation. */
    async function expectAllFree(name: string): Promise<void> {
      const all = await science.job(name, { pods: 2, cores: 4, runs: '100ms' });
      await science.phase(all, 'Finished');
    }

    test.each(['Background', 'Foreground'] as const)(
      'frees the units of Jobs with propagation policy %s',
      async (policy) => {
        const prefix = policy.toLowerCase();
        const running = await science.job(`${prefix}-running`, { pods: 2, cores: 3, runs: UNTIL_ENDED });
        await science.phase(running, 'Running');
        const reserved = await science.job(`${prefix}-reserved`, { pods: 2, cores: 4 });
        const held = await science.job(`${prefix}-held`, { labels: { 'fluxqueue/hold': 'true' } });
        const impossible = await science.job(`${prefix}-impossible`, { cores: 99 });
        await science.phase(reserved, 'Waiting', 'Reserved');
        await science.phase(held, 'Waiting', 'Held');
        await science.phase(impossible, 'Waiting', 'Unsatisfiable');
        for (const job of [held, impossible, reserved, running]) {
          await science.delete(job, 'Job', policy);
          expect((await science.phase(job, 'Finished')).result).toBe('Cancelled');
        }
        await expectAllFree(`${prefix}-all`);
        await waitFor('its FluxJob to be deleted', async () => {
          for (const name of ['running', 'reserved', 'held', 'impossible'])
            if ((await science.fluxJob(`${prefix}-${name}-job`)) !== undefined) return false;
          return true;
        });
      },
    );

    test.each(['Background', 'Foreground'] as const)(
      'frees the nodes of a gang one by one, with propagation policy %s',
      async (policy) => {
        const prefix = `one-by-one-${policy.toLowerCase()}`;
        const gang = await science.job(prefix, { pods: 2, cores: 4, runs: UNTIL_ENDED });
        await science.phase(gang, 'Running');
        const [first, second] = await science.podsOf(gang);
        // The second pod shuts down slowly.
        await science.patch(second!, 'Pod', stuck(true, second!.metadata.finalizers ?? []));
        const next = await science.job(`${prefix}-next`, { cores: 4, runs: '100ms' });
        await science.phase(next, 'Waiting');
        await science.delete(gang, 'Job', policy);
        expect((await science.phase(next, 'Finished')).result).toBe('Succeeded');
        expect((await science.row(next))!.allocation!.nodes.map(({ name }) => name)).toEqual([
          first!.spec.nodeName,
        ]);
        expect((await science.row(gang))!.phase).toBe('Running');
        await science.patch(second!, 'Pod', stuck(false, []));
        expect((await science.phase(gang, 'Finished')).result).toBe('Cancelled');
        await expectAllFree(`${prefix}-all`);
      },
    );

    test('frees the units of a granted Job whose pods do not run yet', async () => {
      // No scheduler binds these pods.
      const ready = await science.job('ready', {
        pods: 2,
        cores: 4,
        podSpec: { schedulerName: 'no-such-scheduler' },
      });
      await science.phase(ready, 'Ready');
      await waitFor('its pods', async () => (await science.podsOf(ready)).length === 2);
      await science.delete(ready, 'Job');
      expect((await science.phase(ready, 'Finished')).result).toBe('Cancelled');
      await expectAllFree('after-ready');
    });

    test('frees the units of waiting and running Pods', async () => {
      const running = await science.pod('running', { cores: 4, runs: UNTIL_ENDED });
      const other = await science.pod('other', { cores: 4, runs: UNTIL_ENDED });
      await science.phase(running, 'Running');
      await science.phase(other, 'Running');
      const waiting = await science.pod('waiting', { cores: 4 });
      await science.phase(waiting, 'Waiting');
      for (const pod of [waiting, running, other]) {
        await science.delete(pod, 'Pod');
        expect((await science.phase(pod, 'Finished')).result).toBe('Cancelled');
      }
      await expectAllFree('after-pods');
    });

    test('does not affect a new Job of the same name', async () => {
      const first = await science.job('twin', { cores: 4, runs: UNTIL_ENDED });
      await science.phase(first, 'Running');
      await science.delete(first, 'Job');
      await waitFor('its pods to be deleted', async () => (await science.podsOf(first)).length === 0);
      const second = await waitFor('the name to be free', () => science.job('twin', { cores: 4 }));
      await science.phase(second, 'Finished');
      expect((await science.row(first))!.result).toBe('Cancelled');
      const shown = await science.shown('twin-job', 'Finished');
      expect(shown.spec.workload.uid).toBe(second.metadata.uid);
    });
  },
  { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
);
