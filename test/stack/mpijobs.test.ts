// Own cluster: the operator of MPIJobs runs on it, with its kind.
/** MPIJobs through the queue, with their own operator: launcher and workers are one gang of two pod sets. */
import { OWNER_ANNOTATION } from '../../constructs/api/labels';
import { namespaced, pods as podPath } from '../../runtime/kubernetes/paths';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { MPI_OPERATOR, startMpiOperator } from '../kinds/mpi-operator';
import { describeOwnStack, inOneNamespace } from './suite';
import { type Namespace, UNTIL_ENDED } from './workloads';

const mpiJobs = namespaced('kubeflow.org', 'v2beta1', 'mpijobs');
interface MpiJob extends KubernetesObject {
  readonly spec: { readonly runPolicy?: { readonly suspend?: boolean } };
}

const replicas = (count: number, cores: number) => ({
  replicas: count,
  template: {
    metadata: { annotations: { 'fluxqueue.test/duration': UNTIL_ENDED } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: `${cores}` } } }],
    },
  },
});
const mpiJob = (name: string, workers: number) => ({
  apiVersion: 'kubeflow.org/v2beta1',
  kind: 'MPIJob',
  metadata: { name, annotations: { 'fluxqueue/walltime': '1h' } },
  spec: {
    runPolicy: { cleanPodPolicy: 'All' },
    mpiReplicaSpecs: { Launcher: replicas(1, 1), Worker: replicas(workers, 4) },
  },
});

const program = MPI_OPERATOR.buildOrSkip();
const describeIf = program === undefined ? describe.skip : describe;

describeIf('an MPIJob', () => {
  describeOwnStack(
    'with its own operator',
    (getFixture) => {
      let science: Namespace;
      let operator: { stop(): Promise<void> } | undefined;
      inOneNamespace(getFixture, (namespace) => {
        science = namespace;
      });
      beforeAll(async () => {
        const { cluster } = getFixture().stack;
        operator = await startMpiOperator(program!, cluster);
        // The apiserver knows a new kind in mutating policies up to 30 s later than else.
        await waitFor('MPIJobs to be admitted', async () => {
          const reply = await cluster.api.send(
            'POST',
            `${mpiJobs('science')}?dryRun=All`,
            mpiJob('probe', 1),
          );
          return reply.status === 201;
        });
      });
      afterAll(() => operator?.stop());

      const create = async (name: string, workers: number) => {
        const made = await getFixture().client.create<MpiJob>(mpiJobs('science'), mpiJob(name, workers));
        science.uids.push(made.metadata.uid);
        return made;
      };
      const podsOf = async ({ metadata: { name } }: MpiJob) =>
        (await science.pods()).filter(
          ({ metadata: { labels = {} } }) => labels['training.kubeflow.org/job-name'] === name,
        );
      const running = (made: MpiJob, count: number) =>
        waitFor(`${count} pods of ${made.metadata.name} to run`, async () => {
          const found = await podsOf(made);
          return found.filter(({ status }) => status?.phase === 'Running').length === count && found;
        });
      const gone = async (made: MpiJob) => {
        await getFixture().client.delete(mpiJobs('science', made.metadata.name), {
          propagationPolicy: 'Background',
        });
        await waitFor(`all of ${made.metadata.name} to be gone`, async () => {
          const row = await science.row(made);
          const record = await science.fluxJob(`${made.metadata.name}-mpijob`);
          return row?.phase === 'Finished' && (await podsOf(made)).length === 0 && record === undefined;
        });
      };

      test('starts launcher and workers together on the granted nodes, and ends with its launcher', async () => {
        const made = await create('ring', 2);
        expect(made.spec.runPolicy?.suspend).toBe(true);
        const row = await science.phase(made, 'Running');
        expect(row).toMatchObject({ kind: 'MPIJob', pods: 3, walltime: 3600, user: 'admin' });
        const pods = await running(made, 3);
        const granted = row.allocation!.nodes.map(({ name }) => name);
        for (const { metadata, spec } of pods) {
          expect(metadata.annotations?.[OWNER_ANNOTATION]).toBe(`MPIJob/ring/${made.metadata.uid}`);
          expect(granted).toContain(spec.nodeName);
        }
        expect((await getFixture().queue.active()).map(({ kind }) => kind)).toEqual(['MPIJob']);
        const launcher = pods.find(
          ({ metadata }) => metadata.labels?.['training.kubeflow.org/job-role'] === 'launcher',
        );
        const path = podPath('science', launcher!.metadata.name, 'status');
        await getFixture().client.patch(path, { status: { phase: 'Succeeded' } }, 'merge');
        expect((await science.phase(made, 'Finished')).result).toBe('Succeeded');
        await gone(made);
      });

      test('never holds a part of what another one needs, and stops when its user suspends it', async () => {
        const [left, right] = [await create('left', 4), await create('right', 4)];
        const first = await waitFor('one of them to run', async () => {
          const rows = await Promise.all([left, right].map((each) => science.row(each)));
          return rows.find((row) => row?.phase === 'Running');
        });
        const [one, other] = first.name === 'left' ? [left, right] : [right, left];
        await running(one, 5);
        expect(await science.row(other)).toMatchObject({ phase: 'Waiting', allocation: null });
        expect(await podsOf(other)).toEqual([]);
        const suspend = { spec: { runPolicy: { suspend: true } } };
        await getFixture().client.patch(mpiJobs('science', one.metadata.name), suspend, 'merge');
        await science.phase(one, 'Waiting', 'Held');
        await science.phase(other, 'Running');
        await running(other, 5);
        for (const each of [one, other]) await gone(each);
      });
    },
    { cluster: { nodes: 5, nodeShape: { cpu: '4' } }, createsMiniClusters: false },
  );
});
