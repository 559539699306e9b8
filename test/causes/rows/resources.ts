/** Amounts that are not cores, memory or GPUs, the sizes of units, and what of a node pods outside the queue leave. */
import { apart, daemonSet, job } from '../../stack/manifests';
import { nodes, type Row } from '../row';

const small = (cpu: string, memory: string) => ({ requests: { cpu, memory }, spec: { backoffLimit: 0 } });

export const RESOURCE_ROWS: readonly Row[] = [
  {
    name: 'a Job with ephemeral storage runs one pod on each node that has room for one',
    nodes: nodes(3, { resources: { 'ephemeral-storage': '100Gi' } }),
    async run(cluster) {
      await cluster.apply(job('scratch', { pods: 3, requests: { cpu: '1', 'ephemeral-storage': '60Gi' } }));
      await cluster.runs('scratch', 3, { perNode: 1 });
    },
  },
  {
    name: 'a Job with more ephemeral storage than any node has names it and holds nothing',
    nodes: nodes(2, { resources: { 'ephemeral-storage': '100Gi' } }),
    async run(cluster) {
      await cluster.apply(job('scratch', { requests: { cpu: '1', 'ephemeral-storage': '200Gi' } }));
      await cluster.saysAndFrees('scratch', /ephemeral-storage/);
    },
  },
  {
    name: 'Jobs with huge pages run on the nodes that have them',
    nodes: [
      ...nodes(1, { resources: { 'hugepages-2Mi': '1Gi' } }),
      ...nodes(1),
      ...nodes(1, { resources: { 'hugepages-1Gi': '4Gi' } }),
    ],
    async run(cluster) {
      const [small, none, large] = cluster.nodes;
      const requests = { cpu: '1', memory: '1Gi' };
      await cluster.apply(
        job('small', { requests: { ...requests, 'hugepages-2Mi': '512Mi' } }),
        job('large', { requests: { ...requests, 'hugepages-1Gi': '2Gi' } }),
      );
      await cluster.runs('small', 1, { not: [none!, large!] });
      await cluster.runs('large', 1, { not: [none!, small!] });
    },
  },
  {
    name: 'a Job with more pods than a node may have runs on several nodes',
    nodes: nodes(3, { pods: 3 }),
    async run(cluster) {
      await cluster.apply(job('many', { pods: 8, requests: { cpu: '100m' } }));
      await cluster.runs('many', 8, { perNode: 3 });
    },
  },
  {
    name: 'a Job with an extended resource runs on the node that has it',
    nodes: [...nodes(2), ...nodes(1, { resources: { 'example.com/fpga': '2' } })],
    async run(cluster) {
      await cluster.apply(job('fpga', { pods: 2, requests: { cpu: '1', 'example.com/fpga': '1' } }));
      await cluster.runs('fpga', 2, { not: cluster.nodes.slice(0, 2) });
    },
  },
  {
    name: 'a Job with an extended resource that no node has names it and holds nothing',
    async run(cluster) {
      await cluster.apply(job('fpga', { requests: { cpu: '1', 'example.com/missing': '3' } }));
      await cluster.saysAndFrees('fpga', /3 example\.com\/missing/);
    },
  },
  {
    name: 'one-core pods fill nodes of 3920m as kube-scheduler fills them',
    nodes: nodes(3, { cpu: '3920m' }),
    async run(cluster) {
      await cluster.apply(job('ones', { pods: 9 }));
      await cluster.runs('ones', 9, { perNode: 3 });
    },
  },
  {
    name: 'three-core pods run on nodes of 3920m beside an agent of 100m',
    nodes: nodes(3, { cpu: '3920m' }),
    async run(cluster) {
      await cluster.apply(daemonSet('agent', { requests: { cpu: '100m', memory: '64Mi' } }));
      await cluster.until('the agents', 30_000, async () => (await cluster.pods('agent')).length === 3);
      await cluster.apply(job('threes', { pods: 3, requests: { cpu: '3' } }));
      await cluster.runs('threes', 3, { perNode: 1 });
    },
  },
  {
    name: 'pods of 100m and 128Mi fill a node of 3920m as kube-scheduler fills it',
    nodes: nodes(1, { cpu: '3920m' }),
    async run(cluster) {
      await cluster.apply(job('tiny', { pods: 36, requests: { cpu: '100m', memory: '128Mi' } }));
      await cluster.runs('tiny', 36);
    },
  },
  {
    name: 'an exclusive Job starts on a node that has the pods of a DaemonSet',
    nodes: nodes(2),
    async run(cluster) {
      await cluster.apply(daemonSet('agent', { requests: { cpu: '100m', memory: '64Mi' } }));
      await cluster.until(
        'the agents',
        30_000,
        async () =>
          (await cluster.pods('agent')).filter(({ status }) => status?.phase === 'Running').length === 2,
      );
      await cluster.apply(job('alone', { pods: 2, annotations: { 'fluxqueue/exclusive': 'true' } }));
      await cluster.runs('alone', 2, { perNode: 1 });
    },
  },
  {
    name: 'a message quotes the amounts that the user wrote',
    async run(cluster) {
      await cluster.apply(job('large', small('4500m', '100Mi')));
      await cluster.says('large', /4500m|4\.5 cores/);
      await cluster.says('large', /100 ?Mi/);
    },
  },
  {
    name: 'a node that grows by an extended resource takes the Job that waits for it',
    nodes: nodes(2),
    async run(cluster) {
      await cluster.apply(
        job('fpga', { requests: { cpu: '1', 'example.com/new': '1' }, pod: apart('fpga') }),
      );
      await cluster.says('fpga', /example\.com\/new/);
      const grown = await cluster.addNode({ cpu: '4', resources: { 'example.com/new': '1' } });
      await cluster.runs('fpga', 1, { not: cluster.nodes.filter((node) => node !== grown) });
    },
  },
];
