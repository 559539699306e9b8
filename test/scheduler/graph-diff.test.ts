import type { GraphNode } from '../../runtime/resources/types';
import { diffGraph, onlyShrank, replacedNodes } from '../../runtime/scheduler/graph-diff';

const node = (name: string, core: number, up?: boolean): GraphNode => ({
  name,
  units: { core },
  ...(up === undefined ? {} : { up }),
});
const nodes = (...list: readonly GraphNode[]) => new Map(list.map((one) => [one.name, one]));
const holding = (...names: readonly string[]) => ({
  jobid: 1,
  start: 0,
  end: 1,
  nodes: names.map((name) => ({ name, units: { core: '0' } })),
});

test('finds nodes that were added, removed, and that came up or went down', () => {
  const known = nodes(node('a', 1), node('b', 1, false), node('c', 1, true), node('d', 1));
  const added = node('e', 1, false);
  expect(diffGraph(known, nodes(node('a', 1, true), node('b', 1), node('c', 1, false), added))).toEqual({
    removed: ['d'],
    added: [added],
    up: ['b'],
    down: ['c'],
  });
});

test.each([
  ['a node that changed its units', nodes(node('a', 2), node('b', 1)), [], ['a']],
  [
    'a node that came back under a job',
    nodes(node('a', 1), node('b', 1), node('c', 1)),
    [holding('c')],
    ['c'],
  ],
  ['a new node without jobs', nodes(node('a', 1), node('b', 1), node('c', 1)), [holding('a')], []],
  ['a node that went down', nodes(node('a', 1, false), node('b', 1)), [holding('a')], []],
  ['a node that left', nodes(node('a', 1)), [holding('b')], []],
])('finds the nodes under which allocations have to be replayed: %s', (_, desired, held, expected) => {
  expect([...replacedNodes(nodes(node('a', 1), node('b', 1)), desired, held)]).toEqual(expected);
});

test('tells a node that only lost units from one that has something new', () => {
  const before = { name: 'a', units: { core: 4, gpu: 1 }, properties: ['zone=a'] };
  expect(onlyShrank(before, { ...before, units: { core: 3 } })).toBe(true);
  expect(onlyShrank(before, { ...before, units: { core: 3, gpu: 2 } })).toBe(false);
  expect(onlyShrank(before, { ...before, properties: ['zone=b'] })).toBe(false);
});
