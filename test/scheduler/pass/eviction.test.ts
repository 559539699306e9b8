/** Fluxion may hold a workload on other units than its row says, or not at all: it can leave for others all the same. */
import type { GraphNode } from '../../../runtime/resources/types';
import { PREEMPTS } from './settings';
import { granted, nodesOf, Simulation } from './simulation';

const evictedBy = (result: { evictions: readonly { uid: string }[] }) =>
  result.evictions.map(({ uid }) => uid);

/** An agent starts on the last node: it has one core less than was granted there. */
const withAgent = (nodes: readonly GraphNode[]): GraphNode[] =>
  nodes.map((node, i) =>
    i === nodes.length - 1 ? { ...node, units: { core: node.units.core! - 1 } } : node,
  );

test('evicts a workload that holds the highest unit of a node that has lost one', async () => {
  const sim = await Simulation.of(nodesOf(2, 8));
  sim.queue('default', PREEMPTS);
  sim.submit('low', { cpu: 4, pods: 4, walltime: 10_000, preemptible: true });
  await sim.pass();
  await sim.rebuild(withAgent(sim.nodes));
  sim.submit('high', { cpu: 4, priority: 1, walltime: 100 });
  sim.submit('other', { cpu: 4, walltime: 100 });
  expect(evictedBy(await sim.pass())).toEqual(['low']);
  await sim.requeue('low');
  expect(granted(await sim.pass())).toEqual(['high', 'other']);
});

test('keeps the units of a workload in Fluxion if its eviction starts nothing', async () => {
  const sim = await Simulation.of(nodesOf(2, 8));
  sim.queue('default', PREEMPTS);
  sim.submit('low', { cpu: 4, pods: 4, walltime: 10_000, preemptible: true });
  await sim.pass();
  await sim.rebuild(withAgent(sim.nodes));
  const before = await sim.fluxion.state();
  // By their number the units of the row would be enough for it.
  sim.submit('high', { cpu: 4, pods: 4, priority: 1, walltime: 100 });
  expect(evictedBy(await sim.pass())).toEqual([]);
  expect(await sim.fluxion.state()).toEqual(before);
});

test('evicts one of two workloads that hold the same unit, which Fluxion does not hold', async () => {
  const sim = await Simulation.of(nodesOf(1, 8));
  sim.queue('default', PREEMPTS);
  sim.submit('first', { cpu: 4, walltime: 10_000 });
  sim.submit('second', { cpu: 4, walltime: 10_000, preemptible: true });
  await sim.pass();
  const { nodes } = sim.row('first').allocation!;
  const { jobid, allocation } = sim.row('second');
  await sim.fluxion.cancel(jobid);
  sim.change('second', { allocation: { ...allocation!, nodes } });
  sim.submit('load', { cpu: 4, walltime: 10_000, preemptible: true });
  expect(granted(await sim.pass())).toEqual(['load']);
  sim.submit('high', { cpu: 4, priority: 1, walltime: 100 });
  expect(evictedBy(await sim.pass())).toEqual(['load']);
});
