/** What users try in order to have more than their queue grants them. */
import { JOB_UID_LABEL, JOBID_ANNOTATION } from '../../constructs/api/labels';
import { fluxSetups } from '../../runtime/kubernetes/custom-resources';
import { jobs, pods } from '../../runtime/kubernetes/paths';
import type { Pod } from '../../runtime/kubernetes/types';
import { waitFor } from '../cluster/wait';
import { describeStack, eachInFreshNamespace } from './suite';
import type { Namespace } from './workloads';

describeStack(
  'nobody leaves the rules',
  (getFixture) => {
    let science: Namespace;

    eachInFreshNamespace(getFixture, (namespace) => {
      science = namespace;
    });

    test('orphaned pods keep their grant and end with its walltime', async () => {
      const { client } = getFixture();
      const annotations = { 'fluxqueue/walltime': '10m' };
      const job = await science.job('orphaned', { pods: 2, cores: 4, runs: '5m', annotations });
      const granted = await science.phase(job, 'Running');
      await waitFor('its pods to run', async () =>
        (await science.podsOf(job)).every(({ status }) => status?.phase === 'Running'),
      );
      await client.delete(jobs(science.name, 'orphaned'), { propagationPolicy: 'Orphan' });
      const orphans = await waitFor('the deadlines of its pods', async () => {
        const found = await science.pods();
        const isOrphan = ({ metadata, spec }: Pod) =>
          metadata.ownerReferences === undefined && spec.activeDeadlineSeconds !== undefined;
        return found.length === 2 && found.every(isOrphan) && found;
      });
      for (const { spec } of orphans) {
        expect(spec.activeDeadlineSeconds).toBeGreaterThan(500);
        expect(spec.activeDeadlineSeconds).toBeLessThanOrEqual(601);
      }
      const next = await science.job('next', { pods: 2, cores: 4 });
      await science.phase(next, 'Waiting', 'Reserved');
      expect(await science.row(job)).toMatchObject({ phase: 'Running', allocation: granted.allocation });
      for (const { metadata } of orphans) await client.delete(pods(science.name, metadata.name), {});
      expect(await science.phase(job, 'Finished')).toMatchObject({ result: 'Cancelled' });
      await science.phase(next, 'Finished');
    });

    test('pods of another namespace that name a Job as their owner do not keep its grant', async () => {
      const { client, stack } = getFixture();
      const other = `${science.name}-other`;
      await stack.namespace(other, false);
      const job = await science.job('victim', { runs: '5m' });
      const { jobid } = await science.phase(job, 'Running');
      const { uid } = job.metadata;
      const forged = await client.create<Pod>(pods(other), {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'forged',
          // The garbage collector deletes a pod whose owner does not exist in its namespace.
          finalizers: ['example.org/stays'],
          labels: { [JOB_UID_LABEL]: uid },
          ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'victim', uid, controller: true }],
        },
        spec: { nodeName: 'node-0', containers: [{ name: 'main', image: 'none' }] },
      });
      const isRefused = client.create(pods(other), {
        metadata: { name: 'numbered', annotations: { [JOBID_ANNOTATION]: String(jobid) } },
        spec: { containers: [{ name: 'main', image: 'none' }] },
      });
      await expect(isRefused).rejects.toThrow('FLUXQ_RESERVED');
      await science.delete(job, 'Job');
      expect(await science.phase(job, 'Finished')).toMatchObject({ result: 'Cancelled' });
      await client.patch(pods(other, forged.metadata.name), { metadata: { finalizers: null } }, 'merge');
    });

    test("a label does not leave the FluxSetup of a namespace for the stack's own queue", async () => {
      const { client } = getFixture();
      const setup = { apiVersion: 'flux-framework.org/v1alpha1', kind: 'FluxSetup' };
      await client.create(fluxSetups(science.name), { ...setup, metadata: { name: 'team' }, spec: {} });
      const labels = { 'fluxqueue/queue': 'default' };
      const job = await science.job('leaving', { labels });
      await science.phase(job, 'Waiting', 'NoFluxSetup');
      await client.patch(fluxSetups(science.name, 'team'), { spec: { allowStackQueue: true } }, 'merge');
      expect(await science.phase(job, 'Finished')).toMatchObject({ queue: 'default', result: 'Succeeded' });
    });
  },
  { nodes: 2, nodeShape: { cpu: '4', memory: '64Gi' } },
);
