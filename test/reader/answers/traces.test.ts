/** What traces say on a simulated cluster, whose two nodes have four cores each. */
import { pods } from '../../../runtime/kubernetes/paths';
import type { TracedWorkload } from '../../../runtime/queue/trace';
import type { Trace } from '../../../runtime/reader/kinds';
import { parseSwf } from '../../../runtime/simulation/swf';
import { SimulatedReader } from './simulated-reader';

const WORKLOAD: TracedWorkload = {
  submittedAt: 1_700_000_000,
  startedAt: 1_700_000_010,
  finishedAt: 1_700_000_100,
  walltime: 3600,
  cores: 4,
  result: 'Succeeded',
  user: 'eve',
  namespace: 'secret',
  queue: 'default',
};

describe('a trace', () => {
  let world: SimulatedReader;
  beforeEach(async () => {
    world = new SimulatedReader();
    world.traced = async () => [WORKLOAD];
    await world.controller.start();
  });
  afterEach(() => world.close());

  const trace = async () => (await world.ask<Trace>('traces')).swf;

  test('has no names of users and namespaces', async () => {
    const swf = await trace();
    expect(swf.split('\n').filter((line) => /^\d/.test(line))).toEqual([
      '1 0 10 90 4 -1 -1 4 3600 -1 1 1 1 -1 1 -1 -1 -1',
    ]);
    expect(swf).not.toMatch(/eve|secret/);
  });

  test('has what ended in the period', async () => {
    const periods: object[] = [];
    world.traced = async (period) => {
      periods.push(period);
      return [];
    };
    const query = new URLSearchParams({ from: '2024-01-01', until: '2024-02-01' });
    expect((await world.ask<Trace>('traces', { query })).swf).toContain('MaxJobs: 0');
    expect(periods).toEqual([{ from: Date.UTC(2024, 0, 1) / 1000, until: Date.UTC(2024, 1, 1) / 1000 }]);
  });

  test('tells the simulator the nodes of the cluster, those that are down too, and their whole cores', async () => {
    const { controller } = world;
    controller.addNode('node-2');
    controller.changeNode('node-0', (node) => ({ ...node, spec: { unschedulable: true } }));
    controller.changeNode('node-1', ({ status, ...node }) => ({
      ...node,
      status: { ...status, allocatable: { cpu: '6500m', memory: '16Gi' } },
    }));
    expect(parseSwf(await trace(), 'live')).toMatchObject({ maxNodes: 3, maxProcessors: 4 + 6 + 4 });
  });

  test('leaves out the cores that agents of a node have', async () => {
    const { apiserver } = world.controller;
    apiserver.create(pods('kube-system'), {
      metadata: {
        name: 'agent',
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent', controller: true },
        ],
      },
      spec: {
        nodeName: 'node-0',
        containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '100m' } } }],
      },
      status: { phase: 'Running' },
    });
    expect(parseSwf(await trace(), 'live')).toMatchObject({ maxNodes: 2, maxProcessors: 3 + 4 });
  });
});
