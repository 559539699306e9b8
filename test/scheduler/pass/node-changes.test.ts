/** Which changes of nodes make passes judge unsatisfiable workloads again. */

import { unsatisfiableText } from '../../../runtime/jobspec/explain';
import type { GraphNode } from '../../../runtime/resources/types';
import { NodeChanges } from '../../../runtime/scheduler/pass/node-changes';
import fc from '../../fast-check';
import { granted, nodesOf, Simulation } from './simulation';

const SHAPES = 20;

/** Workloads of many shapes that do not fit 2 nodes of 4 cores: too large, on nodes of a zone, with FPGAs. */
async function withUnsatisfiable() {
  const before = nodesOf(2, 4);
  const sim = await Simulation.of(before);
  for (let i = 0; i < SHAPES; i++) {
    sim.submit(`large-${i}`, { cpu: 100 - i });
    sim.submit(`zone-${i}`, { pods: 1 + i, pod: { nodeSelector: { zone: 'a' } } });
    sim.submit(`fpga-${i}`, {
      pod: { containers: [{ resources: { requests: { cpu: 1, 'example.com/fpga': 1 + i } } }] },
    });
  }
  const { matches } = await sim.pass({ nodes: before });
  const change = async (after: readonly GraphNode[]) => {
    await sim.fluxion.init({ nodes: after, policy: 'lonode', now: sim.now });
    return sim.pass({ nodes: after });
  };
  return { before, sim, matches, change };
}

test('a node that helps nobody costs no match', async () => {
  const { before, sim, change } = await withUnsatisfiable();
  expect([...sim.rows.values()].every(({ reason }) => reason === 'Unsatisfiable')).toBe(true);
  const result = await change([...before, { name: 'n2', units: { core: 4 } }]);
  expect(result).toMatchObject({ matches: 0, grants: [] });
});

test.each<[string, GraphNode, string[], number]>([
  ['larger node', { name: 'n2', units: { core: 81 } }, ['large-19'], 1],
  ['node with a label', { name: 'n2', units: { core: 2 }, properties: ['zone=a'] }, ['zone-0'], 2],
  ['node with a device', { name: 'n2', units: { core: 1, example_com_fpga: 3 } }, ['fpga-0'], 3],
])('a %s costs matches for the workloads that it helps', async (_name, node, starts, matches) => {
  const { before, change } = await withUnsatisfiable();
  const result = await change([...before, node]);
  expect(granted(result)).toEqual(starts);
  expect(result.matches).toBeLessThanOrEqual(matches);
});

test('a node that loses a taint costs matches for the workloads that it helps', async () => {
  const sim = await Simulation.of(nodesOf(1, 4));
  const constraints = { not: [{ properties: ['taint:a=:NoSchedule'] }] };
  const tainted = { name: 'n1', units: { core: 8 }, properties: ['taint:a=:NoSchedule'] };
  const row = sim.submit('a', { cpu: 8 });
  const { system } = row.jobspec.attributes;
  sim.change('a', { jobspec: { ...row.jobspec, attributes: { system: { ...system, constraints } } } });
  sim.submit('b', { cpu: 9 });
  const nodes = [...sim.nodes, tainted];
  await sim.fluxion.init({ nodes, policy: 'lonode', now: sim.now });
  await sim.pass({ nodes });
  expect(sim.row('a').reason).toBe('Unsatisfiable');
  const free = [...sim.nodes, { ...tainted, properties: [] }];
  await sim.fluxion.init({ nodes: free, policy: 'lonode', now: sim.now });
  const result = await sim.pass({ nodes: free });
  expect(granted(result)).toEqual(['a']);
  expect(result.matches).toBe(1);
});

test('the numbers in a message follow the nodes without a match', async () => {
  const { before, sim, change } = await withUnsatisfiable();
  await change([...before, { name: 'n2', units: { core: 1 }, properties: ['zone=a'] }]);
  expect(sim.row('zone-1').message).toBe(
    'asks for 2 nodes with 1 core, its node selector, affinity and tolerations leave 1: of 3 nodes that are large enough, 2 lack label zone=a',
  );
  const { matches } = await change(before);
  expect(matches).toBe(0);
  expect(sim.row('zone-1').message).toMatch(
    /leave none: of 2 nodes that are large enough, 2 lack label zone=a$/,
  );
});

const anyNode = fc.record({
  units: fc.record({
    core: fc.integer({ min: 1, max: 4 }),
    example_com_fpga: fc.integer({ min: 0, max: 2 }),
  }),
  properties: fc.subarray(['zone=a', 'taint:a=:NoSchedule']),
});
const anyNodes = fc
  .dictionary(fc.constantFrom('n0', 'n1', 'n2', 'n3'), anyNode, { minKeys: 1 })
  .map((all) => Object.entries(all).map(([name, node]): GraphNode => ({ name, ...node })));

test('a change that concerns a workload not at all leaves the reason as it is', async () => {
  const sim = await Simulation.of(nodesOf(1, 1));
  const rows = [
    sim.submit('a', { cpu: 3, pods: 3 }),
    sim.submit('b', { pods: 2, pod: { nodeSelector: { zone: 'a' } } }),
    sim.submit('c', { pod: { nodeName: 'n3' }, cpu: 2 }),
    sim.submit('d', { pod: { containers: [{ resources: { requests: { 'example.com/fpga': 2 } } }] } }),
    sim.submit('e', { exclusive: true, pods: 3 }),
  ];
  fc.assert(
    fc.property(anyNodes, anyNodes, fc.constantFrom(...rows), (before, after, row) => {
      if (NodeChanges.between(before, after).concern(row)) return;
      expect(unsatisfiableText(row.jobspec, after)).toBe(unsatisfiableText(row.jobspec, before));
    }),
  );
});
