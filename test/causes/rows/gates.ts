/** Jobs whose pods have the scheduling gate of another controller, which lifts it from pods that exist. */
import { GANG_SIZE, GATE, HOLD, NAMESPACE_LABEL, WALLTIME } from '../../../constructs/api/labels';
import { pods as podPath } from '../../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../../runtime/kubernetes/types';
import { job, type Shape } from '../../stack/manifests';
import { nodes, type Row } from '../row';
import type { RowCluster } from '../row-cluster';

const DATA = 'example.com/data';
const WAITS = /waiting for scheduling gate example\.com\/data/;
const DAY = 86_400;

const gated = (name: string, { pod, ...shape }: Shape = {}) =>
  job(name, { ...shape, pod: { schedulingGates: [{ name: DATA }], ...pod } });

/** As the controller does to which the gate belongs. */
async function lift(cluster: RowCluster, { metadata, spec }: Pod): Promise<void> {
  const schedulingGates = spec.schedulingGates?.filter(({ name }) => name !== DATA);
  await cluster.patch(podPath(cluster.namespace, metadata.name), { spec: { schedulingGates } });
}

/** The pods, once so many of them wait. */
async function waiting(cluster: RowCluster, app: string, count: number): Promise<readonly Pod[]> {
  await cluster.saysAndFrees(app, WAITS);
  return cluster.until(`${count} gated pods of ${app}`, 60_000, async () => {
    const pods = (await cluster.pods(app)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const isGated = pods.every(({ spec }) => spec.schedulingGates?.some(({ name }) => name === GATE));
    return isGated && pods.length === count ? pods : undefined;
  });
}

const uids = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.uid).sort();
const jobPath = (cluster: RowCluster, name: string) => cluster.path('batch/v1', 'jobs', name);

const runsAfterwards = (what: string, shape: Shape, count: number, more: Shape = {}): Row => ({
  name: `${what} with the gate of another controller holds no node while another workload runs, and runs afterwards`,
  nodes: nodes(2),
  async run(cluster) {
    await cluster.apply(gated('staged', { requests: { cpu: '4' }, ...shape, ...more }));
    const first = await waiting(cluster, 'staged', count);
    await cluster.apply(job('other', { pods: 2, requests: { cpu: '4' }, runs: '3s' }));
    await cluster.succeeds('other', 2);
    for (const each of first) await lift(cluster, each);
    expect(uids(await cluster.runs('staged', count))).toEqual(uids(first));
    await cluster.keptItsGrant('staged');
  },
});

export const GATE_ROWS: readonly Row[] = [
  runsAfterwards('an index Job', { pods: 2 }, 2),
  runsAfterwards('a Job without indexes', { pods: 2, spec: { completionMode: 'NonIndexed' } }, 2),
  runsAfterwards('an array', { spec: { parallelism: 1, completions: 3 } }, 1),
  runsAfterwards('a gang', { pods: 2 }, 2, { annotations: { [GANG_SIZE]: '2' } }),
  {
    name: 'a gang does not start while one of its pods has the gate of another controller',
    nodes: nodes(2),
    async run(cluster) {
      const annotations = { [GANG_SIZE]: '2' };
      await cluster.apply(gated('staged', { pods: 2, requests: { cpu: '4' }, annotations }));
      const [first, second] = await waiting(cluster, 'staged', 2);
      await lift(cluster, first!);
      // Nor can whoever lifts its own gate lift that of the queue.
      const path = podPath(cluster.namespace, first!.metadata.name);
      await expect(cluster.patch(path, { spec: { schedulingGates: null } })).rejects.toThrow(/FLUXQ_/);
      await cluster.apply(job('other', { pods: 2, requests: { cpu: '4' }, runs: '3s' }));
      await cluster.succeeds('other', 2);
      await cluster.saysAndFrees('staged', WAITS);
      await lift(cluster, second!);
      await cluster.runs('staged', 2, { perNode: 1 });
    },
  },
  {
    name: 'a Job waits for another controller for longer than its deadline, which counts from its start and not from then',
    async run(cluster) {
      const manifest = gated('staged', { spec: { activeDeadlineSeconds: 20 }, runs: '5s' });
      await cluster.apply(manifest);
      const [pod] = await waiting(cluster, 'staged', 1);
      const started = Date.now();
      // What lasts for longer than the deadline; the manifest is applied again meanwhile.
      await cluster.apply(job('other', { runs: '25s' }), manifest);
      await cluster.succeeds('other', 1);
      expect(Date.now() - started).toBeGreaterThan(20_000);
      const { spec, status } = await cluster.get<Job>(jobPath(cluster, 'staged'));
      expect(status?.conditions?.find(({ type }) => type === 'Failed')).toBeUndefined();
      expect(spec.activeDeadlineSeconds).toBeGreaterThan(DAY);
      await lift(cluster, pod!);
      await cluster.succeeds('staged', 1);
      const ended = await cluster.get<Job>(jobPath(cluster, 'staged'));
      expect(ended.spec.activeDeadlineSeconds).toBeLessThan(DAY);
    },
  },
  {
    name: 'a Job that its user holds has no pods for another controller, and waits for it afterwards',
    async run(cluster) {
      await cluster.apply(gated('staged', { labels: { [HOLD]: 'true' } }));
      await cluster.says('staged', /held/);
      expect(await cluster.pods('staged')).toEqual([]);
      await cluster.patch(jobPath(cluster, 'staged'), { metadata: { labels: { [HOLD]: 'false' } } });
      const [pod] = await waiting(cluster, 'staged', 1);
      await lift(cluster, pod!);
      await cluster.runs('staged', 1);
    },
  },
  {
    name: 'a Job that its user suspends and resumes while it waits for another controller runs afterwards',
    async run(cluster) {
      await cluster.apply(gated('staged', { annotations: { [WALLTIME]: '1h' } }));
      await waiting(cluster, 'staged', 1);
      await cluster.patch(jobPath(cluster, 'staged'), { spec: { suspend: true } });
      await cluster.says('staged', /held/);
      await cluster.until('no pods', 60_000, async () => (await cluster.pods('staged')).length === 0);
      await cluster.patch(jobPath(cluster, 'staged'), { spec: { suspend: false } });
      const [pod] = await waiting(cluster, 'staged', 1);
      await lift(cluster, pod!);
      await cluster.runs('staged', 1);
    },
  },
  {
    name: 'a Job that is deleted while it waits for another controller leaves no pod and no FluxJob',
    async run(cluster) {
      await cluster.apply(gated('staged', { pods: 2 }));
      await waiting(cluster, 'staged', 2);
      await cluster.delete(`${jobPath(cluster, 'staged')}?propagationPolicy=Background`);
      await cluster.until('nothing of it', 60_000, async () => {
        const [pods, fluxJobs] = await Promise.all([cluster.pods('staged'), cluster.fluxJobs('staged')]);
        return pods.length === 0 && fluxJobs.length === 0;
      });
      await cluster.nothingHeld();
    },
  },
  {
    name: 'a Job whose gate is taken out of its template before its pods exist runs as any other',
    async run(cluster) {
      await cluster.apply(gated('staged', { labels: { [HOLD]: 'true' } }));
      await cluster.says('staged', /held/);
      await cluster.patch(jobPath(cluster, 'staged'), {
        metadata: { labels: { [HOLD]: 'false' } },
        spec: { template: { spec: { schedulingGates: null } } },
      });
      await cluster.runs('staged', 1);
    },
  },
  {
    name: 'a Job that waits for another controller is handed back with its namespace, and runs without the queue',
    async run(cluster) {
      await cluster.apply(gated('staged', { spec: { activeDeadlineSeconds: 3600 } }));
      await waiting(cluster, 'staged', 1);
      await cluster.patch(`/api/v1/namespaces/${cluster.namespace}`, {
        metadata: { labels: { [NAMESPACE_LABEL]: 'false' } },
      });
      const pod = await cluster.until('a pod without the gate of the queue', 60_000, async () => {
        const all = await cluster.pods('staged');
        return all.find(({ metadata, spec }) => {
          const gates = spec.schedulingGates?.map(({ name }) => name);
          return metadata.deletionTimestamp === undefined && gates?.join() === DATA;
        });
      });
      const { spec } = await cluster.get<Job>(jobPath(cluster, 'staged'));
      expect(spec.activeDeadlineSeconds).toBe(3600);
      await lift(cluster, pod);
      await cluster.until('it to run', 60_000, async () =>
        (await cluster.pods('staged')).some(({ status }) => status?.phase === 'Running'),
      );
    },
  },
];
