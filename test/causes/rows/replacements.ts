/** Pods of a Job that end slowly: no other pod runs on their units meanwhile, and a dead kubelet keeps nobody waiting. */
import { pods as podPath } from '../../../runtime/kubernetes/paths';
import type { Job } from '../../../runtime/kubernetes/types';
import { job } from '../../stack/manifests';
import type { Row } from '../row';
import type { RowCluster } from '../row-cluster';

/** What the kubelet does while the containers of a deleted pod use their grace period. */
const STUCK = { 'fluxqueue.test/stuck': 'true' };
/** Seconds: the longest grace period that admission allows by default. */
const LONGEST = 3_600;
type CountedJob = Job & { readonly status?: { readonly terminating?: number } };

const counted = (cluster: RowCluster, name: string) =>
  cluster.get<CountedJob>(cluster.path('batch/v1', 'jobs', name));

const oneAfterTheOther = (completionMode: 'Indexed' | 'NonIndexed'): Row => ({
  name: `an ${completionMode} Job has no second pod on its unit while one that its user deleted runs on`,
  async run(cluster) {
    await cluster.apply(job('train', { podAnnotations: STUCK, spec: { completionMode, backoffLimit: 20 } }));
    const [first] = await cluster.runs('train', 1);
    const path = podPath(cluster.namespace, first!.metadata.name);
    await cluster.delete(`${path}?gracePeriodSeconds=${LONGEST}`);
    // The Job controller counts the end and makes the replacement in one step.
    await cluster.until('the Job controller to count it', 60_000, async () => {
      const { status } = await counted(cluster, 'train');
      return status?.terminating === 1;
    });
    expect((await counted(cluster, 'train')).status?.active ?? 0).toBe(0);
    expect((await cluster.pods('train')).map(({ metadata }) => metadata.uid)).toEqual([first!.metadata.uid]);
    await cluster.patch(path, { metadata: { annotations: { 'fluxqueue.test/stuck': null } } });
    const [second] = await cluster.runs('train', 1);
    expect(second!.spec.nodeName).toBe(first!.spec.nodeName);
    await cluster.keptItsGrant('train');
  },
});

export const REPLACEMENT_ROWS: readonly Row[] = [
  oneAfterTheOther('Indexed'),
  oneAfterTheOther('NonIndexed'),
  {
    name: 'a Job whose pod waits for a node without power runs on another node',
    async run(cluster) {
      await cluster.apply(job('train', { spec: { backoffLimit: 20 } }));
      const [first] = await cluster.runs('train', 1);
      const node = first!.spec.nodeName!;
      await cluster.stopKubelet(node);
      await cluster.delete(`${podPath(cluster.namespace, first!.metadata.name)}?gracePeriodSeconds=30`);
      await cluster.runs('train', 1, { not: [node] });
      const left = (await cluster.podsOn(node)).map(({ metadata }) => metadata.uid);
      expect(left).toContain(first!.metadata.uid);
    },
  },
  {
    name: 'a task of an array on a node without power runs elsewhere once the others have ended',
    async run(cluster) {
      await cluster.apply(
        job('tasks', { pods: 2, requests: { cpu: '3' }, runs: '10s', spec: { backoffLimit: 20 } }),
      );
      const [first] = await cluster.runs('tasks', 2);
      await cluster.stopKubelet(first!.spec.nodeName!);
      await cluster.succeeds('tasks', 2);
    },
  },
  {
    name: 'a Job that replaces only ended pods by the wish of its user waits for a node without power',
    async run(cluster) {
      await cluster.apply(job('careful', { spec: { podReplacementPolicy: 'Failed', backoffLimit: 20 } }));
      const [first] = await cluster.runs('careful', 1);
      const node = first!.spec.nodeName!;
      await cluster.stopKubelet(node);
      await cluster.delete(`${podPath(cluster.namespace, first!.metadata.name)}?gracePeriodSeconds=30`);
      await cluster.says('careful', /node .* is not ready/);
      expect((await counted(cluster, 'careful')).spec.podReplacementPolicy).toBe('Failed');
    },
  },
];
