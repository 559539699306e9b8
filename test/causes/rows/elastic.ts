/** Arrays whose size their user changes while they run. */
import type { Job } from '../../../runtime/kubernetes/types';
import { job } from '../../stack/manifests';
import { nodes, type Row } from '../row';
import type { RowCluster } from '../row-cluster';

const path = (cluster: RowCluster) => cluster.path('batch/v1', 'jobs', 'tasks');

const shrinks = (completionMode: 'Indexed' | 'NonIndexed'): Row => ({
  name: `an ${completionMode} array whose parallelism is lowered returns the units of its other pods on the same node`,
  nodes: nodes(1),
  async run(cluster) {
    const spec = { completionMode, backoffLimit: 0 };
    await cluster.apply(job('tasks', { pods: 3, requests: { cpu: '1' }, spec }));
    await cluster.runs('tasks', 3);
    await cluster.apply(job('next', { requests: { cpu: '3' } }));
    await cluster.says('next', /reserved/);
    await cluster.patch(path(cluster), { spec: { parallelism: 1 } });
    await cluster.runs('next', 1);
    await cluster.runs('tasks', 1);
    await cluster.keptItsGrant('tasks');
  },
});

export const ELASTIC_ROWS: readonly Row[] = [
  shrinks('Indexed'),
  shrinks('NonIndexed'),
  {
    name: 'all tasks of an array whose parallelism was lowered run one after the other on what it kept',
    async run(cluster) {
      const spec = { backoffLimit: 0 };
      await cluster.apply(job('tasks', { pods: 6, requests: { cpu: '2' }, runs: '20s', spec }));
      await cluster.runs('tasks', 6, { perNode: 2 });
      await cluster.patch(path(cluster), { spec: { parallelism: 1 } });
      await cluster.succeeds('tasks', 6);
      await cluster.nothingHeld();
    },
  },
  {
    name: 'an array that its user makes larger keeps its size without an error',
    async run(cluster) {
      await cluster.apply(job('tasks', { pods: 2, requests: { cpu: '1' } }));
      await cluster.runs('tasks', 2);
      await cluster.patch(path(cluster), { spec: { parallelism: 6, completions: 6 } });
      const { spec } = await cluster.get<Job>(path(cluster));
      expect(spec).toMatchObject({ parallelism: 2, completions: 2 });
      await cluster.runs('tasks', 2);
    },
  },
];
