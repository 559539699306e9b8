import { graphLines } from '../../runtime/cli/graph-tree';
import { READ_API, type ResourceGraph } from '../../runtime/reader/kinds';
import { cpuSeconds } from '../cpu-time';

type GraphNode = ResourceGraph['nodes'][number];
const TOTAL = { core: 160, memory: 512 };

function node(name: string, over: Partial<GraphNode> = {}): GraphNode {
  return { name, up: true, total: TOTAL, free: TOTAL, properties: [`host=${name}`, 'arch=amd64'], ...over };
}

function graph(nodes: readonly GraphNode[]): ResourceGraph {
  return {
    apiVersion: READ_API,
    kind: 'ResourceGraph',
    metadata: { name: 'fluxion' },
    bootId: 'b',
    unitSizes: { cpuMillis: 100, memoryMiB: 128 },
    nodes,
  };
}

const lines = (nodes: readonly GraphNode[], options = {}) =>
  graphLines(graph(nodes), { all: false, wide: false, ...options });
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `node-${from + i}`);

test('the tree has sums for zones and racks, and equal nodes share a line', () => {
  const shown = lines([
    ...range(0, 12).map((name) => node(name, { zone: 'a', rack: 'r1' })),
    node('node-12', { zone: 'a', rack: 'r2', free: { core: 40, memory: 512 } }),
    node('node-13', { zone: 'a', rack: 'r2', up: false }),
    node('login'),
  ]);
  expect(shown).toEqual([
    'the graph of Fluxion has 15 nodes, 1 down; cpu, memory are free/total; sums leave out what is free on nodes that are down',
    'RESOURCE           NODES  UP  CPU         MEMORY',
    'cluster            15     14  212/240     896Gi/960Gi',
    '  login            1      1   16/16       64Gi/64Gi',
    '  zone a           14     13  196/224     832Gi/896Gi',
    '    rack r1        12     12  192/192     768Gi/768Gi',
    '      node-[0-11]  12     12  16/16 each  64Gi/64Gi each',
    '    rack r2        2      1   4/32        64Gi/128Gi',
    '      node-12      1      1   4/16        64Gi/64Gi',
    '      node-13      1      0   16/16       64Gi/64Gi',
  ]);
});

test('each node has a line if all are asked for', () => {
  const nodes = ['node-10', 'node-9'].map((name) => node(name));
  expect(lines(nodes, { all: true }).slice(3)).toEqual([
    '  node-9   1      1   16/16  64Gi/64Gi',
    '  node-10  1      1   16/16  64Gi/64Gi',
  ]);
});

test('a wide tree has the properties that nodes of a line share', () => {
  const [, head, , shared] = lines(
    ['a1', 'a2'].map((name) => node(name)),
    { wide: true },
  );
  expect(head).toMatch(/MEMORY +PROPERTIES$/);
  expect(shared).toMatch(/^ {2}a\[1-2\] .* arch=amd64$/);
  const [, , , single] = lines([node('a1')], { wide: true });
  expect(single).toMatch(/ arch=amd64,host=a1$/);
});

test('a type that a node does not have is a dash', () => {
  const shown = lines([
    node('a', { total: { core: 10, gpu: 4 }, free: { core: 0 } }),
    node('b', { total: { core: 10 } }),
  ]);
  expect(shown.find((line) => line.startsWith('  a'))).toMatch(/ 0\/1 +0\/4$/);
  expect(shown.find((line) => line.startsWith('  b'))).toMatch(/ -$/);
});

test('an empty graph is a sentence', () => {
  expect(lines([])).toEqual(['the graph of Fluxion has no nodes']);
});

test('10,000 nodes are laid out with less than a second of CPU', () => {
  const nodes = range(0, 10_000).map((name, i) => node(name, { zone: `z${i % 4}`, rack: `r${i % 40}` }));
  const seconds = cpuSeconds(() => {
    expect(lines(nodes)).toHaveLength(2 + 1 + 4 + 40 + 40);
  });
  expect(seconds).toBeLessThan(1);
});

test('a long hostlist is cut', () => {
  const nodes = range(0, 100).map((name, i) => node(name, i % 2 === 0 ? { free: {} } : {}));
  const [, , , , last = ''] = lines(nodes);
  expect(last).toMatch(/^ {2}node-\[1,3,5,7,.*… {2}50 /);
  expect(last.indexOf('…')).toBe(49);
});
