/** Services, which have no end, and workloads that outlast theirs, on a real control plane. */
import { JOB_TRACKING_FINALIZER } from '../../constructs/api/job-controller';
import { DEADLINE_ANNOTATION, GROUP, GROUP_SIZE } from '../../constructs/api/labels';
import { waitFor } from '../cluster/wait';
import { describeStack, eachInFreshNamespace } from './suite';
import { containerStatus, type Namespace, NEVER_STARTS, type Shape, UNTIL_ENDED } from './workloads';

/** Times of Kubernetes have whole seconds. */
const inSeconds = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

describeStack(
  'planned ends',
  (getFixture) => {
    let science: Namespace;

    eachInFreshNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    const walltime = (time: string) => ({ 'fluxqueue/walltime': time });
    const waitsWritten = async (uid: string) =>
      (await getFixture().queue.history(uid)).filter(({ event }) => event === 'Waiting').length;

    test('a Job that needs the node of a service says which, blocks nobody, and starts when it has left', async () => {
      await getFixture().stack.cluster.create(deployment(science.name));
      const replica = await waitFor('the service to run', async () =>
        (await science.pods()).find(({ status }) => status?.phase === 'Running'),
      );
      const served = await science.phase(replica, 'Running');
      expect(served.allocation!.end - served.allocation!.start).toBeGreaterThan(9 * 365 * 24 * 3600);
      const shown = await science.shown(`${replica.metadata.name}-pod`, 'Running');
      expect(shown.spec.walltimeSeconds).toBeUndefined();
      const wide = await science.job('wide', { pods: 2, cores: 4, annotations: walltime('60s') });
      expect((await science.phase(wide, 'Waiting', 'Busy')).message).toBe(
        `needs 2 pods with 4 cores each; it can start only when services leave their nodes (${science.name}/${replica.metadata.name})`,
      );
      const other = await science.job('other', { cores: 4, runs: UNTIL_ENDED, annotations: walltime('1h') });
      await science.phase(other, 'Running');
      expect((await science.row(wide))!.estimatedStart).toBeNull();
      await getFixture().client.delete(`/apis/apps/v1/namespaces/${science.name}/deployments/web`);
      await science.delete(other, 'Job');
      await science.phase(wide, 'Finished');
      expect(await science.verdict()).toMatchObject({ misplaced: 0, doubleGranted: 0 });
    });

    test.each<[string, Shape]>([
      ['a Pod', {}],
      ['a Pod of a group', { labels: { [GROUP]: 'ring' }, annotations: { [GROUP_SIZE]: '1' } }],
    ])('%s whose image is pulled for seconds has its walltime after that, to the second', async (_, made) => {
      const pod = await science.pod('late', {
        ...made,
        annotations: { ...made.annotations, ...walltime('10s'), [NEVER_STARTS]: 'true' },
        runs: UNTIL_ENDED,
        podSpec: { restartPolicy: 'Never', activeDeadlineSeconds: 7200 },
      });
      const seen = async () => (await science.podsOf(pod))[0]!;
      const { spec, metadata } = await waitFor('the pod to be bound', async () => {
        const found = await seen();
        return found.spec.nodeName !== undefined && found;
      });
      expect(spec.activeDeadlineSeconds).toBe(10 + 3600);
      expect(metadata.annotations?.[DEADLINE_ANNOTATION]).toBe('10+3600/7200');
      // As its kubelet says it: one of kwok's own would write the times of another moment if it wrote twice.
      const bound = Date.now();
      await science.podStatus(pod, {
        phase: 'Pending',
        startTime: inSeconds(bound),
        containerStatuses: [containerStatus({ waiting: { reason: 'ContainerCreating' } })],
      });
      await science.podStatus(pod, {
        phase: 'Running',
        containerStatuses: [containerStatus({ running: { startedAt: inSeconds(bound + 3_000) } })],
      });
      const ends = await waitFor('its exact deadline', async () => {
        const found = await seen();
        return (found.spec.activeDeadlineSeconds ?? 0) < 3600 && found;
      });
      expect(ends.spec.activeDeadlineSeconds).toBe(13);
      expect(ends.metadata.annotations?.[DEADLINE_ANNOTATION]).toBe('13/7200');
      await science.delete(pod, 'Pod');
    });

    test('a pod that stays past the walltime of its Job idles no other node, and its wait is written once', async () => {
      const late = await science.job('late', {
        cores: 4,
        runs: UNTIL_ENDED,
        annotations: walltime('5s'),
        stuck: true,
      });
      const wide = await science.job('wide', { pods: 2, cores: 4, annotations: walltime('60s') });
      const { estimatedStart, message } = await science.phase(wide, 'Waiting', 'Reserved');
      const { allocation } = await science.phase(late, 'Running');
      const givenUp = `nodes are reserved for it behind ${science.name}/late, which should have ended by now`;
      // A slow machine may need the five seconds until it plans.
      expect(estimatedStart).toBe(message === givenUp ? null : allocation!.end);
      const waiting = await waitFor('the promised start to be given up', async () => {
        const row = await science.row(wide);
        return row?.estimatedStart === null && row;
      });
      expect(waiting).toMatchObject({
        reason: 'Reserved',
        message: givenUp,
      });
      await waitFor('its FluxJob to promise no start', async () => {
        const { status } = await science.shown('wide-job', 'Waiting', 'Reserved');
        return status!.start === undefined && status!.estimatedStart === undefined;
      });
      const written = await waitsWritten(wide.metadata.uid);
      const small = await science.job('small', { cores: 4, annotations: walltime('20s') });
      await science.phase(small, 'Finished');
      expect((await science.row(late))!.phase).toBe('Running');
      expect(await waitsWritten(wide.metadata.uid)).toBe(written);
      for (const pod of await science.podsOf(late)) {
        // The Job controller removes its own once it has counted the pod.
        const finalizers = (pod.metadata.finalizers ?? []).filter((name) => name === JOB_TRACKING_FINALIZER);
        await science.patch(pod, 'Pod', { metadata: { finalizers } });
      }
      await science.phase(wide, 'Finished');
      expect(await science.phase(late, 'Finished')).toMatchObject({ result: 'TimedOut' });
      expect(await science.verdict()).toMatchObject({ misplaced: 0, doubleGranted: 0 });
    });
  },
  { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
);

function deployment(namespace: string) {
  const container = { name: 'main', image: 'none', resources: { requests: { cpu: '2' } } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { terminationGracePeriodSeconds: 0, containers: [container] },
      },
    },
  };
}
