// Own cluster: hundreds of Jobs are slow to delete.
/** Which workloads of a burst have a FluxJob, and what a user sees of those that have none. */
import { findFluxJob } from '../../runtime/cli/workload-names';
import { type FluxJobObject, fluxJobs } from '../../runtime/kubernetes/custom-resources';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import type { RoleProcess } from './roles';
import { describeOwnStack } from './suite';
import { unrecorded } from './unrecorded';
import { Namespace, type Shape, UNTIL_ENDED } from './workloads';

/**
 * The changes of phase in a second that make a burst here: the four of a single Job are too few at any speed, and those of hundreds
 * are enough on a machine that is forty times as slow as the one that the default is made for.
 */
const STATUSES = { busyPerSecond: 5, burstPerSecond: 1 };
const COUNT = 60;

describeOwnStack(
  'a burst of Jobs',
  (getFixture) => {
    let controller: RoleProcess;
    let burst: Namespace;
    let quiet: Namespace;
    let quick: readonly Job[];
    /** Each tells something. */
    const notable: Job[] = [];

    const startController = () => getFixture().stack.startController({ statuses: STATUSES });
    const recorded = async ({ name }: Namespace) =>
      (await getFixture().client.list<FluxJobObject>(fluxJobs(name))).items;
    const isSettled = async () => {
      const { length } = await recorded(burst);
      return length + (await unrecorded(controller)) >= COUNT + notable.length;
    };

    beforeAll(async () => {
      controller = await startController();
      burst = await Namespace.create(getFixture, 'burst');
      quiet = await Namespace.create(getFixture, 'quiet');
      const names = Array.from({ length: COUNT }, (_, i) => `quick-${i}`);
      quick = await Promise.all(names.map((name) => burst.job(name)));
      const shapes: Readonly<Record<string, Shape>> = {
        fails: { spec: { activeDeadlineSeconds: 2 }, runs: UNTIL_ENDED },
        lasts: { runs: UNTIL_ENDED },
        waits: { cores: 999 },
      };
      for (const [name, shape] of Object.entries(shapes)) notable.push(await burst.job(name, shape));
      await quiet.job('alone');
    });

    test('leaves no FluxJob of what starts and succeeds at once, and one of everything that tells something', async () => {
      // On a slow machine most of them last for longer than what is not recorded.
      await waitFor('one of the burst to be over', async () => (await unrecorded(controller)) > 0);
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
      await waitFor('every Job of the burst to have its FluxJob, or none', isSettled);
      const found = await recorded(burst);
      const rows = await getFixture().queue.byUid(quick.map(({ metadata }) => metadata.uid));
      const without = rows.find(
        ({ name, phase }) => phase === 'Finished' && !found.some(({ spec }) => spec.workload.name === name),
      )?.name;
      await expect(findFluxJob(getFixture().client, burst.name, without!)).rejects.toThrow(
        `FLUXQ_WORKLOAD_UNKNOWN: workload: job/${without} has no FluxJob, because it succeeded soon, as many others of namespace burst did (got "${without}"); kubectl fluxqueue history ${without} shows what happened to it`,
      );
      const entries = await getFixture().queue.historyOf(burst.name, without!);
      // A start that was late moves the end of its allocation.
      const events = entries.map(({ event }) => event).filter((event) => event !== 'Reallocated');
      expect(events).toEqual(['Submitted', 'Allocated', 'Released', 'Running', 'Finished']);
    });

    test('is recorded no more by the next leader, and one that has lost its FluxJob is', async () => {
      const { client } = getFixture();
      const before = await recorded(burst);
      await controller.stop();
      await client.delete(fluxJobs(burst.name, 'fails-job'));
      controller = await startController();
      await burst.shown('fails-job', 'Finished');
      const other = await burst.job('afterwards', { runs: UNTIL_ENDED });
      await burst.phase(other, 'Running');
      await burst.shown('afterwards-job', 'Running');
      const names = (list: readonly FluxJobObject[]) => list.map(({ metadata }) => metadata.name).sort();
      expect(names(await recorded(burst))).toEqual([...names(before), 'afterwards-job'].sort());
    });
  },
  { cluster: { nodes: 20, nodeShape: { cpu: '16', memory: '64Gi' } } },
);
