// Own cluster: the controller of LeaderWorkerSets runs on it, with its kind and its webhooks.
/** LeaderWorkerSets through the queue, with their own controller: a leader and its workers start together, in both forms of admission. */
import { LEADER_WORKER_SET, LWS_EXCLUSIVE_ANNOTATION } from '../../constructs/api/leader-worker-set';
import { namespaced, pods as podPath } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import { isEndless } from '../../runtime/resources/endless';
import { isGated } from '../../runtime/workloads/pod';
import type { KubeObject } from '../cluster/api';
import { waitFor } from '../cluster/wait';
import { yamlDocuments } from '../docs/snippets';
import { LWS, startLeaderWorkerSets } from '../kinds/leader-worker-set';
import { drawOf } from '../seed';
import { LeaderWorkerSets, leaderWorkerSet } from './leader-worker-sets';
import { describeOwnStack, inOneNamespace } from './suite';
import { withWebhook } from './with-webhook';
import { type Namespace, UNTIL_ENDED } from './workloads';

const statefulSets = namespaced('apps', 'v1', 'statefulsets');

const OPTIONS = {
  cluster: { nodes: 4, nodeShape: { cpu: '4', memory: '64Gi' } },
  createsMiniClusters: false,
} as const;
const FORMS = { policies: OPTIONS, webhook: withWebhook(OPTIONS) } as const;
const drawn = drawOf(Object.keys(FORMS) as (keyof typeof FORMS)[], 1);

const program = LWS.buildOrSkip();
const describeIf = program === undefined ? describe.skip : describe;

describeIf.each(drawn)('a LeaderWorkerSet, with admission by %s', (form) => {
  describeOwnStack(
    'with its own controller',
    (getFixture) => {
      let science: Namespace;
      let controller: { stop(): Promise<void> } | undefined;
      inOneNamespace(getFixture, (namespace) => {
        science = namespace;
      });
      beforeAll(async () => {
        controller = await startLeaderWorkerSets(program!, getFixture().stack.cluster);
      });
      afterAll(() => controller?.stop());

      const sets = new LeaderWorkerSets(getFixture, () => science);
      const uidsOf = (pods: readonly Pod[]) => new Set(pods.map(({ metadata }) => metadata.uid));
      const delet = (name: string) => getFixture().client.delete(podPath('science', name));

      test('is one service for each leader with its workers, each pod on its granted node, and follows its scale', async () => {
        await sets.create('serve', { replicas: 2, size: 3 });
        for (const group of [0, 1]) {
          await sets.placed('serve', group, 3);
          const shown = await science.shown(`serve-${group}-podgroup`, 'Running');
          expect(shown.spec.workload).toMatchObject({ kind: 'PodGroup', name: `serve-${group}` });
          const row = (await sets.rowOf('serve', group))!;
          expect(row).toMatchObject({ phase: 'Running', pods: 3, user: 'namespace:science' });
          expect(isEndless(row.allocation!)).toBe(true);
        }
        await sets.scale('serve', 3);
        await sets.placed('serve', 2, 3);
        const first = uidsOf(await sets.podsOf('serve', 0));
        await sets.scale('serve', 1);
        await sets.gone('serve', 1);
        expect(uidsOf(await sets.running('serve', 0, 3))).toEqual(first);
        await sets.remove('serve');
      });

      test('never holds a part of what another one needs: of two that do not fit together one waits whole', async () => {
        for (const name of ['left', 'right']) await sets.create(name, { size: 4, cores: 4 });
        const [first, second] = await waitFor('one of them to run, and the other to wait whole', async () => {
          const [left, right] = await Promise.all(['left', 'right'].map((name) => sets.rowOf(name, 0)));
          // Each needs three of the four nodes, and a part of the fourth.
          expect([left, right].filter((row) => row != null && row.allocation !== null).length).toBeLessThan(
            2,
          );
          const names =
            left?.phase === 'Running' ? (['left', 'right'] as const) : (['right', 'left'] as const);
          const [runs, waits] = left?.phase === 'Running' ? [left, right] : [right, left];
          const whole =
            runs?.phase === 'Running' && waits?.phase === 'Waiting' && waits.reason !== 'GroupIncomplete';
          return whole && names;
        });
        await sets.running(first, 0, 4);
        const waiting = await sets.podsOf(second, 0);
        expect([waiting.length, waiting.filter(isGated).length]).toEqual([4, 4]);
        await sets.remove(first);
        await sets.placed(second, 0, 4);
        await sets.remove(second);
      });

      test('makes a group that lost a pod again as one, in the place that it had', async () => {
        await sets.create('lossy', { size: 3, restartPolicy: 'RecreateGroupOnPodRestart' });
        const before = uidsOf(await sets.running('lossy', 0, 3));
        const { uid, jobid } = (await sets.rowOf('lossy', 0))!;
        await delet('lossy-0-1');
        await sets.placed('lossy', 0, 3, ({ metadata }) => !before.has(metadata.uid));
        expect(await sets.rowOf('lossy', 0)).toMatchObject({ uid, jobid, phase: 'Running' });
        await sets.remove('lossy');
      });

      test('gives the place of a worker to the one that is made again alone, where its policy is None', async () => {
        await sets.create('patient', { size: 3, restartPolicy: 'None' });
        const before = uidsOf(await sets.running('patient', 0, 3));
        const { uid, jobid } = (await sets.rowOf('patient', 0))!;
        await delet('patient-0-2');
        const isRight = ({ metadata: { name, uid: own } }: Pod) =>
          before.has(own) === (name !== 'patient-0-2');
        await sets.placed('patient', 0, 3, isRight);
        expect(await sets.rowOf('patient', 0)).toMatchObject({ uid, jobid, phase: 'Running' });
        await sets.remove('patient');
      });

      test('makes the workers of a leader that was deleted again with it', async () => {
        await sets.create('headless', { size: 3, restartPolicy: 'None' });
        const before = uidsOf(await sets.running('headless', 0, 3));
        await delet('headless-0');
        await sets.placed('headless', 0, 3, ({ metadata }) => !before.has(metadata.uid));
        await sets.remove('headless');
      });

      test('is rolled out group by group, also on a full cluster, with what its new template asks for', async () => {
        await sets.create('rolled', { replicas: 2, size: 3, cores: 3 });
        for (const group of [0, 1]) await sets.running('rolled', group, 3);
        const asks = (cores: string) => (pod: Pod) =>
          pod.metadata.labels?.['leaderworkerset.sigs.k8s.io/worker-index'] === '0' ||
          pod.spec.containers[0]!.resources?.requests?.cpu === cores;
        const smaller = {
          ...(leaderWorkerSet('rolled', { size: 3, cores: 2 }).spec as Record<string, object>),
        };
        await sets.patch('rolled', { leaderWorkerTemplate: smaller.leaderWorkerTemplate });
        for (const group of [0, 1]) await sets.placed('rolled', group, 3, asks('2'));
        expect((await sets.rows('rolled')).map(({ name }) => name).sort()).toEqual(['rolled-0', 'rolled-1']);
        await sets.remove('rolled');
      });

      test('runs as the manual shows it', async () => {
        const documents = yamlDocuments().map(({ document }) => document as KubeObject);
        const [example, ...others] = documents.filter(({ kind }) => kind === LEADER_WORKER_SET.kind);
        expect(others).toEqual([]);
        await sets.create('llama', example!);
        for (const group of [0, 1]) await sets.placed('llama', group, 3);
        await sets.remove('llama');
      });

      test('that is older than the opt-in of its namespace is queued once the StatefulSet of its leaders is made again', async () => {
        const { stack, client } = getFixture();
        await stack.cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } });
        const pods = async () => (await client.list<Pod>(podPath('late'))).items;
        const late = new LeaderWorkerSets(getFixture, () => ({ name: 'late', pods }));
        await late.create('old');
        await waitFor('its pods to run', async () => {
          const made = await late.podsOf('old');
          return made.length === 2 && made.every(({ status }) => status?.phase === 'Running');
        });
        await stack.namespace('late');
        await client.delete(statefulSets('late', 'old'), { propagationPolicy: 'Background' });
        await late.placed('old', 0, 2);
        await late.remove('old');
      });

      test.each([
        ['spec.startupPolicy', { spec: { startupPolicy: 'LeaderReady' } }],
        [
          `metadata.annotations["${LWS_EXCLUSIVE_ANNOTATION}"]`,
          { annotations: { [LWS_EXCLUSIVE_ANNOTATION]: 'zone' } },
        ],
      ])('that makes its workers after their leader is refused: %s', async (field, shape) => {
        const { status, body } = await sets.post(leaderWorkerSet('late', shape));
        expect([status, body.message]).toEqual([403, expect.stringContaining(`FLUXQ_POD_SETS: ${field}`)]);
      });

      // The last one, because queues of the namespace are those of all workloads in it.
      test('is preempted as one, and comes back as one', async () => {
        await science.fluxSetup('calm', { preemption: { minRuntime: '0s' } });
        await science.fluxSetup('urgent', { preemption: { policy: 'LowerPriority' } });
        const settings = { 'fluxqueue/queue': 'calm', 'fluxqueue/preemptible': 'true' };
        await sets.create('meek', { size: 3, cores: 4, settings });
        await sets.running('meek', 0, 3);
        const urgent = await science.job('urgent', {
          pods: 4,
          cores: 4,
          runs: UNTIL_ENDED,
          labels: { 'fluxqueue/queue': 'urgent' },
          annotations: { 'fluxqueue/priority': '10' },
        });
        await science.phase(urgent, 'Running');
        await waitFor('all its pods to wait', async () => {
          const found = await sets.podsOf('meek', 0);
          return found.length === 3 && found.every(isGated);
        });
        expect(await sets.rowOf('meek', 0)).toMatchObject({ phase: 'Waiting', allocation: null });
        await science.delete(urgent, 'Job');
        await sets.placed('meek', 0, 3);
        await sets.remove('meek');
      });
    },
    FORMS[form],
  );
});
