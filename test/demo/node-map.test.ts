import { nodeMap } from '../../examples/demo/node-map';
import { plain } from '../../examples/demo/styled';
import { job, snapshot } from './rows';

const map = (...args: Parameters<typeof nodeMap>) => nodeMap(...args).map(plain);
const nodesOf = (count: number, cores: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `node-${i}`, cores }));

test('shows the letter of a job on each of its cores, and a point on free ones', () => {
  const jobs = [
    job('a', { letter: 'A', nodes: [{ name: 'node-0', units: { core: '0-1', memory: '0' } }] }),
    job('b', {
      letter: 'B',
      nodes: [
        { name: 'node-0', units: { core: '3' } },
        { name: 'node-1', units: { core: '0-3' } },
      ],
    }),
  ];
  const lines = nodeMap(snapshot(jobs, { nodes: nodesOf(2, 4) }), { width: 80, height: 5 });
  expect(lines.map(plain)).toEqual([
    '2 NODES  each letter is a job on a core, . is free',
    'node-0 AA.B  node-1 BBBB',
  ]);
  const colours = lines[1]!.filter(({ text }) => /[AB]/.test(text)).map(({ colour }) => colour);
  expect(new Set(colours)).toEqual(new Set([31, 32]));
});

test.each([
  [80, 9],
  [64, 24],
])('20 nodes with 16 cores fit %i columns and %i lines, core by core', (width, height) => {
  const lines = map(snapshot([], { nodes: nodesOf(20, 16) }), { width, height });
  expect(lines.length).toBeLessThanOrEqual(height);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  expect(lines.join('\n').match(/\./g)).toHaveLength(20 * 16 + 1);
});

test('one letter stands for several cores where there is less room: the job that has most of them', () => {
  const jobs = [
    job('a', { letter: 'A', nodes: [{ name: 'node-0', units: { core: '0' } }] }),
    job('b', { letter: 'B', nodes: [{ name: 'node-0', units: { core: '1-3' } }] }),
  ];
  const lines = map(snapshot(jobs, { nodes: nodesOf(6, 64) }), { width: 40, height: 4 });
  expect(lines[0]).toBe('6 NODES  each letter is a job on 8 core…');
  expect(lines[1]).toBe('node-0 B.......  node-1 ........');
});

test('names how many nodes have no room', () => {
  const lines = map(snapshot([], { nodes: nodesOf(5000, 64) }), { width: 80, height: 6 });
  expect(lines).toHaveLength(6);
  expect(lines.at(-1)).toBe(`and ${5000 - 4 * 6} more`);
});

test('shortens long names at the front, where they are equal', () => {
  const nodes = [{ name: 'gke-cluster-pool-1-4f2a', cores: 2 }];
  expect(map(snapshot([], { nodes }), { width: 80, height: 3 })[1]).toBe('…ol-1-4f2a ..');
});

test('a node with fewer cores than the largest one is shorter', () => {
  const nodes = [
    { name: 'big', cores: 4 },
    { name: 'small', cores: 2 },
  ];
  expect(map(snapshot([], { nodes }), { width: 80, height: 3 })[1]).toBe('big   ....  small ..  ');
});
