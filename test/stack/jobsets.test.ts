// Own cluster: the manager of JobSet runs on it, with its kinds and its webhooks.
/** JobSets through the queue, with JobSet's own manager: one gang each, whose pods come when that manager makes them. */
import { OWNER_ANNOTATION, USER_ANNOTATION } from '../../constructs/api/labels';
import { jobs, pods as podPath } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { isGated } from '../../runtime/workloads/pod';
import { accepted, USER_RIGHTS, usersOf } from '../admission/users';
import type { KubeObject } from '../cluster/api';
import { waitFor } from '../cluster/wait';
import { yamlDocuments } from '../docs/snippets';
import { JOBSET, startJobSet } from '../kinds/jobset';
import { type JobSet, jobSet, jobSets } from '../kinds/jobsets';
import { expectPlaced, jobSetsOf } from './jobsets';
import { sidecarPolicy } from './sidecar-policy';
import { describeOwnStack, inOneNamespace } from './suite';
import { Namespace } from './workloads';

const program = JOBSET.buildOrSkip();
const describeIf = program === undefined ? describe.skip : describe;

describeIf('a JobSet', () => {
  describeOwnStack(
    'with its own manager',
    (getFixture) => {
      let science: Namespace;
      let manager: { stop(): Promise<void> } | undefined;
      afterAll(() => manager?.stop());
      inOneNamespace(getFixture, (namespace) => {
        science = namespace;
      });

      // The controller runs already, and follows the kind once it is there.
      beforeAll(async () => {
        manager = await startJobSet(program!, getFixture().stack.cluster);
      });
      // The apiserver knows a new kind in mutating policies up to 30 s later than else.
      beforeAll(async () => {
        const { api } = getFixture().stack.cluster;
        await waitFor('JobSets to be admitted', async () => {
          const probe = jobSet('probe', { main: {} });
          return (await api.send('POST', `${jobSets('science')}?dryRun=All`, probe)).status === 201;
        });
      });

      const { create, read, patch, delet, podsOf, running, end, gone } = jobSetsOf(getFixture, () => science);

      test('is one workload: its pods start together, on the granted nodes', async () => {
        const made = await create('train', { driver: {}, workers: { replicas: 2, pods: 2, cores: 4 } });
        expect(made.spec.suspend).toBe(true);
        const row = await science.phase(made, 'Running');
        expect(row).toMatchObject({ kind: 'JobSet', pods: 5, walltime: 3600, user: 'admin' });
        const pods = await running(made, 5);
        expectPlaced(row, pods);
        for (const { metadata, spec } of pods) {
          expect(metadata.annotations?.[OWNER_ANNOTATION]).toBe(`JobSet/train/${made.metadata.uid}`);
          // An hour for the start of the first.
          expect(spec.activeDeadlineSeconds).toBeLessThanOrEqual(3600 + 3600);
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

      test('keeps its places when its failure policy makes its pods again, also those of a set that had succeeded', async () => {
        const spec = { failurePolicy: { rules: [{ action: 'RestartJobSetAndIgnoreMaxRestarts' }] } };
        const dependsOn = [{ name: 'init', status: 'Complete' }] as const;
        const sets = { init: { cores: 8, runs: '1s' }, workers: { pods: 3, cores: 4, dependsOn } };
        const made = await create('again', sets, { spec });
        const row = await science.phase(made, 'Running');
        const before = await running(made, 3, 'workers');
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
          const found = (await podsOf(made, 'workers')).filter(({ metadata }) => !old.has(metadata.uid));
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

      test('has places for pods that come after others have ended', async () => {
        const made = await create('chain', {
          first: { cores: 2, runs: '300ms' },
          second: { pods: 2, cores: 4, dependsOn: [{ name: 'first', status: 'Complete' }] },
        });
        const row = await science.phase(made, 'Running');
        const places = row.allocation!.nodes.flatMap(({ name, podSets }) =>
          Array<string>(podSets?.second ?? 0).fill(name),
        );
        const pods = await running(made, 2, 'second');
        expect(pods.map(({ spec }) => spec.nodeName).sort()).toEqual(places.sort());
        await end(pods);
        await science.phase(made, 'Finished');
        await delet(made);
        await gone(made);
      });

      test('gives no place to pods that only name it as their owner', async () => {
        const made = await create('real', { workers: { pods: 2, cores: 2 } });
        const row = await science.phase(made, 'Running');
        await running(made, 2);
        const forge = (name: string, cores: number) =>
          getFixture().client.create<Job>(jobs('science'), {
            apiVersion: 'batch/v1',
            kind: 'Job',
            metadata: {
              name,
              ownerReferences: [
                {
                  apiVersion: 'jobset.x-k8s.io/v1alpha2',
                  kind: 'JobSet',
                  name: 'real',
                  uid: made.metadata.uid,
                  controller: true,
                },
              ],
              labels: { 'jobset.sigs.k8s.io/restart-attempt': '0' },
            },
            spec: {
              template: {
                metadata: {
                  labels: {
                    'jobset.sigs.k8s.io/jobset-name': 'forged',
                    'jobset.sigs.k8s.io/replicatedjob-name': 'workers',
                  },
                },
                spec: {
                  restartPolicy: 'Never',
                  containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: `${cores}` } } }],
                },
              },
            },
          });
        await forge('beyond', 2);
        await forge('larger', 4);
        const forged = () => podsOf({ ...made, metadata: { ...made.metadata, name: 'forged' } });
        await waitFor('both forged pods', async () => (await forged()).length === 2);
        // One place is free now, and its own controller does not fill it.
        const [one] = await podsOf(made);
        await end([one!]);
        await waitFor('the forged pod of the right size in it', async () =>
          (await forged()).some((pod) => !isGated(pod)),
        );
        const placed = (await forged()).filter((pod) => !isGated(pod));
        expect(placed.map(({ metadata }) => metadata.labels?.['job-name'])).toEqual(['beyond']);
        expectPlaced((await science.row(made))!, await podsOf(made));
        expect((await science.row(made))?.jobid).toBe(row.jobid);
        await delet(made);
        await gone(made);
        await waitFor('the forged pods to be collected', async () => (await forged()).length === 0);
      });

      test('gets larger places when its pods are larger than it says, and tells of that meanwhile', async () => {
        const { cluster } = getFixture().stack;
        // It looks at who creates a pod, so the queue's dry runs do not show it.
        const expression =
          'object.metadata.?name.orValue("") == "probe" || (request.userInfo.username == "system:serviceaccount:kube-system:job-controller" && ' +
          'object.metadata.labels["jobset.sigs.k8s.io/replicatedjob-name"] == "workers")';
        const policy = sidecarPolicy('science', { matchConditions: [{ name: 'of-workers', expression }] });
        await cluster.apply(policy);
        await waitFor('the policy to be in force', async () => {
          const { status, text } = await cluster.api.send('POST', `${podPath('science')}?dryRun=All`, {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'probe' },
            spec: { containers: [{ name: 'main', image: 'none' }] },
          });
          return status === 201 && (JSON.parse(text) as Pod).spec.containers.length === 2;
        });
        const made = await create('larger', { driver: {}, workers: { pods: 2, cores: 2 } });
        const excess = 'it asks for more than was granted for its pod set: 3 cores instead of 2 cores';
        await waitFor('its record to say it', async () =>
          JSON.stringify((await science.fluxJob('larger-jobset'))?.status ?? {}).includes(excess),
        );
        const pods = await running(made, 3);
        const row = await science.phase(made, 'Running');
        // A dry run of the policy once it has settled is believed, too, until a pod says something else again.
        expect([1, 2]).toContain(row.requeues);
        expect(row.clusterRequeues).toBe(row.requeues);
        expectPlaced(row, pods);
        for (const plural of ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies']) {
          const path = `/apis/admissionregistration.k8s.io/v1/${plural}/${policy[0]!.metadata.name}`;
          await getFixture().client.delete(path);
        }
        await delet(made);
        await gone(made);
      });

      test('counts for the person who created it', async () => {
        const { cluster } = getFixture().stack;
        await cluster.apply(USER_RIGHTS);
        const limits = await Namespace.create(getFixture, 'limits');
        await limits.fluxSetup('team', { limits: { perUser: { running: 1 } } });
        const users = usersOf(cluster);
        const made: KubeObject[] = [];
        for (const [user, name] of [
          ['alice', 'a-1'],
          ['alice', 'a-2'],
          ['bob', 'b-1'],
        ] as const)
          made.push(await accepted(users.create(user, 'limits', jobSet(name, { workers: { pods: 2 } }))));
        const [first, second, third] = made as unknown as [JobSet, JobSet, JobSet];
        await limits.phase(first, 'Running');
        await limits.phase(third, 'Running');
        const { user, message } = await limits.phase(second, 'Waiting', 'QuotaExceeded');
        expect([user, message]).toEqual(['alice', 'at most 1 workload of its user runs at a time']);
        for (const { metadata } of made)
          await getFixture().client.delete(jobSets('limits', metadata.name), {
            propagationPolicy: 'Background',
          });
        users.close();
      });

      test('runs as the manual shows it', async () => {
        const documents = yamlDocuments().map(({ document }) => document as KubeObject);
        const example = documents.filter(({ kind }) => kind === 'JobSet');
        expect(example).toHaveLength(1);
        const made = await getFixture().client.create<JobSet>(jobSets('science'), example[0]!);
        expect(await science.phase(made, 'Finished')).toMatchObject({
          result: 'Succeeded',
          pods: 5,
          walltime: 7200,
        });
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
