/** A namespace whose label is away for a while: admission pins and gates none of its pods meanwhile. */
import { DEADLINE_ANNOTATION, GANG_SIZE, NAMESPACE_LABEL, WALLTIME } from '../../../constructs/api/labels';
import { jobs, namespaces, pods as podPath } from '../../../runtime/kubernetes/paths';
import type { Job, Pod } from '../../../runtime/kubernetes/types';
import { isGated } from '../../../runtime/workloads/pod';
import { job, pod as podManifest, type Shape } from '../../stack/manifests';
import { nodes, type Row } from '../row';
import type { RowCluster } from '../row-cluster';

const FIVE_HOURS = 18_000;

/** Whether the namespace is in the queue. Resolves once the apiserver gates its pods, or does so no more. */
async function label(cluster: RowCluster, value: 'true' | 'false'): Promise<void> {
  await cluster.patch(namespaces(cluster.namespace), { metadata: { labels: { [NAMESPACE_LABEL]: value } } });
  await cluster.until(`admission to be ${value}`, 60_000, async () => {
    const stored = (await cluster.stored(podManifest('probe'))) as unknown as Pod;
    return isGated(stored) === (value === 'true');
  });
}

/** The pods that are not asked to end, once there are so many. */
async function live(cluster: RowCluster, app: string, count: number): Promise<readonly Pod[]> {
  return cluster.until(`${count} pods of ${app}`, 60_000, async () => {
    const all = (await cluster.pods(app)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return all.length === count && all.every(({ status }) => status?.phase !== 'Failed') ? all : undefined;
  });
}

const uids = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.uid).sort();

/** A pod is made again while its namespace has no label: it goes where kube-scheduler places it, and nothing that runs ends for it. */
const losesOne = (what: string, shape: Shape): Row => ({
  name: `${what} of which one pod was made without admission goes on with all of its pods`,
  async run(cluster) {
    const spec = { backoffLimit: 1, ...shape.spec };
    await cluster.apply(job('tasks', { pods: 3, requests: { cpu: '2' }, ...shape, spec }));
    const [first, ...others] = await cluster.runs('tasks', 3);
    await label(cluster, 'false');
    await cluster.delete(podPath(cluster.namespace, first!.metadata.name));
    const next = await cluster.until('another pod in its place', 60_000, async () => {
      const all = await live(cluster, 'tasks', 3);
      const found = all.find(({ metadata: { uid } }) => !uids([first!, ...others]).includes(uid));
      return found?.status?.phase === 'Running' ? found : undefined;
    });
    await label(cluster, 'true');
    // Its units count where it is, and its place in the grant is kept: what comes later gets none of both.
    await cluster.apply(job('later', { pods: 2, requests: { cpu: '2' } }));
    await cluster.runs('later', 2);
    expect(uids(await cluster.runs('tasks', 3))).toEqual(uids([next, ...others]));
    await cluster.keptItsGrant('tasks');
    await cluster.keptItsGrant('later');
  },
});

const takesOver = (what: string, shape: Shape, spec: object): Row => ({
  name: `pods of a Job that the queue does not have ask for ${what}`,
  labels: { [NAMESPACE_LABEL]: 'false' },
  async run(cluster) {
    const { spec: given, ...more } = shape;
    await cluster.apply(job('outside', { ...more, spec: { backoffLimit: 20, ...given } }));
    const [first] = await cluster.runsOutside('outside', 1);
    await label(cluster, 'true');
    await cluster.delete(podPath(cluster.namespace, first!.metadata.name));
    await cluster.until('its next pod to run by a grant', 60_000, async () => {
      const [next] = await live(cluster, 'outside', 1);
      if (next!.metadata.uid === first!.metadata.uid || next!.status?.phase !== 'Running') return false;
      expect(next).toMatchObject(spec);
      return true;
    });
  },
});

export const ADMISSION_ROWS: readonly Row[] = [
  losesOne('an array', {}),
  losesOne('an array without indexes', { spec: { completionMode: 'NonIndexed' } }),
  losesOne('a gang', { annotations: { [GANG_SIZE]: '3' } }),
  takesOver(
    'its walltime',
    { annotations: { [WALLTIME]: '5h' } },
    { metadata: { annotations: { [DEADLINE_ANNOTATION]: `${FIVE_HOURS}+3600/none` } } },
  ),
  takesOver(
    'its deadline',
    { spec: { activeDeadlineSeconds: FIVE_HOURS } },
    { metadata: { annotations: { [DEADLINE_ANNOTATION]: `${FIVE_HOURS}+3600/none` } } },
  ),
  {
    name: 'pods of a Job that was handed back ask for what it asked for',
    nodes: nodes(1),
    async run(cluster) {
      await cluster.apply(job('first', { requests: { cpu: '4' } }));
      await cluster.runs('first', 1);
      await cluster.apply(job('tasks', { requests: { cpu: '3' }, annotations: { [WALLTIME]: '5h' } }));
      await cluster.says('tasks', /reserved|Reserved|expected/);
      await label(cluster, 'false');
      await cluster.until('it to be handed back', 60_000, async () => {
        const { spec } = await cluster.get<Job>(jobs(cluster.namespace, 'tasks'));
        return spec.suspend === false;
      });
      const [before] = await live(cluster, 'tasks', 1);
      await label(cluster, 'true');
      await cluster.delete(podPath(cluster.namespace, before!.metadata.name));
      await cluster.delete(`${jobs(cluster.namespace, 'first')}?propagationPolicy=Background`);
      await cluster.until('its next pod to run by a grant', 60_000, async () => {
        const [next] = await live(cluster, 'tasks', 1);
        if (next!.status?.phase !== 'Running') return false;
        expect(next!.metadata.annotations?.[DEADLINE_ANNOTATION]).toBe(`${FIVE_HOURS}+3600/none`);
        return true;
      });
    },
  },
];
