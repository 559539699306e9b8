/** Workloads that are deleted while something holds their objects. */
import { job } from '../../stack/manifests';
import type { Row } from '../row';
import type { RowCluster } from '../row-cluster';

/** As `kubectl delete --cascade=orphan` does. */
async function deleteAlone(cluster: RowCluster, name: string): Promise<void> {
  await cluster.delete(`${cluster.path('batch/v1', 'jobs', name)}?propagationPolicy=Orphan`);
}

/** Asserts that the workload has no FluxJob. */
async function forgets(cluster: RowCluster, app: string): Promise<void> {
  await cluster.until(`the FluxJob of ${app} to go`, 60_000, async () => {
    const left = await cluster.fluxJobs(app);
    return left.length === 0;
  });
}

export const DELETION_ROWS: readonly Row[] = [
  {
    name: 'a Job that is deleted without its pods leaves no FluxJob once they have ended',
    async run(cluster) {
      await cluster.apply(job('alone', { pods: 2 }));
      const pods = await cluster.runs('alone', 2);
      await deleteAlone(cluster, 'alone');
      await cluster.until(
        'the Job to go',
        60_000,
        async () => !(await cluster.has('batch/v1', 'jobs', 'alone')),
      );
      const [fluxJob] = await cluster.fluxJobs('alone');
      expect(fluxJob?.status?.phase).toBe('Running');
      for (const { metadata } of pods) await cluster.delete(cluster.path('v1', 'pods', metadata.name));
      await forgets(cluster, 'alone');
    },
  },
  {
    name: 'a Job that is deleted without its pods after its end leaves no FluxJob',
    async run(cluster) {
      await cluster.apply(job('done', { runs: '1s' }));
      await cluster.says('done', /ran for/);
      await deleteAlone(cluster, 'done');
      await forgets(cluster, 'done');
    },
  },
  {
    name: 'a deleted Job that a finalizer holds frees its nodes',
    async run(cluster) {
      const held = job('held', { pods: 3, requests: { cpu: '4' } });
      held.metadata.finalizers = ['example.com/archive'];
      await cluster.apply(held);
      await cluster.runs('held', 3);
      const path = cluster.path('batch/v1', 'jobs', 'held');
      try {
        await cluster.delete(`${path}?propagationPolicy=Background`);
        // The Job controller keeps the pods of a Job that is only being deleted: its user deletes them.
        for (const { metadata } of await cluster.pods('held'))
          await cluster.delete(cluster.path('v1', 'pods', metadata.name));
        await cluster.apply(job('next', { pods: 3, requests: { cpu: '4' } }));
        await cluster.runs('next', 3);
      } finally {
        await cluster.patch(path, { metadata: { finalizers: null } });
      }
    },
  },
  {
    name: 'a deleted Job with a finalizer that waits is not granted anything',
    async run(cluster) {
      await cluster.apply(job('full', { pods: 3, requests: { cpu: '4' } }));
      await cluster.runs('full', 3);
      const held = job('held', { pods: 3, requests: { cpu: '4' } });
      held.metadata.finalizers = ['example.com/archive'];
      await cluster.apply(held);
      await cluster.says('held', /./);
      const path = cluster.path('batch/v1', 'jobs', 'held');
      try {
        await cluster.delete(path);
        await cluster.delete(`${cluster.path('batch/v1', 'jobs', 'full')}?propagationPolicy=Background`);
        await cluster.apply(job('next', { pods: 3, requests: { cpu: '4' } }));
        await cluster.runs('next', 3);
      } finally {
        await cluster.patch(path, { metadata: { finalizers: null } });
      }
    },
  },
];
