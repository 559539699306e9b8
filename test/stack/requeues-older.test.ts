// Own cluster: the Job controller of a Kubernetes before 1.36 keeps status.startTime for ever.
/** A Job that has run and loses its nodes starts again, for each cause, where Kubernetes itself would not let it. */
import { NAMESPACE_LABEL } from '../../constructs/api/labels';
import { jobs, namespaces } from '../../runtime/kubernetes/paths';
import type { Job } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeOwnStack } from './suite';
import { ADA, giveRole } from './users';
import { withWebhook } from './with-webhook';
import { Namespace, type Shape, UNTIL_ENDED } from './workloads';

/** The oldest version that the programs of these tests can be told to be. */
const OLDER = '1.34';

describeOwnStack(
  'a Job that has run, before Kubernetes 1.36',
  (getFixture) => {
    let science: Namespace;
    beforeAll(async () => {
      await getFixture().stack.startController();
    });
    beforeEach(async () => {
      science = await Namespace.create(getFixture, `science-${Math.random().toString(36).slice(2, 8)}`);
      await giveRole(getFixture().stack.cluster, ADA, 'edit', science.name);
    });
    afterEach(async () => {
      const path = `${jobs(science.name)}?propagationPolicy=Background`;
      await getFixture().stack.cluster.request('DELETE', path);
    });

    const stored = (job: Job) => getFixture().client.get<Job>(jobs(science.name, job.metadata.name));
    const fluxqueue = async (...args: readonly string[]): Promise<string> => {
      const { stack } = getFixture();
      const KUBECONFIG = stack.cluster.kubeconfigForUser(ADA);
      return stack.roles.once([...args, '-n', science.name], { KUBECONFIG });
    };
    /** Fills its nodes, so that nothing else runs beside it. */
    const run = async (name: string, shape: Shape = {}) => {
      const annotations = { 'fluxqueue/preemptible': 'true', ...shape.annotations };
      const job = await science.job(name, { cores: 4, runs: UNTIL_ENDED, ...shape, annotations });
      return { job, before: await science.phase(job, 'Running') };
    };
    /** Its pods run on the nodes of its grant. */
    const runsWhereGranted = (job: Job) =>
      waitFor('its pods on their nodes', async () => {
        const pods = (await science.podsOf(job)).filter(({ status }) => status?.phase === 'Running');
        const { allocation } = (await science.row(job))!;
        const granted = allocation?.nodes.map(({ name }) => name).sort();
        return (
          pods.length === job.spec.parallelism &&
          pods
            .map(({ spec }) => spec.nodeName)
            .sort()
            .join() === granted?.join()
        );
      });

    const SHAPES: readonly (readonly [string, Shape])[] = [
      ['an Indexed one', { pods: 2 }],
      ['one without indexes', { pods: 2, indexed: false }],
      ['an array with more tasks than run at once', { pods: 1, completions: 3 }],
      ['a gang', { pods: 2, annotations: { 'fluxqueue/gang-size': '2' } }],
    ];

    test.each(SHAPES)('that its user suspends and resumes: %s', async (_, shape) => {
      const { job, before } = await run('paused', shape);
      await science.patch(job, 'Job', { spec: { suspend: true } });
      await science.phase(job, 'Waiting', 'Held');
      const { job: other } = await run('other', { pods: 3 });
      await fluxqueue('release', 'paused');
      await science.delete(other, 'Job');
      await science.regranted(job, before);
      await runsWhereGranted(job);
    });

    test('that is preempted', async () => {
      await science.fluxSetup('calm', { preemption: { minRuntime: '0s' } });
      await science.fluxSetup('urgent', { preemption: { policy: 'LowerPriority' } });
      const labels = (queue: string) => ({ 'fluxqueue/queue': queue });
      const { job, before } = await run('low', { pods: 3, labels: labels('calm') });
      const urgent = await science.job('high', {
        cores: 4,
        runs: '1s',
        labels: labels('urgent'),
        annotations: { 'fluxqueue/priority': '10' },
      });
      await science.phase(urgent, 'Finished');
      expect(await science.regranted(job, before)).toMatchObject({ preemptions: 1, requeues: 0 });
      await runsWhereGranted(job);
    });

    test('whose pods wait for the gate of another controller when it is suspended', async () => {
      const podSpec = { schedulingGates: [{ name: 'example.com/data' }] };
      const job = await science.job('gated', { cores: 4, runs: UNTIL_ENDED, podSpec });
      const pods = async () => {
        const all = await science.podsOf(job);
        return (
          all.length === 1 && all.every(({ metadata }) => metadata.deletionTimestamp === undefined) && all
        );
      };
      const before = await waitFor('its pod', pods);
      await science.patch(job, 'Job', { spec: { suspend: true } });
      await science.phase(job, 'Waiting', 'Held');
      await fluxqueue('release', 'gated');
      const [pod] = await waitFor('another pod', async () => {
        const now = await pods();
        return now && now[0]!.metadata.uid !== before[0]!.metadata.uid && now;
      });
      const kept = pod!.spec.schedulingGates!.filter(({ name }) => name !== 'example.com/data');
      const path = `/api/v1/namespaces/${science.name}/pods/${pod!.metadata.name}`;
      await getFixture().client.patch(path, { spec: { schedulingGates: kept } }, 'merge');
      await science.phase(job, 'Running');
      await runsWhereGranted(job);
    });

    test('that its user gives back', async () => {
      const { job, before } = await run('given', { pods: 2 });
      await fluxqueue('requeue', 'given');
      await science.regranted(job, before);
      await runsWhereGranted(job);
    });

    test('that its user makes empty and large again', async () => {
      const { job, before } = await run('empty', { indexed: false, spec: { completions: undefined } });
      await science.patch(job, 'Job', { spec: { parallelism: 0 } });
      await science.phase(job, 'Waiting');
      await science.patch(job, 'Job', { spec: { parallelism: 1 } });
      await science.regranted(job, before);
      await runsWhereGranted(job);
    });

    test('that loses a node', async () => {
      const { cluster } = getFixture().stack;
      const { job, before } = await run('lost', { pods: 2, annotations: { 'fluxqueue/gang-size': '2' } });
      await cluster.removeNode(before.allocation!.nodes[0]!.name);
      await cluster.addNodes(1);
      expect(await science.regranted(job, before)).toMatchObject({ clusterRequeues: 1 });
      await runsWhereGranted(job);
    });

    test('whose namespace leaves the queue while it waits: it runs without the queue', async () => {
      const { job } = await run('leaves', { pods: 2 });
      const { job: other } = await run('other', { pods: 1 });
      await science.patch(job, 'Job', { spec: { suspend: true } });
      await science.phase(job, 'Waiting', 'Held');
      const { job: next } = await run('next', { pods: 2 });
      await fluxqueue('release', 'leaves');
      await science.phase(job, 'Waiting', 'Reserved');
      await getFixture().client.patch(
        namespaces(science.name),
        { metadata: { labels: { [NAMESPACE_LABEL]: null } } },
        'merge',
      );
      expect(await science.phase(job, 'Finished')).toMatchObject({ result: 'Cancelled' });
      for (const each of [other, next]) await science.delete(each, 'Job');
      await waitFor('its pods', async () => {
        const { spec } = await stored(job);
        const pods = (await science.podsOf(job)).filter(({ status }) => status?.phase === 'Running');
        return spec.suspend !== true && pods.length === 2;
      });
    });

    test('whose namespace leaves the queue, and which its user suspends then, names no nodes any more', async () => {
      const { job } = await run('leaves', { pods: 2 });
      await getFixture().client.patch(
        namespaces(science.name),
        { metadata: { labels: { [NAMESPACE_LABEL]: null } } },
        'merge',
      );
      await science.patch(job, 'Job', { spec: { suspend: true } });
      await science.phase(job, 'Finished');
      const { spec } = await stored(job);
      expect(spec.suspend).toBe(true);
      expect(spec.template.metadata?.annotations).not.toHaveProperty(['fluxqueue/assignment']);
    });
  },
  withWebhook({
    cluster: { nodes: 3, nodeShape: { cpu: '4', memory: '64Gi' }, emulatedVersion: OLDER, users: [ADA] },
    props: { kubernetesVersion: `${OLDER}.0` },
    createsMiniClusters: false,
  }),
);
