// Own cluster: hundreds of Jobs are slow to delete.
/** What is recorded of Jobs that wait in line in a burst, behind a full cluster, and what their user can read meanwhile. */
import { findFluxJob } from '../../runtime/cli/workload-names';
import { FLEETING_SECONDS } from '../../runtime/fluxjobs/fleeting';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import type { Job } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { waitFor } from '../cluster/wait';
import type { RoleProcess } from './roles';
import { describeOwnStack } from './suite';
import { unrecorded } from './unrecorded';
import { Namespace, UNTIL_ENDED } from './workloads';

/** Twice as many as run at once. */
const COUNT = 80;
const NODES = 10;
const CORES = 4;

describeOwnStack(
  'a burst of Jobs behind a full cluster',
  (getFixture) => {
    let controller: RoleProcess;
    let burst: Namespace;
    let full: Namespace;
    let hog: Job;
    let last: Job;

    beforeAll(async () => {
      // A namespace with any change is in a burst, at whatever speed its Jobs come.
      controller = await getFixture().stack.startController({
        statuses: { busyPerSecond: 5, burstPerSecond: 0 },
      });
      full = await Namespace.create(getFixture, 'full');
      burst = await Namespace.create(getFixture, 'burst');
      // All in line wait until it is deleted.
      hog = await full.job('hog', { pods: NODES, cores: CORES, runs: UNTIL_ENDED });
      await full.phase(hog, 'Running');
      const names = Array.from({ length: COUNT }, (_, i) => `in-line-${i}`);
      await Promise.all(names.map((name) => burst.job(name)));
    });

    test('the last in line has no FluxJob yet, and its history says why it waits', async () => {
      last = await burst.job('last');
      await expect(findFluxJob(getFixture().client, burst.name, 'last')).rejects.toThrow(
        'job/last has no FluxJob yet (got "last"); it gets one within a minute if many others of namespace burst start and end meanwhile; kubectl fluxqueue history last shows what happened to it',
      );
      await burst.phase(last, 'Waiting', 'Busy');
      const entries = await getFixture().queue.historyOf(burst.name, 'last');
      expect(entries.at(-1)).toMatchObject({ event: 'Waiting', why: expect.stringContaining('Busy') });
    });

    test('what can never start has its FluxJob beside them', async () => {
      const impossible = await burst.job('impossible', { cores: 999 });
      await burst.shown('impossible-job', 'Waiting', 'Unsatisfiable');
      await burst.delete(impossible, 'Job');
    });

    /** Whether it did what all others in line did. The head of the line is promised a start, which its FluxJob tells. */
    const isOneOfMany = async ({ uid, result, submittedAt, finishedAt }: WorkloadRow) =>
      result === 'Succeeded' &&
      finishedAt! - submittedAt < FLEETING_SECONDS &&
      (await getFixture().queue.history(uid)).every(({ why }) => !why?.includes('Reserved'));

    test('those that have waited in line for less than a minute and succeeded have none', async () => {
      await full.delete(hog, 'Job');
      await burst.finished();
      // All but the one that was deleted.
      const all = await getFixture().queue.byUid(burst.uids);
      const rows = all.filter(({ result }) => result === 'Succeeded');
      expect(rows.length).toBe(COUNT + 1);
      const withoutFluxJob = await waitFor('every Job to have its FluxJob, or none', async () => {
        const { items } = await getFixture().client.list<FluxJobObject>(fluxJobs(burst.name));
        const recorded = new Set(items.map(({ spec }) => spec.workload.name));
        const without = rows.filter(({ name }) => !recorded.has(name));
        return (await unrecorded(controller)) >= without.length && without;
      });
      // Which of them have one depends on how long each of their phases lasts on this machine.
      expect(withoutFluxJob).not.toEqual([]);
      for (const row of withoutFluxJob) expect([row.name, await isOneOfMany(row)]).toEqual([row.name, true]);
    });
  },
  { cluster: { nodes: NODES, nodeShape: { cpu: `${CORES}`, memory: '64Gi' } } },
);
