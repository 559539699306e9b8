/** What the local cluster of `npm start -- --keep` and `fluxqueue up` says when no core of it is free. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { USERS_NAMESPACE, withLocalStack } from '../../examples/demo/local';
import { Screen } from '../../examples/demo/screen';
import { CORES } from '../../examples/demo/simulation';
import type { NodeReportList, Plan, ResourceGraph, WhatIf } from '../../runtime/reader/kinds';
import { describeWithCluster } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { follow } from '../stack/dashboard-events';
import type { Stack } from '../stack/stack';

const NODES = 2;
const WALLTIME_MINUTES = 50;
const ALL = NODES * CORES;

const job = (name: string, pods: number, cpu: number) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {
    name,
    namespace: USERS_NAMESPACE,
    annotations: { 'fluxqueue/walltime': `${WALLTIME_MINUTES}m` },
  },
  spec: {
    completions: pods,
    parallelism: pods,
    completionMode: 'Indexed',
    template: {
      metadata: { annotations: { 'fluxqueue.test/duration': '1h' } },
      spec: {
        restartPolicy: 'Never',
        containers: [
          { name: 'main', image: 'none', resources: { requests: { cpu: `${cpu}`, memory: '1Gi' } } },
        ],
      },
    },
  },
});

/** A local cluster on which a Job holds every core, and another one waits. */
async function startFull() {
  const folder = mkdtempSync(join(tmpdir(), 'fluxqueue-full-'));
  const end = new AbortController();
  let said = '';
  const screen = new Screen({ write: (text) => (said += text) });
  const { promise, resolve, reject } = Promise.withResolvers<Stack>();
  const served = withLocalStack(NODES, screen, end.signal, async (stack) => {
    resolve(stack);
    await once(end.signal, 'abort');
  });
  served.catch(reject);
  const stack = await promise;
  const { kubeconfig: KUBECONFIG } = stack.cluster;
  const fluxqueue = (...words: readonly string[]) => stack.roles.once(words, { KUBECONFIG });
  await stack.cluster.create([job('full', NODES, CORES)]);
  await waitFor('the cluster to be full', async () =>
    / Running /.test(await fluxqueue('queue', '-n', USERS_NAMESPACE)),
  );
  await stack.cluster.create([job('waits', 1, 1)]);
  await waitFor('the other one to be judged', async () =>
    /waits +Waiting.* (Busy|Reserved)/.test(await fluxqueue('queue', '-n', USERS_NAMESPACE)),
  );
  const file = join(folder, 'job.json');
  writeFileSync(file, JSON.stringify(job('asked', 1, 1)));
  return {
    stack,
    file,
    fluxqueue,
    dashboard: /in your browser: (\S+)/.exec(said)![1]!,
    answer: async <T>(...words: readonly string[]) =>
      JSON.parse(await fluxqueue(...words, '-o', 'json')) as T,
    stop: async () => {
      end.abort();
      await served;
      rmSync(folder, { recursive: true });
    },
  };
}

describeWithCluster(
  'a local cluster that is full',
  (full) => {
    const minutesFromNow = (time: string | undefined) => (Date.parse(time ?? '') - Date.now()) / 60_000;
    const cores = (of: readonly { readonly core?: number }[], cpuMillis: number) =>
      (of.reduce((sum, { core = 0 }) => sum + core, 0) * cpuMillis) / 1_000;

    test('has as many cores, all of them used, for kubectl, nodes, graph and the dashboard', async () => {
      const { stack, answer, fluxqueue, dashboard } = full();
      const path = '{.items[*].status.allocatable.cpu}';
      const { stdout: allocatable } = await stack.cluster.kubectl(['get', 'nodes', '-o', `jsonpath=${path}`]);
      expect(allocatable.split(' ').reduce((sum, cpu) => sum + Number(cpu), 0)).toBe(ALL);

      const nodes = await answer<NodeReportList>('nodes');
      const { cpuMillis } = nodes.unitSizes;
      const of = (part: 'units' | 'used' | 'free') =>
        cores(
          nodes.items.map((item) => item[part]),
          cpuMillis,
        );
      expect({ all: of('units'), used: of('used'), free: of('free') }).toEqual({
        all: ALL,
        used: ALL,
        free: 0,
      });
      expect(nodes.items.flatMap(({ drift }) => drift)).toEqual([]);
      expect(await fluxqueue('nodes')).toContain('all up; 0 cpu, ');

      const graph = await answer<ResourceGraph>('graph');
      expect(graph.unitSizes).toEqual(nodes.unitSizes);
      expect(
        cores(
          graph.nodes.map(({ total }) => total),
          cpuMillis,
        ),
      ).toBe(ALL);
      expect(
        cores(
          graph.nodes.map(({ free }) => free),
          cpuMillis,
        ),
      ).toBe(0);

      const [shown] = await follow(dashboard, () => true);
      expect(shown!.nodes.reduce((sum, node) => sum + node.cores, 0)).toBe(ALL);
      const holder = shown!.jobs.find(({ name }) => name === 'job/full');
      expect(holder?.shares.reduce((sum, share) => sum + (share.cores ?? 0), 0)).toBe(ALL);
    });

    test('starts nothing before the walltime of what runs ends, for plan, whatif, when and the FluxJob', async () => {
      const { stack, answer, fluxqueue, file } = full();
      const atTheEnd = (time: string | undefined) => {
        expect(minutesFromNow(time)).toBeGreaterThan(WALLTIME_MINUTES - 20);
        expect(minutesFromNow(time)).toBeLessThan(WALLTIME_MINUTES + 1);
      };
      const { jobs } = await answer<Plan>('plan', '-n', USERS_NAMESPACE);
      atTheEnd(jobs.find(({ name }) => name === 'waits')?.start);
      atTheEnd(jobs.find(({ name }) => name === 'full')?.end);
      const { status } = await answer<WhatIf>('whatif', '-n', USERS_NAMESPACE, '-f', file);
      atTheEnd(status?.start);
      const when = await fluxqueue('when', 'waits', '-n', USERS_NAMESPACE);
      atTheEnd(/2\d{3}-\S+Z/.exec(when)?.[0]);
      const columns = '{.status.estimatedStart}{.status.plannedStart}';
      const kubectl = ['get', 'fj', 'waits-job', '-n', USERS_NAMESPACE, '-o', `jsonpath=${columns}`];
      atTheEnd((await stack.cluster.kubectl(kubectl)).stdout.slice(0, 20));
    });
  },
  startFull,
);
