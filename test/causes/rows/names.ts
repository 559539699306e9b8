/** Nodes that a workload chooses by name, in every way that Kubernetes has. */
import { deployment, job, pod } from '../../stack/manifests';
import type { Row } from '../row';

const terms = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const byField = (...values: string[]) => ({
  matchFields: [{ key: 'metadata.name', operator: 'In', values }],
});
const byLabel = (...values: string[]) => ({
  matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }],
});

export const NAME_ROWS: readonly Row[] = [
  {
    name: 'a Job with a nodeName in its template runs on that node',
    async run(cluster) {
      const [, chosen, other] = cluster.nodes;
      await cluster.apply(job('fixed', { pod: { nodeName: chosen } }));
      await cluster.runs('fixed', 1, { not: [cluster.nodes[0]!, other!] });
    },
  },
  {
    name: 'a Job with the nodeName of a node that does not exist says so and holds nothing',
    async run(cluster) {
      await cluster.apply(job('fixed', { pod: { nodeName: 'no-such-node' } }));
      await cluster.saysAndFrees('fixed', /no-such-node/);
    },
  },
  {
    name: 'a Job with an affinity on metadata.name runs on that node',
    async run(cluster) {
      const [, chosen, other] = cluster.nodes;
      await cluster.apply(job('named', { pods: 2, pod: terms(byField(chosen!)) }));
      await cluster.runs('named', 2, { not: [cluster.nodes[0]!, other!] });
    },
  },
  {
    name: 'a Job with two terms of metadata.name runs on their nodes',
    async run(cluster) {
      const [first, second, third] = cluster.nodes;
      const shape = { pods: 2, requests: { cpu: '3' }, pod: terms(byField(second!), byField(third!)) };
      await cluster.apply(job('named', shape));
      await cluster.runs('named', 2, { not: [first!], perNode: 1 });
    },
  },
  {
    name: 'a Job with two terms of host names runs on their nodes',
    async run(cluster) {
      const [first, second, third] = cluster.nodes;
      const shape = { pods: 2, requests: { cpu: '3' }, pod: terms(byLabel(second!), byLabel(third!)) };
      await cluster.apply(job('named', shape));
      await cluster.runs('named', 2, { not: [first!], perNode: 1 });
    },
  },
  {
    name: 'a Job whose affinity excludes a node by metadata.name runs on the others',
    async run(cluster) {
      const [first] = cluster.nodes;
      const not = { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: [first] }] };
      await cluster.apply(job('others', { pods: 2, requests: { cpu: '3' }, pod: terms(not) }));
      await cluster.runs('others', 2, { not: [first!], perNode: 1 });
    },
  },
  {
    name: 'a Deployment with two terms of metadata.name runs on their nodes',
    async run(cluster) {
      const [first, second, third] = cluster.nodes;
      const shape = { pods: 2, requests: { cpu: '3' }, pod: terms(byField(second!), byField(third!)) };
      await cluster.apply(deployment('named', shape));
      await cluster.runs('named', 2, { not: [first!], perNode: 1 });
    },
  },
  {
    name: 'a bare pod with a nodeName runs on that node',
    async run(cluster) {
      const [first, chosen, other] = cluster.nodes;
      await cluster.apply(pod('fixed', { pod: { nodeName: chosen } }));
      await cluster.until('it to run', 30_000, async () => {
        const [found] = await cluster.pods('fixed');
        return found?.status?.phase === 'Running' && ![first, other].includes(found.spec.nodeName);
      });
      // It bypasses the queue, so what it uses is not granted to others.
      await cluster.apply(job('rest', { pods: 2, requests: { cpu: '4' } }));
      await cluster.runs('rest', 2, { not: [chosen!] });
    },
  },
];
