/** Pods that never end: they block nobody else. Overruns are in test/stack/planned-ends. */
import { deployment, job, statefulSet } from '../../stack/manifests';
import { nodes, type Row } from '../row';

const walltime = (time: string) => ({ annotations: { 'fluxqueue/walltime': time } });

export const SERVICE_ROWS: readonly Row[] = [
  {
    name: 'a lost pod of a StatefulSet is replaced on its units, before Jobs that came after the StatefulSet',
    nodes: nodes(1),
    async run(cluster) {
      await cluster.apply(statefulSet('db', { requests: { cpu: '3' } }));
      const [lost] = await cluster.runs('db', 1);
      await cluster.apply(job('late', { requests: { cpu: '3' } }));
      await cluster.says('late', /services? leave/);
      await cluster.delete(cluster.path('v1', 'pods', lost!.metadata.name));
      await cluster.until('another pod', 60_000, async () => {
        const [pod] = await cluster.runs('db', 1);
        return pod!.metadata.uid !== lost!.metadata.uid;
      });
      await cluster.says('late', /services? leave/);
      expect(await cluster.pods('late')).toEqual([]);
    },
  },
  {
    name: 'a wide Job that needs the nodes of a service says which, and a small Job behind it runs',
    nodes: nodes(2),
    async run(cluster) {
      await cluster.apply(deployment('web', { requests: { cpu: '3' } }));
      await cluster.runs('web', 1);
      await cluster.apply(job('wide', { pods: 2, requests: { cpu: '4' }, ...walltime('10m') }));
      await cluster.says('wide', /service .*web|web-\w+-\w+/);
      await cluster.apply(job('small', { requests: { cpu: '4' }, ...walltime('20m') }));
      await cluster.runs('small', 1);
    },
  },
  {
    name: 'a Job that waits for a pod outside the queue does not keep a smaller Job from the free nodes',
    nodes: nodes(2),
    async run(cluster) {
      await cluster.occupy(cluster.nodes[0]!, { cpu: '3' });
      await cluster.counted(cluster.nodes[0]!);
      await cluster.apply(job('wide', { pods: 2, requests: { cpu: '4' }, ...walltime('10m') }));
      await cluster.says('wide', /outside the queue/);
      await cluster.apply(job('small', { requests: { cpu: '4' }, ...walltime('20m') }));
      await cluster.runs('small', 1);
    },
  },
];
