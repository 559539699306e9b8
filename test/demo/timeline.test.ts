import { plain } from '../../examples/demo/styled';
import { timeline } from '../../examples/demo/timeline';
import { job, snapshot, T } from './rows';

const chart = (...args: Parameters<typeof timeline>) =>
  timeline(...args).map((line) => plain(line).trimEnd());

const running = (name: string, start: number, end: number) =>
  job(name, { letter: 'A', phase: 'Running', start: { at: start, kind: 'started' }, end });
const promised = (name: string, at: number, end: number) =>
  job(name, { letter: 'W', start: { at, kind: 'promised' }, end });
const planned = (name: string, at: number, end: number) => job(name, { start: { at, kind: 'planned' }, end });

test('draws what ran, its walltime, what is reserved and what is planned, each at its time', () => {
  const jobs = [
    planned('later', T + 30, T + 35),
    promised('wide', T + 20, T + 30),
    running('small', T, T + 20),
    job('unknown'),
  ];
  expect(chart(snapshot(jobs, { now: T + 10 }), { width: 80, height: 10 })).toEqual([
    'TIME  = ran  - walltime  ~ reserved  ? planned',
    '               16:00:00       16:00:15       16:00:30       16:00:45',
    'A small        ==========|---------',
    'W wide                   |         ~~~~~~~~~~',
    '  later                  |                   ?????',
  ]);
});

test('what has nodes and does not run yet begins now', () => {
  const ready = job('ready', { letter: 'R', phase: 'Ready', end: T + 3 });
  expect(chart(snapshot([ready]), { width: 80, height: 4 })[2]).toBe('R ready        |-----');
});

test('what should have started by now is drawn up to now', () => {
  const lines = chart(snapshot([promised('late', T - 3, T - 1)], { now: T }), { width: 80, height: 4 });
  expect(lines[2]).toMatch(/^W late +~~~~~~\|$/);
});

test('no plan is in the past', () => {
  const lines = chart(snapshot([planned('next', T - 1, T + 2)], { now: T }), { width: 80, height: 4 });
  expect(lines[2]).toMatch(/^ {2}next +\|\?+$/);
});

test.each([80, 52, 120])('fits %i columns, however far ahead a walltime ends', (width) => {
  const jobs = [running('short', T, T + 2), running('day', T, T + 86_400)];
  const lines = chart(snapshot(jobs, { now: T + 1 }), { width, height: 10 });
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  expect(lines.at(-1)).toMatch(/-{20}/);
});

test('keeps half of the lines for what is to come, and says how many jobs have no line', () => {
  const jobs = [
    ...Array.from({ length: 20 }, (_, i) => running(`small-${i}`, T, T + i)),
    promised('wide', T + 5, T + 9),
    planned('next', T + 6, T + 9),
    planned('last', T + 7, T + 9),
  ];
  const lines = chart(snapshot(jobs), { width: 80, height: 6 });
  expect(lines[0]).toContain('(19 more)');
  expect(lines.slice(2).map((line) => line.slice(2, 14).trim())).toEqual([
    'small-18',
    'small-19',
    'wide',
    'next',
  ]);
});

test('is empty when nothing has a time', () => {
  expect(chart(snapshot([job('a')]), { width: 80, height: 6 })).toEqual([]);
});
