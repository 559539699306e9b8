import { picture } from '../../examples/demo/picture';
import type { ShownJob } from '../../examples/demo/snapshot';
import { coloured, plain } from '../../examples/demo/styled';
import { job, snapshot, T } from './rows';

const NODES = Array.from({ length: 20 }, (_, i) => ({ name: `node-${i}`, cores: 16 }));
const STORY = [`wide needs 10 nodes at once: ${'and so on '.repeat(9)}`.trim()];

function busy() {
  const running = NODES.map(
    ({ name }, i): ShownJob => ({
      ...job(`small-${i}`, { letter: String.fromCharCode(65 + i), phase: 'Running' }),
      nodes: [{ name, units: { core: '0-15' } }],
      start: { at: T - i, kind: 'started' },
      end: T + i,
    }),
  );
  const waiting = Array.from({ length: 60 }, (_, i) =>
    job(`waits-${i}`, { position: i + 1, why: `needs ${'many cores '.repeat(20)}` }),
  );
  return snapshot([...waiting, ...running], { nodes: NODES, story: STORY });
}

test.each([
  [80, 23],
  [100, 40],
  [130, 29],
  [200, 60],
])('fits a terminal with %i columns and %i lines', (width, height) => {
  const lines = picture(busy(), { width, height }, ['SIMULATION']).map(plain);
  expect(lines.length).toBeLessThanOrEqual(height);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  expect(lines[0]).toBe('SIMULATION');
  expect(lines[1]).toBe('80 workloads: waiting 60, ready 0, running 20, finished 0  16:00:00 UTC');
  for (const part of ['20 NODES', 'TIME ', 'NAME ']) expect(lines.join('\n')).toContain(part);
});

test('node map, timeline and table are below each other where it is narrow, and beside each other where it is wide', () => {
  const lineOf = (width: number, part: string) =>
    picture(busy(), { width, height: 40 }).findIndex((line) => plain(line).includes(part));
  expect(lineOf(80, '20 NODES')).toBeLessThan(lineOf(80, 'TIME '));
  expect(lineOf(80, 'TIME ')).toBeLessThan(lineOf(80, 'NAME '));
  expect(lineOf(160, 'NAME ')).toBe(lineOf(160, '20 NODES'));
  expect(lineOf(160, '20 NODES')).toBeLessThan(lineOf(160, 'TIME '));
});

test('a job has one colour in the node map, the timeline and the table', () => {
  const lines = picture(busy(), { width: 200, height: 120 });
  const codes = lines.flatMap((line) =>
    line.flatMap(({ text, colour }) => (text.startsWith('B') && colour !== undefined ? [colour] : [])),
  );
  expect(new Set(codes)).toEqual(new Set([32]));
  expect(codes.length).toBeGreaterThanOrEqual(18);
  expect(coloured(lines.find((line) => line.some(({ colour }) => colour === 32))!)).toContain(
    '\u001b[32mB\u001b[0m',
  );
});
