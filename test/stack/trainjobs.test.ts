// Own cluster: Trainer and the manager of JobSet run on it, with their kinds and their webhooks.
/** TrainJobs through the queue, with their own controllers: the JobSet of each is the workload, and its creator is the user. */
import { OWNER_ANNOTATION, USER_ANNOTATION } from '../../constructs/api/labels';
import { namespaced, pods as podPath } from '../../runtime/kubernetes/paths';
import type { KubernetesObject } from '../../runtime/kubernetes/types';
import { ALICE, accepted, denied, USER_RIGHTS, type Users, usersOf } from '../admission/users';
import type { KubeObject } from '../cluster/api';
import { waitFor } from '../cluster/wait';
import { untilAdmitted } from '../kinds/controllers';
import { JOBSET, startJobSet } from '../kinds/jobset';
import { type JobSet, jobSets } from '../kinds/jobsets';
import { kindOf } from '../kinds/objects';
import { misplacedPods } from '../kinds/table';
import { startTrainer, TRAINER } from '../kinds/trainer';
import { describeOwnStack, inOneNamespace } from './suite';
import { type Namespace, UNTIL_ENDED } from './workloads';

const trainJobs = namespaced('trainer.kubeflow.org', 'v1alpha1', 'trainjobs');
interface TrainJob extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const RUNTIME = {
  apiVersion: 'trainer.kubeflow.org/v1alpha1',
  kind: 'ClusterTrainingRuntime',
  metadata: { name: 'plain' },
  spec: {
    mlPolicy: { numNodes: 1 },
    template: {
      spec: {
        replicatedJobs: [
          {
            name: 'node',
            template: {
              metadata: { labels: { 'trainer.kubeflow.org/trainjob-ancestor-step': 'trainer' } },
              spec: {
                template: {
                  metadata: { annotations: { 'fluxqueue.test/duration': UNTIL_ENDED } },
                  spec: {
                    terminationGracePeriodSeconds: 0,
                    containers: [{ name: 'node', image: 'none', resources: { requests: { cpu: '4' } } }],
                  },
                },
              },
            },
          },
        ],
      },
    },
  },
};

const trainJob = (name: string, more: object = {}): KubeObject =>
  ({
    apiVersion: 'trainer.kubeflow.org/v1alpha1',
    kind: 'TrainJob',
    metadata: { name },
    spec: {
      runtimeRef: { name: 'plain' },
      trainer: { numNodes: 2 },
      runtimePatches: [
        {
          manager: 'example.com/user',
          trainingRuntimeSpec: { template: { metadata: { annotations: { 'fluxqueue/walltime': '90m' } } } },
        },
      ],
      ...more,
    },
  }) as unknown as KubeObject;

const programs = [JOBSET.buildOrSkip(), TRAINER.buildOrSkip()];
const describeIf = programs.includes(undefined) ? describe.skip : describe;

describeIf('a TrainJob', () => {
  describeOwnStack(
    'with its own controllers',
    (getFixture) => {
      let science: Namespace;
      let users: Users;
      const started: { stop(): Promise<void> }[] = [];
      inOneNamespace(getFixture, (namespace) => {
        science = namespace;
      });
      beforeAll(async () => {
        const { cluster } = getFixture().stack;
        const [jobSet, trainer] = programs as [string, string];
        started.push(await startJobSet(jobSet, cluster), await startTrainer(trainer, cluster));
        await cluster.apply(USER_RIGHTS);
        users = usersOf(cluster);
        await untilAdmitted(cluster, 'science', [kindOf('JobSet')]);
        await waitFor(
          'the runtime',
          async () => (await cluster.create(RUNTIME as unknown as KubeObject)).length > 0,
        );
        await waitFor('TrainJobs to have their creator noted', async () => {
          const path = `${trainJobs('science')}?dryRun=All`;
          const { body } = await users.send(ALICE, 'POST', path, trainJob('probe'));
          return body.metadata.annotations?.[USER_ANNOTATION] === ALICE;
        });
      });
      afterAll(async () => {
        users?.close();
        for (const each of started) await each.stop();
      });

      const create = async (name: string, more: object = {}) => {
        const path = trainJobs('science');
        return (await accepted(users.send(ALICE, 'POST', path, trainJob(name, more)))) as unknown as TrainJob;
      };
      const jobSetOf = ({ metadata: { name } }: TrainJob) =>
        waitFor(`the JobSet of ${name}`, () => getFixture().client.get<JobSet>(jobSets('science', name)));
      const podsOf = async ({ metadata: { name, uid } }: JobSet) =>
        (await science.pods()).filter(
          ({ metadata }) => metadata.annotations?.[OWNER_ANNOTATION] === `JobSet/${name}/${uid}`,
        );
      const running = (made: JobSet, count: number) =>
        waitFor(`${count} pods of ${made.metadata.name} to run`, async () => {
          const found = await podsOf(made);
          return found.filter(({ status }) => status?.phase === 'Running').length === count && found;
        });
      const suspend = (name: string, value: boolean) =>
        getFixture().client.patch(trainJobs('science', name), { spec: { suspend: value } }, 'merge');
      const gone = async (name: string, made: JobSet) => {
        await getFixture().client.delete(trainJobs('science', name), { propagationPolicy: 'Background' });
        await waitFor(`all of ${name} to be gone`, async () => {
          const row = await science.row(made);
          const record = await science.fluxJob(`${name}-jobset`);
          return row?.phase === 'Finished' && (await podsOf(made)).length === 0 && record === undefined;
        });
      };

      test('is one gang that counts for its creator, with the settings of its runtime patches', async () => {
        const made = await create('finetune');
        const jobSet = await jobSetOf(made);
        const row = await science.phase(jobSet, 'Running');
        expect(row).toMatchObject({ kind: 'JobSet', user: ALICE, pods: 2, walltime: 5400 });
        const pods = await running(jobSet, 2);
        expect(misplacedPods(kindOf('JobSet'), row, pods)).toBe(0);
        for (const { metadata } of pods)
          await getFixture().client.patch(
            podPath('science', metadata.name, 'status'),
            { status: { phase: 'Succeeded' } },
            'merge',
          );
        expect((await science.phase(jobSet, 'Finished')).result).toBe('Succeeded');
        await waitFor('the TrainJob to be complete', async () => {
          const { status } = await getFixture().client.get<TrainJob>(trainJobs('science', 'finetune'));
          return status?.conditions?.some(({ type, status: is }) => type === 'Complete' && is === 'True');
        });
        await gone('finetune', jobSet);
      });

      test('waits whole, and is suspended and resumed by its user', async () => {
        const first = await create('first', { trainer: { numNodes: 6 } });
        const jobSet = await jobSetOf(first);
        await science.phase(jobSet, 'Running');
        await running(jobSet, 6);
        const second = await create('second', { trainer: { numNodes: 6 } });
        const other = await jobSetOf(second);
        expect(await science.phase(other, 'Waiting')).toMatchObject({ allocation: null, user: ALICE });
        await suspend('first', true);
        await science.phase(jobSet, 'Waiting', 'Held');
        await running(other, 6);
        await suspend('first', false);
        await gone('second', other);
        await science.phase(jobSet, 'Running');
        await running(jobSet, 6);
        await gone('first', jobSet);
      });

      test('counts for nobody else by an owner that somebody names', async () => {
        const made = await create('real', { suspend: true });
        const [owner] = (await jobSetOf(made)).metadata.ownerReferences!;
        const { spec } = await jobSetOf(made);
        const forged = {
          apiVersion: 'jobset.x-k8s.io/v1alpha2',
          kind: 'JobSet',
          metadata: { name: 'mine', ownerReferences: [owner] },
          spec,
        };
        const reply = await accepted(users.send('mallory', 'POST', jobSets('science'), forged));
        const row = await science.phase(reply as unknown as JobSet, 'Waiting');
        expect(row.user).toBe('mallory');
        await gone('real', await jobSetOf(made));
      });

      test('is not taken with settings in its own metadata', async () => {
        const object = trainJob('wrong');
        const metadata = { ...object.metadata, annotations: { 'fluxqueue/walltime': '1h' } };
        await denied(
          users.send(ALICE, 'POST', trainJobs('science'), { ...object, metadata }),
          'FLUXQ_SETTING_INVALID: metadata: ',
        );
      });
    },
    { cluster: { nodes: 4, nodeShape: { cpu: '8' } }, createsMiniClusters: false },
  );
});
