/** Arrays: what runs stays where it is while other pods of the same Job cannot run. */
import { GANG_SIZE } from '../../../constructs/api/labels';
import { pods as podPath } from '../../../runtime/kubernetes/paths';
import { job } from '../../stack/manifests';
import { nodes, type Row } from '../row';
import type { RowCluster } from '../row-cluster';
import { applyQuota, quota } from './quotas';

const TASKS = 20;

/** Asserts that the FluxJob of a workload that runs says so. */
async function saysWhileRunning(cluster: RowCluster, app: string, sentence: RegExp): Promise<void> {
  await cluster.until(`the FluxJob of ${app} to say ${sentence}`, 60_000, async () => {
    const all = await cluster.fluxJobs(app);
    return all.some(
      ({ status }) =>
        status?.phase === 'Running' && status.conditions?.some(({ message }) => sentence.test(message)),
    );
  });
}

/** Replaces a pod whose node something outside the queue has filled: the new pod cannot run there. */
async function loseRoom(cluster: RowCluster, app: string): Promise<string> {
  const [victim] = await cluster.pods(app);
  await cluster.occupy(victim!.spec.nodeName!, { cpu: '2' });
  await cluster.delete(podPath(cluster.namespace, victim!.metadata.name));
  return victim!.spec.nodeName!;
}

const finishesWithin = (mode: 'Indexed' | 'NonIndexed'): Row => ({
  name: `an ${mode} array of 20 tasks ends without a loss although its ResourceQuota shrinks while it runs`,
  async run(cluster) {
    await applyQuota(cluster, { pods: '4' });
    const spec = { completions: TASKS, completionMode: mode, backoffLimit: 0 };
    await cluster.apply(job('tasks', { pods: 4, requests: { cpu: '2' }, runs: '5s', spec }));
    await cluster.runs('tasks', 4);
    await cluster.apply(quota({ pods: '3' }));
    await cluster.succeeds('tasks', TASKS);
    await cluster.keptItsGrant('tasks');
  },
});

/** Anti-affinity against its own pods. */
const ALONE = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'tasks' } } },
      ],
    },
  },
};

const startsWithWhatFits = (mode: 'Indexed' | 'NonIndexed'): Row => ({
  name: `an ${mode} array with more pods than nodes, one on each, runs on all nodes and ends`,
  async run(cluster) {
    const spec = { completionMode: mode, backoffLimit: 0 };
    await cluster.apply(job('tasks', { pods: 5, requests: { cpu: '1' }, runs: '15s', pod: ALONE, spec }));
    await cluster.runs('tasks', 3, { perNode: 1 });
    await saysWhileRunning(cluster, 'tasks', /2 pods wait until others of it have ended/);
    await cluster.succeeds('tasks', 5);
    await cluster.keptItsGrant('tasks');
  },
});

const fillsItsOnlyNode = (completionMode: 'Indexed' | 'NonIndexed'): Row => ({
  name: `an ${completionMode} array with more pods than its only node holds runs as many as fit, and all of them in the end`,
  nodes: nodes(1),
  async run(cluster) {
    const spec = { completionMode, backoffLimit: 0 };
    await cluster.apply(job('tasks', { pods: 6, requests: { cpu: '1' }, runs: '15s', spec }));
    // None of the others may be let in before all that are pinned have come.
    await saysWhileRunning(cluster, 'tasks', /2 pods wait until others of it have ended/);
    await cluster.succeeds('tasks', 6);
    await cluster.keptItsGrant('tasks');
  },
});

const runsInWaves = (size: string, queue: NonNullable<Row['queue']>): Row => ({
  name: `an indexed Job with a gang size of ${size} and twice as many tasks as pods runs them on its own grant, in a queue ${JSON.stringify(queue)}`,
  queue,
  async run(cluster) {
    const spec = { completions: 4, completionMode: 'Indexed', backoffLimit: 0 };
    const annotations = { [GANG_SIZE]: size };
    await cluster.apply(job('waves', { pods: 2, annotations, requests: { cpu: '1' }, runs: '3s', spec }));
    await cluster.succeeds('waves', 4);
    expect(await cluster.fluxJobs('waves')).toHaveLength(1);
    await cluster.keptItsGrant('waves');
  },
});

export const ARRAY_ROWS: readonly Row[] = [
  startsWithWhatFits('Indexed'),
  startsWithWhatFits('NonIndexed'),
  fillsItsOnlyNode('Indexed'),
  fillsItsOnlyNode('NonIndexed'),
  runsInWaves('2', {}),
  runsInWaves('2', { quota: { cores: '2' } }),
  runsInWaves('1', { quota: { cores: '2' } }),
  {
    name: 'a gang with more pods than the nodes hold says that it can never start',
    async run(cluster) {
      const annotations = { [GANG_SIZE]: '5' };
      await cluster.apply(job('gang', { pods: 5, requests: { cpu: '3' }, annotations }));
      await cluster.saysAndFrees('gang', /asks for 5 nodes with 3 cores, .* leave 3/);
    },
  },
  finishesWithin('Indexed'),
  finishesWithin('NonIndexed'),
  {
    name: 'the pods of an array that run stay when another one is refused by its node',
    async run(cluster) {
      await cluster.apply(job('tasks', { pods: 3, requests: { cpu: '3' }, spec: { backoffLimit: 20 } }));
      const before = await cluster.runs('tasks', 3);
      const node = await loseRoom(cluster, 'tasks');
      await saysWhileRunning(cluster, 'tasks', new RegExp(`did not run on ${node}`));
      const uids = (await cluster.runs('tasks', 2, { not: [node] })).map(({ metadata }) => metadata.uid);
      expect(before.map(({ metadata }) => metadata.uid)).toEqual(expect.arrayContaining(uids));
    },
  },
  {
    name: 'all pods of a gang start again when one of them is refused by its node',
    nodes: nodes(4),
    async run(cluster) {
      const annotations = { [GANG_SIZE]: '3' };
      await cluster.apply(
        job('gang', { pods: 3, requests: { cpu: '3' }, annotations, spec: { backoffLimit: 20 } }),
      );
      await cluster.runs('gang', 3);
      const node = await loseRoom(cluster, 'gang');
      await cluster.runs('gang', 3, { not: [node] });
    },
  },
  {
    name: 'the pods of an array on other nodes stay when a node is deleted',
    async run(cluster) {
      await cluster.apply(job('tasks', { pods: 3, requests: { cpu: '3' }, spec: { backoffLimit: 20 } }));
      const before = await cluster.runs('tasks', 3);
      const lost = before[0]!.spec.nodeName!;
      await cluster.removeNode(lost);
      await saysWhileRunning(cluster, 'tasks', new RegExp(`did not run on ${lost}`));
      // Kubernetes deletes the pod of a deleted node after 40 to 60 s.
      const others = await cluster.runs('tasks', 2, { not: [lost] }, 120_000);
      const uids = others.map(({ metadata }) => metadata.uid);
      expect(before.map(({ metadata }) => metadata.uid)).toEqual(expect.arrayContaining(uids));
    },
  },
  {
    name: 'a task of an array whose node is deleted runs elsewhere once the others have ended',
    async run(cluster) {
      await cluster.apply(
        job('tasks', { pods: 2, requests: { cpu: '3' }, runs: '10s', spec: { backoffLimit: 20 } }),
      );
      const [first] = await cluster.runs('tasks', 2);
      await cluster.removeNode(first!.spec.nodeName!);
      await cluster.succeeds('tasks', 2);
    },
  },
];
