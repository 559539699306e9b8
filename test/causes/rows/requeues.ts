/** What a requeue keeps: the second grant has the terms of the first. */
import { MINICLUSTER_DEADLINE_SECONDS } from '../../../constructs/api/queue-defaults';
import type { Job } from '../../../runtime/kubernetes/types';
import { job } from '../../stack/manifests';
import type { Row } from '../row';
import type { RowCluster } from '../row-cluster';

const deadlineOf = async (cluster: RowCluster, name: string) =>
  (await cluster.get<Job>(cluster.path('batch/v1', 'jobs', name))).spec.activeDeadlineSeconds;

const keepsItsWalltime = (whose: string, activeDeadlineSeconds: number | undefined): Row => ({
  name: `a Job ${whose} has the same walltime after a requeue`,
  async run(cluster) {
    const spec = { backoffLimit: 20, ...(activeDeadlineSeconds !== undefined && { activeDeadlineSeconds }) };
    await cluster.apply(job('long', { requests: { cpu: '3' }, spec }));
    const [first] = await cluster.runs('long', 1);
    const before = await deadlineOf(cluster, 'long');
    await cluster.removeNode(first!.spec.nodeName!);
    await cluster.runs('long', 1, { not: [first!.spec.nodeName!] });
    expect(await deadlineOf(cluster, 'long')).toBe(before);
  },
});

export const REQUEUE_ROWS: readonly Row[] = [
  keepsItsWalltime('with a deadline beyond the maximum of its queue', 864_000),
  keepsItsWalltime('with the deadline of a MiniCluster that has none', MINICLUSTER_DEADLINE_SECONDS),
  keepsItsWalltime('with a deadline within the maximum of its queue', 7200),
  keepsItsWalltime('without a deadline', undefined),
];
