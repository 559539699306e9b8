/** Workloads that are deleted while something holds their objects. */
import { job } from '../../stack/manifests';
import type { Row } from '../row';

export const DELETION_ROWS: readonly Row[] = [
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
