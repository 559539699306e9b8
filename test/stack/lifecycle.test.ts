/** The life of every kind of workload, with the roles as processes that have only their own rights. */
import { GATE } from '../../constructs/api/labels';
import type { Pod } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeStack, inOneNamespace } from './suite';
import { type Namespace, UNTIL_ENDED } from './workloads';

describeStack(
  'the life of a workload',
  (getFixture) => {
    let science: Namespace;

    inOneNamespace(
      getFixture,
      (namespace) => {
        science = namespace;
      },
      'sidecar',
    );

    const nodesOf = (pods: readonly Pod[]) => pods.map(({ spec }) => spec.nodeName).sort();

    test('an indexed Job runs on its allocated nodes, with one Event and a FluxJob that shows its status', async () => {
      const job = await science.job('train', { pods: 3, cores: 4, runs: UNTIL_ENDED });
      const running = await science.phase(job, 'Running');
      const shown = await science.shown('train-job', 'Running');
      const nodes = running.allocation!.nodes.map(({ name }) => name);
      expect(nodesOf(await science.podsOf(job))).toEqual([...nodes].sort());
      expect(shown.metadata.ownerReferences).toEqual([
        expect.objectContaining({ kind: 'Job', name: 'train', uid: job.metadata.uid, controller: true }),
      ]);
      expect(shown.spec).toMatchObject({ queue: 'default', priority: 0, pods: 3, walltimeSeconds: 3600 });
      const conditions = Object.fromEntries(
        shown.status!.conditions!.map(({ type, status }) => [type, status]),
      );
      expect(conditions).toEqual({
        Scheduled: 'True',
        Ready: 'True',
        Reconciling: 'False',
        Stalled: 'False',
      });
      expect(shown.status).toMatchObject({ nodeCount: 3, jobID: running.jobid });
      const table = await getFixture().stack.cluster.kubectl([
        'get',
        'fluxjobs.jobs.converged-computing.org',
        '-n',
        'science',
      ]);
      expect(table.stdout.split('\n')[0]!.split(/\s+/)).toEqual([
        'NAME',
        'QUEUE',
        'PHASE',
        'POSITION',
        'NODES',
        'START',
        'AGE',
      ]);
      expect(table.stdout).toMatch(/train-job +default +Running +node-\[0-2\] +20\S+Z/);
      await science.end(job);
      await science.phase(job, 'Finished');
      const end = await science.shown('train-job', 'Finished');
      expect(end.status).toMatchObject({ result: 'Succeeded', nodeCount: 3 });
      expect(end.status!.position).toBeUndefined();
      expect(await science.recordedEvents(job, 1)).toEqual([
        expect.stringMatching(/^Scheduled: 3 pods on node-\d, node-\d, node-\d after \d+s in queue default$/),
      ]);
    });

    test('the gated pods of a Job without indexes get the slots of its allocation', async () => {
      const job = await science.job('loose', { pods: 4, cores: 2, indexed: false, completions: 6 });
      await science.phase(job, 'Finished');
      const pods = await science.podsOf(job);
      expect(pods).toHaveLength(6);
      expect(await science.verdict()).toMatchObject({ misplaced: 0, doubleGranted: 0 });
    });

    test('a Pod and the pods of a Deployment run on their allocated nodes', async () => {
      const pod = await science.pod('probe');
      const deployment = await getFixture().stack.cluster.create({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'science' },
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: {
              terminationGracePeriodSeconds: 0,
              containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
            },
          },
        },
      });
      expect(deployment).toHaveLength(1);
      await science.phase(pod, 'Finished');
      expect((await science.shown('probe-pod', 'Finished')).status!.result).toBe('Succeeded');
      const replicas = await waitFor('two replicas to run', async () => {
        const all = (await science.pods()).filter(({ metadata }) => metadata.labels?.app === 'web');
        return all.length === 2 && all.every(({ status }) => status?.phase === 'Running') && all;
      });
      for (const replica of replicas) {
        const row = await science.phase(replica, 'Running');
        expect(replica.spec.nodeName).toBe(row.allocation!.nodes[0]!.name);
        const shown = await science.shown(`${replica.metadata.name}-pod`, 'Running');
        expect(shown.spec.workload.kind).toBe('Pod');
      }
      await getFixture().client.delete('/apis/apps/v1/namespaces/science/deployments/web');
      for (const replica of replicas)
        expect((await science.phase(replica, 'Finished')).result).toBe('Cancelled');
    });

    test('a finished Job frees its units for a waiting one', async () => {
      const first = await science.job('first', { pods: 3, cores: 4, runs: UNTIL_ENDED });
      await science.phase(first, 'Running');
      const second = await science.job('second', { pods: 3, cores: 4 });
      await science.phase(second, 'Waiting', 'Reserved');
      await science.end(first);
      const ready = await science.phase(second, 'Finished');
      expect(ready.allocatedAt!).toBeGreaterThanOrEqual((await science.row(first))!.releasedAt!);
      expect(await science.verdict()).toMatchObject({ misplaced: 0, doubleGranted: 0, lost: 0 });
    });

    test('a node of a wide Job is freed when its pod has succeeded', async () => {
      const wide = await science.job('wide', { pods: 2, cores: 4, runs: UNTIL_ENDED });
      const { allocation } = await science.phase(wide, 'Running');
      const [first] = await science.podsOf(wide);
      const big = await science.job('big', { pods: 2, cores: 4, runs: UNTIL_ENDED });
      await science.phase(big, 'Waiting', 'Reserved');
      await getFixture().client.patch(
        `/api/v1/namespaces/science/pods/${first!.metadata.name}/status`,
        { status: { phase: 'Succeeded' } },
        'merge',
      );
      const started = await science.phase(big, 'Running');
      expect(started.allocation!.nodes.map(({ name }) => name)).toContain(first!.spec.nodeName);
      const left = (await science.row(wide))!;
      expect(left.phase).toBe('Running');
      expect(left.allocation!.nodes).toHaveLength(allocation!.nodes.length - 1);
      // The status still shows all nodes on which the Job ran.
      expect((await science.shown('wide-job', 'Running')).status!.nodeCount).toBe(2);
      await science.delete(wide, 'Job');
      await science.phase(wide, 'Finished');
      await science.end(big);
      await science.phase(big, 'Finished');
    });

    test('a failed Job has the result Failed, and one that exceeds its deadline TimedOut', async () => {
      const failed = await science.job('failed', {
        annotations: {},
        spec: { backoffLimit: 0 },
        podSpec: { nodeSelector: { type: 'kwok' } },
        runs: UNTIL_ENDED,
      });
      await science.phase(failed, 'Running');
      const [pod] = await science.podsOf(failed);
      await getFixture().client.patch(
        `/api/v1/namespaces/science/pods/${pod!.metadata.name}/status`,
        { status: { phase: 'Failed' } },
        'merge',
      );
      const late = await science.job('late', { runs: UNTIL_ENDED, spec: { activeDeadlineSeconds: 1 } });
      expect((await science.phase(failed, 'Finished')).result).toBe('Failed');
      expect((await science.phase(late, 'Finished')).result).toBe('TimedOut');
      const shown = await science.shown('late-job', 'Finished');
      expect(shown.spec.walltimeSeconds).toBe(1);
      expect(shown.status!.conditions).toContainEqual(
        expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'TimedOut' }),
      );
    });

    test('no pod keeps the gate, and each workload has at most one Event', async () => {
      await science.finished();
      for (const pod of await science.pods())
        expect(pod.spec.schedulingGates?.map(({ name }) => name) ?? []).not.toContain(GATE);
      for (const uid of science.uids) {
        const [row] = await getFixture().queue.byUid([uid]);
        const object = { metadata: { uid } } as Pod;
        const events = await science.events(object);
        expect(events.length).toBeLessThanOrEqual(1);
        // A pod on a single node that started at once has only the Event of kube-scheduler.
        const nodes = row!.startedAt === null ? 0 : row!.allocation!.nodes.length;
        if (nodes > 1) expect(events).toHaveLength(1);
      }
    });
  },
  { nodes: 3, nodeShape: { cpu: '4', memory: '64Gi' } },
);
