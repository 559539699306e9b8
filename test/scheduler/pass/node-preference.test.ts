import { QUEUE_POLICIES } from '../../../constructs/api/policies';
import type { Fluxion } from '../../../runtime/fluxion/types';
import { type ClusterNode, graphNodes } from '../../../runtime/jobspec/graph-nodes';
import type { GraphNode } from '../../../runtime/resources/types';
import fc from '../../fast-check';
import { simulationFluxion } from './engine';
import { granted, nodesOf, Simulation } from './simulation';

interface Made {
  readonly cpu?: number;
  readonly gpu?: number;
  readonly nic?: number;
  readonly weight?: string;
}

const node = (name: string, { cpu = 2, gpu = 0, nic = 0, weight }: Made = {}): ClusterNode => ({
  metadata: { name, ...(weight === undefined ? {} : { labels: { 'fluxqueue/node-weight': weight } }) },
  status: {
    allocatable: {
      cpu: `${cpu}`,
      ...(gpu === 0 ? {} : { 'nvidia.com/gpu': `${gpu}` }),
      ...(nic === 0 ? {} : { 'example.com/nic': `${nic}` }),
    },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
});

const requesting = (resources: Readonly<Record<string, number>>) => ({
  pod: { containers: [{ resources: { requests: resources } }] },
});
const GPU_JOB = requesting({ cpu: 1, 'nvidia.com/gpu': 1 });

const nodeNames = (sim: Simulation, uid: string) => sim.row(uid).allocation?.nodes.map(({ name }) => name);

/** The first node is the one that `lonode` grants first. */
async function cluster(nodes: Readonly<Record<string, Made>>, policy?: 'fcfs' | 'easy' | 'conservative') {
  const made = graphNodes(Object.entries(nodes).map(([name, of]) => node(name, of)));
  return Simulation.of(made, policy === undefined ? {} : { policy });
}

test('keeps nodes with GPUs for workloads that need one', async () => {
  const sim = await cluster({ a: { gpu: 2 }, b: {}, c: {} });
  for (const uid of ['p', 'q', 'r', 's']) sim.submit(uid);
  sim.submit('gpu', GPU_JOB);
  await sim.pass();
  for (const uid of ['p', 'q', 'r', 's']) expect(nodeNames(sim, uid)).not.toContain('a');
  expect(nodeNames(sim, 'gpu')).toEqual(['a']);
});

test('grants nodes with GPUs to others when no other node is free', async () => {
  const sim = await cluster({ a: { gpu: 2 }, b: { cpu: 1 } });
  sim.submit('p');
  sim.submit('wide', { pods: 2 });
  await sim.pass();
  expect([nodeNames(sim, 'p'), nodeNames(sim, 'wide')]).toEqual([['b'], ['a']]);
});

test('any extended resource is a device, unless every node has it', async () => {
  const nics = await cluster({ a: { nic: 1 }, b: {} });
  nics.submit('p');
  await nics.pass();
  expect(nodeNames(nics, 'p')).toEqual(['b']);
  const everywhere = await cluster({ a: { nic: 1 }, b: { nic: 1 } });
  everywhere.submit('p');
  expect((await everywhere.pass()).matches).toBe(1);
  expect(nodeNames(everywhere, 'p')).toEqual(['a']);
});

test('a workload that needs one device leaves nodes with others to those that need both', async () => {
  const sim = await cluster({ a: { gpu: 2, nic: 1 }, b: { gpu: 2 } });
  sim.submit('gpu', GPU_JOB);
  sim.submit('both', requesting({ cpu: 1, 'nvidia.com/gpu': 1, 'example.com/nic': 1 }));
  await sim.pass();
  expect([nodeNames(sim, 'gpu'), nodeNames(sim, 'both')]).toEqual([['b'], ['a']]);
});

test('grants nodes of lower weight first, 100 where a node has no weight or none that can be read', async () => {
  const sim = await cluster({
    a: { cpu: 1, weight: '200' },
    b: { cpu: 1 },
    c: { cpu: 1, weight: '5' },
    d: { cpu: 1, gpu: 1, weight: '1' },
    e: { cpu: 1, weight: 'heavy' },
  });
  for (const uid of ['p', 'q', 'r', 's', 't']) sim.submit(uid);
  await sim.pass();
  expect(['p', 'q', 'r', 's', 't'].map((uid) => nodeNames(sim, uid)![0])).toEqual(['c', 'b', 'e', 'a', 'd']);
});

test('a workload that needs a device takes the node of the lowest weight that has it', async () => {
  const sim = await cluster({ a: { gpu: 2, weight: '200' }, b: { gpu: 2 }, c: {} });
  sim.submit('gpu', GPU_JOB);
  await sim.pass();
  expect(nodeNames(sim, 'gpu')).toEqual(['b']);
});

test('costs no match in a cluster whose nodes are alike', async () => {
  const sim = await Simulation.of(nodesOf(4, 1));
  for (let i = 0; i < 6; i++) sim.submit(`j${i}`, { walltime: 100 + i });
  const { matches } = await sim.pass();
  // Four starts and the reservation of the first in line; the last request is covered by its refusal.
  expect(matches).toBe(5);
});

test('does not ask where its constraint or the size of the request leaves nothing to choose', async () => {
  const sim = await cluster({ a: { cpu: 8, gpu: 2 }, b: { cpu: 2 } });
  sim.submit('large', { cpu: 4 });
  expect((await sim.pass()).matches).toBe(1);
  expect(nodeNames(sim, 'large')).toEqual(['a']);
  const bound = await cluster({ a: { gpu: 2 }, b: { cpu: 1, weight: '7' } });
  const { pod } = requesting({ cpu: 1 });
  const onlyB = { pod: { ...pod, nodeSelector: { 'fluxqueue/node-weight': '7' } } };
  for (const uid of ['runs', 'waits']) {
    bound.submit(uid, onlyB);
    expect((await bound.pass()).matches).toBe(1);
  }
  expect(bound.reservations).toMatchObject([{ uid: 'waits' }]);
});

test('reserves nodes without devices where that costs no second', async () => {
  const sim = await cluster({ a: { cpu: 1, gpu: 1 }, b: { cpu: 1 } });
  sim.submit('p', { walltime: 100 });
  sim.submit('gpu', { ...GPU_JOB, walltime: 100 });
  await sim.pass();
  sim.submit('next', { walltime: 50 });
  await sim.pass();
  expect(sim.reservations).toMatchObject([
    { uid: 'next', allocation: { start: sim.now + 100, nodes: [{ name: 'b' }] } },
  ]);
});

test('reserves nodes with devices where they are free sooner', async () => {
  const sim = await cluster({ a: { cpu: 1, gpu: 1 }, b: { cpu: 1 } });
  sim.submit('p', { walltime: 200 });
  sim.submit('gpu', { ...GPU_JOB, walltime: 100 });
  await sim.pass();
  sim.submit('next', { walltime: 50 });
  await sim.pass();
  expect(sim.reservations).toMatchObject([
    { uid: 'next', allocation: { start: sim.now + 100, nodes: [{ name: 'a' }] } },
  ]);
});

test('starts a reserved workload sooner when any node is free', async () => {
  const sim = await cluster({ a: { cpu: 1, gpu: 1 }, b: { cpu: 1 } });
  sim.submit('p', { walltime: 100 });
  sim.submit('gpu', { ...GPU_JOB, walltime: 100 });
  sim.submit('next', { walltime: 50 });
  await sim.pass();
  sim.now += 10;
  await sim.finish('gpu');
  expect(granted(await sim.pass())).toEqual(['next']);
  expect(nodeNames(sim, 'next')).toEqual(['a']);
});

/** Nodes of all kinds. */
const mixed: readonly GraphNode[] = graphNodes([
  node('n0', { cpu: 4, gpu: 2 }),
  node('n1', { cpu: 4, weight: '50' }),
  node('n2', { cpu: 4, nic: 1 }),
  node('n3', { cpu: 4 }),
]);

const arrivals = fc.array(
  fc.record({
    gap: fc.integer({ min: 0, max: 40 }),
    pods: fc.integer({ min: 1, max: 5 }),
    cpu: fc.integer({ min: 1, max: 4 }),
    gpu: fc.boolean(),
    walltime: fc.integer({ min: 1, max: 120 }),
    part: fc.double({ min: 0.05, max: 1, noNaN: true }),
  }),
  { minLength: 1, maxLength: 30 },
);

test('delays no promise and starts everything, whatever the trace and policy', async () => {
  await fc.assert(
    fc.asyncProperty(arrivals, fc.constantFrom(...QUEUE_POLICIES), async (jobs, policy) => {
      const fluxion: Fluxion = await simulationFluxion();
      const sim = await Simulation.of(mixed, { policy, fluxion });
      let at = sim.now;
      const coming = jobs.map(({ gap, part, gpu, cpu, pods, walltime }, i) => {
        at += gap;
        const runs = Math.max(1, Math.round(walltime * part));
        const job = gpu
          ? { ...requesting({ cpu, 'nvidia.com/gpu': 1 }), pods: Math.min(pods, Math.floor(4 / cpu), 2) }
          : { cpu, pods: Math.min(pods, 4 * Math.floor(4 / cpu)) };
        return { at, submit: () => void sim.submit(`j${i}`, { ...job, walltime, runs }) };
      });
      await sim.run(coming);
      expect(sim.started).toHaveLength(jobs.length);
      expect(sim.doubleGrants()).toEqual([]);
      for (const [uid, estimates] of sim.estimates)
        expect([uid, estimates]).toEqual([uid, [...estimates].sort((a, b) => b - a)]);
    }),
    { numRuns: 150 },
  );
});
