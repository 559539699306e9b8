// Own cluster: another user is the runtime.
/** An elastic Job: pods that it gains go through the queue, and the units of pods that it loses are freed. */
import { CONTROLLER_SERVICE_ACCOUNT, GANG_SIZE, STACK_NAMESPACE } from '../../constructs/api/labels';
import { jobs } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { assignedNode } from '../../runtime/workloads/pod';
import { waitFor } from '../cluster/wait';
import { describeOwnStack } from './suite';
import { Namespace } from './workloads';

const BAND = {
  pods: 2,
  cores: 2,
  runs: '10m',
  annotations: { [GANG_SIZE]: '2', 'fluxqueue/priority': '5', 'fluxqueue/walltime': '10m' },
};

describeOwnStack(
  'an elastic Job',
  (getFixture) => {
    let science: Namespace;

    beforeAll(async () => {
      const { stack } = getFixture();
      await stack.startController({ fluxion: { address: 'embedded' } });
      science = await Namespace.create(getFixture, 'science');
    });

    const resize = (job: Job, size: number) =>
      getFixture().client.patch(
        jobs('science', job.metadata.name),
        { spec: { parallelism: size, completions: size } },
        'merge',
      );

    const indexOf = ({ metadata }: Pod) =>
      Number(metadata.annotations?.['batch.kubernetes.io/job-completion-index']);

    /** Resolves to the pods in the order of their indexes once this number of them runs. */
    const running = (job: Job, count: number) =>
      waitFor(`${count} pods of ${job.metadata.name} to run`, async () => {
        const pods = (await science.podsOf(job)).filter(({ status }) => status?.phase === 'Running');
        return pods.length === count && pods.sort((a, b) => indexOf(a) - indexOf(b));
      });

    /** The number of used cores per node. */
    const coresOn = (pods: readonly Pod[]) => {
      const used = new Map<string, number>();
      for (const pod of pods) used.set(pod.spec.nodeName!, (used.get(pod.spec.nodeName!) ?? 0) + 1);
      return used;
    };

    test('grows pod by pod through the queue, shrinks, and grows again', async () => {
      const job = await science.job('band', BAND);
      const [first] = await running(job, 2);
      // Both pods are on one node: further pods must not run there without a grant.
      expect((await science.row(job))!.allocation!.nodes).toHaveLength(1);

      await resize(job, 6);
      const grown = await running(job, 6);
      expect([...coresOn(grown).values()]).toEqual([2, 2, 2]);
      for (const pod of grown.slice(2)) {
        science.uids.push(pod.metadata.uid);
        const row = await science.phase(pod, 'Running');
        expect(row).toMatchObject({ kind: 'Pod', pods: 1, priority: 5 });
        expect(row.walltime).toBeLessThanOrEqual(600);
        expect(row.allocation!.nodes.map(({ name }) => name)).toEqual([pod.spec.nodeName]);
      }

      // All units are allocated, so the next Job waits until the elastic Job shrinks.
      const late = await science.job('late', { cores: 2, runs: '10m' });
      await science.phase(late, 'Waiting', 'Reserved');
      await resize(job, 5);
      await science.phase(late, 'Running');
      expect((await science.phase(grown[5]!, 'Finished')).result).toBe('Cancelled');
      const uids = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.uid);
      expect(uids(await running(job, 5))).toEqual(uids(grown.slice(0, 5)));

      // A pod for which no units are free waits in the queue.
      await resize(job, 6);
      const waiting = await waitFor('the sixth pod to wait', async () => {
        const pod = (await science.podsOf(job)).find((one) => indexOf(one) === 5);
        return pod !== undefined && assignedNode(pod) === undefined && pod;
      });
      await science.phase(waiting, 'Waiting', 'Reserved');
      await science.delete(late, 'Job');
      await science.phase(waiting, 'Running');
      expect((await running(job, 6))[0]!.metadata.uid).toBe(first!.metadata.uid);
      expect((await science.row(job))!.requeues).toBe(0);
      expect(await science.verdict()).toMatchObject({ misplaced: 0, doubleGranted: 0 });
      await science.delete(job, 'Job');
      await science.phase(job, 'Finished');
    });

    test('is requeued when a node of its gang is lost, and runs on other nodes', async () => {
      const { cluster } = getFixture().stack;
      const spec = { backoffLimit: 10 };
      const job = await science.job('nomad', { ...BAND, spec });
      await running(job, 2);
      await resize(job, 4);
      const before = await running(job, 4);
      const lost = before[0]!.spec.nodeName!;
      await cluster.removeNode(lost);
      const after = await waitFor('other pods', async () => {
        const pods = await running(job, 4);
        return pods.every(({ metadata }) => !before.some((old) => old.metadata.uid === metadata.uid)) && pods;
      });
      for (const pod of after) expect(pod.spec.nodeName).not.toBe(lost);
      expect(await science.phase(job, 'Running')).toMatchObject({ requeues: 1, pods: 2 });
      // The earlier grants are freed: no node has more pods than cores.
      expect([...coresOn(after).values()].every((count) => count <= 2)).toBe(true);
    });
  },
  {
    createsMiniClusters: false,
    cluster: { nodes: 3, nodeShape: { cpu: '4', memory: '64Gi' } },
    // Only the runtime makes started Jobs grow, those of MiniClusters: here the tests' client acts as a part of it.
    props: {
      externalRuntime: {
        users: ['admin', `system:serviceaccount:${STACK_NAMESPACE}:${CONTROLLER_SERVICE_ACCOUNT}`],
      },
    },
  },
);
