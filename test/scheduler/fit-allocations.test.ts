import type { Allocation, GraphNode, UnitCounts } from '../../runtime/resources/types';
import { fitAllocations } from '../../runtime/scheduler/fit-allocations';

const allocation = (jobid: number, nodes: Allocation['nodes']): Allocation => ({
  jobid,
  start: 10,
  end: 20,
  nodes,
});
const wide = allocation(1, [
  { name: 'a', units: { core: '0-3', memory: '0-1' } },
  { name: 'b', units: { core: '2', gpu: '0' }, exclusive: true },
]);
const nodesOf = (units: Readonly<Record<string, UnitCounts>>): ReadonlyMap<string, GraphNode> =>
  new Map(Object.entries(units).map(([name, counts]) => [name, { name, units: counts }]));

test('keeps an allocation whose units all exist', () => {
  const nodes = nodesOf({ a: { core: 4, memory: 2 }, b: { core: 3, gpu: 1 }, c: {} });
  const { byJob, moved } = fitAllocations([wide], nodes);
  expect(byJob.get(1)).toBe(wide);
  expect(moved.size).toBe(0);
});

test('leaves out nodes that are gone, and units for which no other is free', () => {
  const onA = fitAllocations([wide], nodesOf({ a: { core: 2, memory: 2 } }));
  expect(onA.byJob.get(1)?.nodes).toEqual([{ name: 'a', units: { core: '0-1', memory: '0-1' } }]);
  const onB = fitAllocations([wide], nodesOf({ b: { core: 0, gpu: 1 } }));
  expect(onB.byJob.get(1)?.nodes).toEqual([{ name: 'b', units: { gpu: '0' }, exclusive: true }]);
  expect(fitAllocations([wide], nodesOf({ c: { core: 9 } })).byJob.size).toBe(0);
});

test('gives a job other units where its own no longer exist, so that their number stays true', () => {
  const low = allocation(1, [{ name: 'a', units: { core: '0-1' } }]);
  const high = allocation(2, [{ name: 'a', units: { core: '5-8' } }]);
  const highest = allocation(3, [{ name: 'a', units: { core: '9' } }]);
  const { byJob, moved } = fitAllocations([low, high, highest], nodesOf({ a: { core: 7 } }));
  expect([...byJob.values()].map(({ nodes }) => nodes[0]!.units.core)).toEqual(['0-1', '2-3,5-6', '4']);
  expect([...moved.keys()]).toEqual([2, 3]);
});

test('a moved job keeps the units that it has, and gets those that it lacks before a later one does', () => {
  const first = allocation(1, [{ name: 'a', units: { core: '8-9' } }]);
  const second = allocation(2, [{ name: 'a', units: { core: '10' } }]);
  const before = new Map([
    [1, allocation(1, [{ name: 'a', units: { core: '3' } }])],
    [2, allocation(2, [{ name: 'a', units: { core: '1' } }])],
  ]);
  const { moved } = fitAllocations([first, second], nodesOf({ a: { core: 4 } }), before);
  expect([...moved.values()].map(({ nodes }) => nodes[0]!.units.core)).toEqual(['0,3', '1']);
  // Those that no longer exist are no units that it has.
  const less = fitAllocations([first, second], nodesOf({ a: { core: 2 } }), before);
  expect([...less.moved.values()].map(({ nodes }) => nodes[0]?.units.core)).toEqual(['0', '1']);
});

test('a job of which no unit is left holds nothing, but has moved', () => {
  const low = allocation(1, [{ name: 'a', units: { core: '0-1' } }]);
  const high = allocation(2, [{ name: 'a', units: { core: '2' } }]);
  const { byJob, moved } = fitAllocations([low, high], nodesOf({ a: { core: 2 } }));
  expect([[...byJob.keys()], [...moved.values()]]).toEqual([[1], [{ ...high, nodes: [] }]]);
});
