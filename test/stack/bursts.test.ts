// Own cluster: hundreds of Jobs are slow to delete.
/** Which workloads of a burst have a FluxJob, and what a user sees of those that have none. */
import { findFluxJob } from '../../runtime/cli/workload-names';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import type { RoleProcess } from './roles';
import { describeOwnStack } from './suite';
import { unrecorded } from './unrecorded';
import { Namespace, type Shape } from './workloads';

/** Far more changes of rows than make a burst. */
const COUNT = 150;
/** Later than a FluxJob of a burst may be. */
const LATE_MS = 60_000;

describeOwnStack(
  'a burst of Jobs',
  (getFixture) => {
    let controller: RoleProcess;
    let burst: Namespace;
    let quiet: Namespace;
    /** Each tells something. */
    const notable: Job[] = [];

    const recorded = async ({ name }: Namespace) =>
      (await getFixture().client.list<FluxJobObject>(fluxJobs(name))).items;

    beforeAll(async () => {
      controller = await getFixture().stack.startController();
      burst = await Namespace.create(getFixture, 'burst');
      quiet = await Namespace.create(getFixture, 'quiet');
      const names = Array.from({ length: COUNT }, (_, i) => `quick-${i}`);
      await Promise.all(names.map((name) => burst.job(name)));
      const shapes: Readonly<Record<string, Shape>> = {
        fails: { spec: { activeDeadlineSeconds: 2 }, runs: '60s' },
        lasts: { runs: '40s' },
        waits: { cores: 999 },
      };
      for (const [name, shape] of Object.entries(shapes)) notable.push(await burst.job(name, shape));
      await quiet.job('alone');
    }, 120_000);

    test('leaves no FluxJob of what starts and succeeds at once, and one of everything that tells something', async () => {
      await waitFor('most of the burst to be over', async () => (await unrecorded(controller)) > COUNT / 2, {
        timeoutMs: LATE_MS,
      });
      for (const [name, phase] of [
        ['fails', 'Finished'],
        ['lasts', 'Running'],
        ['waits', 'Waiting'],
      ] as const)
        await burst.shown(`${name}-job`, phase);
      expect((await burst.shown('fails-job', 'Finished')).status!.result).toBe('TimedOut');
    });

    test('of one namespace takes no FluxJob from another', async () => {
      const { status } = await quiet.shown('alone-job', 'Finished');
      expect(status!.result).toBe('Succeeded');
    });

    test('says of a Job without a FluxJob why it has none, and where its history is', async () => {
      const found = await recorded(burst);
      const without = Array.from({ length: COUNT }, (_, i) => `quick-${i}`).find(
        (name) => !found.some(({ spec }) => spec.workload.name === name),
      );
      await expect(findFluxJob(getFixture().client, burst.name, without!)).rejects.toThrow(
        `FLUXQ_WORKLOAD_UNKNOWN: workload: job/${without} has no FluxJob, because it succeeded soon, as many others of namespace burst did (got "${without}"); kubectl fluxqueue history ${without} shows what happened to it`,
      );
      const entries = await getFixture().queue.historyOf(burst.name, without!);
      expect(entries.map(({ event }) => event)).toEqual([
        'Submitted',
        'Allocated',
        'Released',
        'Running',
        'Finished',
      ]);
    });

    test('is recorded no more by the next leader, and one that has lost its FluxJob is', async () => {
      const { stack, client } = getFixture();
      const rest = async () => {
        const { length } = await recorded(burst);
        return length + (await unrecorded(controller)) >= COUNT + notable.length;
      };
      await waitFor('every Job of the burst to have its FluxJob, or none', rest, { timeoutMs: LATE_MS });
      const before = await recorded(burst);
      await controller.stop();
      await client.delete(fluxJobs(burst.name, 'fails-job'));
      controller = await stack.startController();
      await burst.shown('fails-job', 'Finished');
      const other = await burst.job('afterwards', { runs: '3s' });
      await burst.phase(other, 'Running');
      await burst.shown('afterwards-job', 'Running');
      const names = (list: readonly FluxJobObject[]) => list.map(({ metadata }) => metadata.name).sort();
      expect(names(await recorded(burst))).toEqual([...names(before), 'afterwards-job'].sort());
    });
  },
  { cluster: { nodes: 20, nodeShape: { cpu: '16', memory: '64Gi' } } },
);
