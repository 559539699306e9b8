// Own cluster: the manager of JobSet runs on it, with its kinds and its webhooks.
/** JobSets through the queue, with JobSet's own manager: one gang each, whose pods come when that manager makes them. */
import { OWNER_ANNOTATION, USER_ANNOTATION } from '../../constructs/api/labels';
import { jobs, pods as podPath } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { isGated } from '../../runtime/workloads/pod';
import { waitFor } from '../cluster/wait';
import { JOBSET, startJobSet } from '../kinds/jobset';
import { type JobSet, jobSet, jobSets, type SetShape } from '../kinds/jobsets';
import { describeOwnStack, inOneNamespace } from './suite';
import type { Namespace } from './workloads';

const program = JOBSET.buildOrSkip();
const describeIf = program === undefined ? describe.skip : describe;

describeIf('a JobSet', () => {
  describeOwnStack(
    'with its own manager',
    (getFixture) => {
      let science: Namespace;
      let manager: { stop(): Promise<void> } | undefined;
      beforeAll(async () => {
        manager = await startJobSet(program!, getFixture().stack.cluster);
      }, 120_000);
      afterAll(() => manager?.stop());
      inOneNamespace(getFixture, (namespace) => {
        science = namespace;
      });

      // The apiserver knows a new kind in mutating policies up to 30 s later than else.
      beforeAll(async () => {
        const { api } = getFixture().stack.cluster;
        await waitFor('JobSets to be admitted', async () => {
          const probe = jobSet('probe', { main: {} });
          return (await api.send('POST', `${jobSets('science')}?dryRun=All`, probe)).status === 201;
        });
      }, 120_000);

      type More = Parameters<typeof jobSet>[2];
      const create = async (name: string, sets: Record<string, SetShape>, more: More = {}) => {
        const made = await getFixture().client.create<JobSet>(
          jobSets('science'),
          jobSet(name, sets, {
            ...more,
            metadata: { annotations: { 'fluxqueue/walltime': '1h' }, ...more.metadata },
          }),
        );
        science.uids.push(made.metadata.uid);
        return made;
      };
      const read = ({ metadata: { name } }: JobSet) =>
        getFixture().client.get<JobSet>(jobSets('science', name));
      const patch = ({ metadata: { name } }: JobSet, body: object) =>
        getFixture().client.patch<JobSet>(jobSets('science', name), body, 'merge');
      const delet = ({ metadata: { name } }: JobSet) =>
        getFixture().client.delete(jobSets('science', name), { propagationPolicy: 'Background' });
      const podsOf = async ({ metadata: { name } }: JobSet, set?: string) =>
        (await science.pods()).filter(
          ({ metadata: { labels = {} } }) =>
            labels['jobset.sigs.k8s.io/jobset-name'] === name &&
            (set === undefined || labels['jobset.sigs.k8s.io/replicatedjob-name'] === set),
        );
      const running = (jobSet: JobSet, count: number, set?: string) =>
        waitFor(`${count} pods of ${jobSet.metadata.name} to run`, async () => {
          const found = await podsOf(jobSet, set);
          return found.filter(({ status }) => status?.phase === 'Running').length === count && found;
        });
      const end = async (pods: readonly Pod[]) => {
        for (const { metadata } of pods)
          await getFixture().client.patch(
            podPath('science', metadata.name, 'status'),
            { status: { phase: 'Succeeded' } },
            'merge',
          );
      };
      /** Every pod runs on a node of the grant, and on each node no more pods of a set than were granted there. */
      const expectPlaced = (row: WorkloadRow, pods: readonly Pod[]) => {
        const live = pods.filter(({ status }) => status?.phase === 'Running');
        for (const { name, podSets } of row.allocation!.nodes) {
          const here = live.filter(({ spec }) => spec.nodeName === name);
          for (const [set, count] of Object.entries(podSets ?? {}))
            expect(
              here.filter(
                ({ metadata }) => metadata.labels?.['jobset.sigs.k8s.io/replicatedjob-name'] === set,
              ).length,
            ).toBeLessThanOrEqual(count);
        }
        const granted = row.allocation!.nodes.map(({ name }) => name);
        for (const { spec } of live) expect(granted).toContain(spec.nodeName);
      };
      const gone = async (made: JobSet) => {
        await waitFor(`all of ${made.metadata.name} to be gone`, async () => {
          const row = await science.row(made);
          const left = await podsOf(made);
          const record = await science.fluxJob(`${made.metadata.name}-jobset`);
          return row?.phase === 'Finished' && left.length === 0 && record === undefined;
        });
      };

      test('is one workload: its pods start together, on the granted nodes', async () => {
        const made = await create('train', { driver: {}, workers: { replicas: 2, pods: 2, cores: 4 } });
        expect(made.spec.suspend).toBe(true);
        const row = await science.phase(made, 'Running');
        expect(row).toMatchObject({ kind: 'JobSet', pods: 5, walltime: 3600, user: 'admin' });
        const pods = await running(made, 5);
        expectPlaced(row, pods);
        for (const { metadata, spec } of pods) {
          expect(metadata.annotations?.[OWNER_ANNOTATION]).toBe(`JobSet/train/${made.metadata.uid}`);
          expect(spec.activeDeadlineSeconds).toBeLessThanOrEqual(3600);
        }
        const children = await getFixture().client.list<Job>(jobs('science'));
        expect(children.items).toHaveLength(3);
        for (const { metadata, spec } of children.items) {
          expect(metadata.labels?.['fluxqueue/admitted']).toBeUndefined();
          expect(spec.suspend).toBe(false);
        }
        // None of what was made for it is a workload of its own.
        expect((await getFixture().queue.active()).map(({ kind }) => kind)).toEqual(['JobSet']);
        const shown = await science.shown('train-jobset', 'Running');
        expect(shown.metadata.ownerReferences).toMatchObject([{ kind: 'JobSet', name: 'train' }]);
        await end(pods);
        const done = await science.phase(made, 'Finished');
        expect(done.result).toBe('Succeeded');
        expect((await science.recordedEvents(made, 1))[0]).toMatch(/^Scheduled: /);
        expect((await read(made)).metadata.annotations?.[USER_ANNOTATION]).toBe('admin');
        await delet(made);
        await gone(made);
      });

      test('holds its whole grant while its pods come one set after the other', async () => {
        const spec = { startupPolicy: { startupPolicyOrder: 'InOrder' } };
        const sets = { driver: { cores: 4 }, workers: { pods: 4, cores: 6 } };
        const [left, right] = [await create('left', sets, { spec }), await create('right', sets, { spec })];
        const rowOfFirst = await waitFor('one of them to run', async () => {
          const rows = await Promise.all([left, right].map((each) => science.row(each)));
          return rows.find((row) => row?.phase === 'Running');
        });
        const [first, second] = rowOfFirst.name === 'left' ? [left, right] : [right, left];
        expectPlaced(rowOfFirst, await running(first, 5));
        const waiting = (await science.row(second))!;
        expect(waiting).toMatchObject({ phase: 'Waiting', allocation: null });
        expect(await podsOf(second)).toEqual([]);
        await end(await podsOf(first));
        const row = await science.phase(second, 'Running');
        expectPlaced(row, await running(second, 5));
        await end(await podsOf(second));
        for (const each of [left, right]) {
          await science.phase(each, 'Finished');
          await delet(each);
          await gone(each);
        }
      });

      test('keeps its place when its failure policy makes its pods again', async () => {
        const spec = { failurePolicy: { maxRestarts: 3 } };
        const made = await create('again', { workers: { pods: 3, cores: 4 } }, { spec });
        const row = await science.phase(made, 'Running');
        const before = await running(made, 3);
        const other = await create('behind', { workers: { pods: 8, cores: 4 } });
        await science.phase(other, 'Waiting');
        await getFixture().client.patch(
          podPath('science', before[0]!.metadata.name, 'status'),
          { status: { phase: 'Failed' } },
          'merge',
        );
        await waitFor('the JobSet to have restarted', async () => (await read(made)).status?.restarts === 1);
        const old = new Set(before.map(({ metadata }) => metadata.uid));
        const after = await waitFor('new pods to run', async () => {
          const found = (await podsOf(made)).filter(({ metadata }) => !old.has(metadata.uid));
          return found.filter(({ status }) => status?.phase === 'Running').length === 3 && found;
        });
        const now = (await science.row(made))!;
        expect(now).toMatchObject({ phase: 'Running', jobid: row.jobid, requeues: 0 });
        expectPlaced(now, after);
        expect((await science.row(other))?.phase).toBe('Waiting');
        await delet(made);
        await gone(made);
        await science.phase(other, 'Running');
        await delet(other);
        await gone(other);
      });

      test('stops and waits when its user suspends it, and starts again when that is taken back', async () => {
        const made = await create('paused', { workers: { pods: 2 } });
        const first = await science.phase(made, 'Running');
        await running(made, 2);
        await patch(made, { spec: { suspend: true } });
        await science.phase(made, 'Waiting', 'Held');
        expect((await podsOf(made)).filter(({ status }) => status?.phase === 'Running')).toEqual([]);
        await patch(made, { spec: { suspend: false } });
        const second = await science.regranted(made, first);
        expectPlaced(second, await running(made, 2));
        await delet(made);
        await gone(made);
      });

      test('waits until its user resumes it, if it is created suspended, and only the queue starts it', async () => {
        const made = await create('held', { workers: {} }, { spec: { suspend: true } });
        await science.phase(made, 'Waiting', 'Held');
        expect(await podsOf(made)).toEqual([]);
        await patch(made, { spec: { suspend: false } });
        await science.phase(made, 'Running');
        await delet(made);
        await gone(made);
      });

      test('ends for good at its walltime, also if its failure policy would restart it', async () => {
        const metadata = { annotations: { 'fluxqueue/walltime': '3s' } };
        const made = await create(
          'long',
          { workers: { pods: 2 } },
          {
            metadata,
            spec: { failurePolicy: { maxRestarts: 100 } },
          },
        );
        const done = await science.phase(made, 'Finished');
        expect(done.result).toBe('TimedOut');
        expect((await read(made)).spec.suspend).toBe(true);
        // Nobody but its deletion changes that.
        await patch(made, { spec: { suspend: false } });
        expect((await read(made)).spec.suspend).toBe(true);
        await delet(made);
        await gone(made);
      });

      test('leaves nothing behind when it is deleted in any phase', async () => {
        const wide = { workers: { pods: 100, cores: 8 } };
        const waiting = await create('waits', wide);
        await science.phase(waiting, 'Waiting');
        const runs = await create('runs', { workers: { pods: 2 } });
        await science.phase(runs, 'Running');
        const fresh = await create('fresh', { workers: { pods: 2 } });
        for (const each of [fresh, runs, waiting]) await delet(each);
        for (const each of [runs, waiting]) await gone(each);
        await waitFor('no row, pod or record to be left', async () => {
          const active = await getFixture().queue.active();
          const pods = await science.pods();
          return active.length === 0 && pods.filter(isGated).length === 0;
        });
      });
    },
    { cluster: { nodes: 5, nodeShape: { cpu: '8' } }, createsMiniClusters: false },
  );
});
