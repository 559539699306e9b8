// Own cluster: etcd is taken back to a backup.
/** etcd is restored from a backup while controller and database go on: the cluster is as it was, and gives versions a second time. */

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HOLD, WALLTIME } from '../../constructs/api/labels';
import { isTrue } from '../../runtime/kubernetes/conditions';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeOwnStack } from './suite';
import { Namespace, UNTIL_ENDED } from './workloads';

const CORES = 8;
/** It delays nothing for which nodes are reserved. */
const SHORT = { annotations: { [WALLTIME]: '10m' } };

describeOwnStack(
  'a restored etcd',
  (getFixture) => {
    test('is noticed, and what waits, runs and comes is treated as what there is now', async () => {
      const { stack, queue } = getFixture();
      const { cluster } = stack;
      await stack.startController();
      const science = await Namespace.create(getFixture, 'science');
      const running = await science.job('running', { cores: 2, runs: UNTIL_ENDED });
      await science.phase(running, 'Running');
      const ends = await science.job('ends', { cores: 2, runs: UNTIL_ENDED });
      await science.phase(ends, 'Running');
      const held = await science.job('held', {
        ...SHORT,
        annotations: { ...SHORT.annotations, [HOLD]: 'true' },
      });
      await science.phase(held, 'Waiting', 'Held');
      await science.job('waits', { cores: CORES });
      const deleted = await science.job('deleted', { cores: CORES });
      await science.phase(deleted, 'Waiting', 'Busy');

      const stopped = async (work: (data: string) => void) => {
        await cluster.whileStopped(work);
        // The simulated kubelets start again, too, and would wait until their Leases expire.
        await cluster.request('DELETE', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases');
      };
      const hold = (value: string | null) =>
        getFixture().client.patch(
          jobs('science', 'held'),
          { metadata: { annotations: { [HOLD]: value } } },
          'merge',
        );
      const backup = join(cluster.directory, 'backup');
      await stopped((data) => cpSync(data, backup, { recursive: true }));
      const lost: Job[] = [];
      for (let i = 0; i < 5; i++) lost.push(await science.job(`lost-${i}`, SHORT));
      const going = await science.job('lost-running', { ...SHORT, runs: UNTIL_ENDED });
      for (const job of lost) await science.phase(job, 'Finished');
      await hold(null);
      await science.phase(held, 'Finished');
      await science.phase(going, 'Running');
      await science.delete(deleted, 'Job');
      await science.end(ends);
      await science.phase(ends, 'Finished');
      await waitFor(
        'the end of the deleted one',
        async () => (await science.row(deleted))?.phase === 'Finished',
      );

      await stopped((data) => {
        rmSync(data, { recursive: true });
        cpSync(backup, data, { recursive: true });
      });
      const fresh: Job[] = [];
      for (let i = 0; i < 8; i++) fresh.push(await science.job(`new-${i}`, SHORT));
      const complete = (name: string) =>
        waitFor(`the end of ${name}`, async () =>
          isTrue((await getFixture().client.get<Job>(jobs('science', name))).status?.conditions, 'Complete'),
        );
      const begun = performance.now();
      for (const job of fresh) {
        await science.phase(job, 'Finished');
        expect((await science.row(job))?.result).toBe('Succeeded');
      }
      const seconds = (performance.now() - begun) / 1000;
      process.stderr.write(`etcd put back: all new Jobs ran after ${seconds.toFixed(1)} s\n`);
      // The backup has a Job that ran to its end since then, and one that was deleted: both are there again.
      await science.end(ends);
      await complete('ends');
      await science.shown('ends-job', 'Finished');
      // Its hold was removed and it ran since then: it is held again.
      await science.phase(held, 'Waiting', 'Held');
      await hold(null);
      await complete('held');
      await science.end(running);
      for (const name of ['running', 'waits', 'deleted']) await complete(name);
      // What the backup does not have is over.
      await waitFor('no row without an object', async () => (await queue.active()).length === 0);
    });
  },
  { cluster: { nodes: 1, nodeShape: { cpu: `${CORES}` } } },
);
