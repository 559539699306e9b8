/** Pods that have to leave and end with exit code 0: nobody takes that for the end of their Job. */
import { pods } from '../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../runtime/kubernetes/types';
import { secondsOf } from '../../runtime/workloads/adapter';
import { waitFor } from '../cluster/wait';
import { describeStack, inOneNamespace } from './suite';
import { containerStatus, type Namespace, UNTIL_ENDED } from './workloads';

describeStack(
  'a pod that ends with exit code 0 because it has to leave',
  (getFixture) => {
    const shape = { runs: UNTIL_ENDED, stuck: true, podSpec: { terminationGracePeriodSeconds: 30 } };
    let science: Namespace;
    inOneNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    /** The pod of the Job once somebody has deleted it. */
    const leaving = (job: Job): Promise<Pod> =>
      waitFor('its pod to be deleted', async () => {
        const [pod] = await science.podsOf(job);
        return pod?.metadata.deletionTimestamp === undefined ? undefined : pod;
      });

    /** What a kubelet does when the containers have ended: it says so, and deletes the pod for good, which a finalizer still keeps. */
    const endAsKubelet = async (pod: Pod): Promise<Pod> => {
      const { client } = getFixture();
      const path = pods(science.name, pod.metadata.name);
      const finishedAt = `${new Date().toISOString().slice(0, 19)}Z`;
      const terminated = {
        exitCode: 0,
        reason: 'Completed',
        startedAt: pod.metadata.creationTimestamp,
        finishedAt,
      };
      await science.podStatus(pod, {
        phase: 'Succeeded',
        containerStatuses: [containerStatus({ terminated })],
      });
      await client.delete(path, { gracePeriodSeconds: 0 });
      const ended = await client.get<Pod>(path);
      // As if it had ended before anybody deleted it.
      expect(ended.metadata.deletionGracePeriodSeconds).toBe(0);
      expect(secondsOf(ended.metadata.deletionTimestamp!)).toBeGreaterThanOrEqual(secondsOf(finishedAt));
      return ended;
    };

    const letGo = (pod: Pod) => science.patch(pod, 'Pod', { metadata: { finalizers: null } });

    /** Everything that happened before is reconciled. */
    const settled = async (name: string) => {
      await science.phase(await science.job(name), 'Finished');
    };

    test('its suspended Job is held, and what depends on it waits', async () => {
      const job = await science.job('paused', { ...shape, spec: { backoffLimit: 5 } });
      await science.phase(job, 'Running');
      const next = await science.job('after-paused', { annotations: { 'fluxqueue/after': 'paused' } });
      await science.patch(job, 'Job', { spec: { suspend: true } });
      const pod = await endAsKubelet(await leaving(job));
      await science.phase(job, 'Waiting', 'Held');
      await letGo(pod);
      await settled('later');
      expect(await science.row(job)).toMatchObject({ phase: 'Waiting', result: null });
      expect(await science.row(next)).toMatchObject({ phase: 'Waiting', reason: 'DependencyPending' });
    });

    test('its Job that runs into its walltime is TimedOut', async () => {
      const job = await science.job('long', { ...shape, annotations: { 'fluxqueue/walltime': '3s' } });
      const next = await science.job('after-long', { annotations: { 'fluxqueue/after': 'long' } });
      const pod = await endAsKubelet(await leaving(job));
      await settled('later-still');
      await letGo(pod);
      expect((await science.phase(job, 'Finished')).result).toBe('TimedOut');
      expect(await science.row(next)).toMatchObject({ phase: 'Waiting', reason: 'DependencyPending' });
    });
  },
  { nodes: 1, nodeShape: { cpu: '4', memory: '16Gi' } },
);
