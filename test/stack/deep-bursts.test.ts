// Own cluster: hundreds of Jobs are slow to delete.
/** What is recorded of Jobs that wait in line in a burst, behind a full cluster, and what their user can read meanwhile. */
import { findFluxJob } from '../../runtime/cli/workload-names';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import type { RoleProcess } from './roles';
import { describeOwnStack } from './suite';
import { unrecorded } from './unrecorded';
import { Namespace } from './workloads';

/** Ten times as many as run at once: the last of them wait for longer than a FluxJob waits outside a burst. */
const COUNT = 400;
const NODES = 10;
const CORES = 4;

describeOwnStack(
  'a burst of Jobs behind a full cluster',
  (getFixture) => {
    let controller: RoleProcess;
    let burst: Namespace;
    let last: Job;

    beforeAll(async () => {
      controller = await getFixture().stack.startController();
      burst = await Namespace.create(getFixture, 'burst');
      const names = Array.from({ length: COUNT }, (_, i) => `in-line-${i}`);
      await Promise.all(names.map((name) => burst.job(name, { runs: '1s' })));
    }, 120_000);

    test('the last in line has no FluxJob yet, and its history says why it waits', async () => {
      last = await burst.job('last');
      await expect(findFluxJob(getFixture().client, burst.name, 'last')).rejects.toThrow(
        'job/last has no FluxJob yet (got "last"); it gets one within seconds, and within a minute if many others of namespace burst start and end meanwhile; kubectl fluxqueue history last shows what happened to it',
      );
      await burst.phase(last, 'Waiting', 'Busy');
      const entries = await getFixture().queue.historyOf(burst.name, 'last');
      expect(entries.at(-1)).toMatchObject({ event: 'Waiting', why: expect.stringContaining('Busy') });
    });

    test('what can never start has its FluxJob beside them', async () => {
      await burst.job('impossible', { cores: 999 });
      await burst.shown('impossible-job', 'Waiting', 'Unsatisfiable');
    });

    test('few of those that have waited in line and succeeded have one', async () => {
      await waitFor(
        'the last to succeed',
        async () => (await burst.row(last))?.result === 'Succeeded' || undefined,
        { timeoutMs: 90_000 },
      );
      const { items } = await getFixture().client.list<FluxJobObject>(fluxJobs(burst.name));
      expect(items.length).toBeLessThan(COUNT / 4);
      expect(await unrecorded(controller)).toBeGreaterThan(COUNT / 2);
    });
  },
  { cluster: { nodes: NODES, nodeShape: { cpu: `${CORES}`, memory: '64Gi' } } },
);
