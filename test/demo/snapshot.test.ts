import { Snapshots } from '../../examples/demo/snapshot';
import { row, runs, T } from './rows';

const NODES = [{ name: 'node-0', cores: 4 }];

test('numbers what waits from 1 in the order of the queue, whatever was stored of it before', () => {
  const { jobs } = new Snapshots(NODES).of([row('c', 3), row('urgent', 4, { priority: 10 }), row('a', 1)], T);
  expect(jobs.map(({ name, position }) => [name, position])).toEqual([
    ['urgent', 1],
    ['a', 2],
    ['c', 3],
  ]);
});

test('a lower priority comes after later submissions', () => {
  const { jobs } = new Snapshots(NODES).of([row('late', 2), row('low', 1, { priority: -5 })], T);
  expect(jobs.map(({ name }) => name)).toEqual(['late', 'low']);
});

test('lists what waits, then what has nodes, then what has ended, newest first', () => {
  const ended = (finishedAt: number) =>
    ({ phase: 'Finished', result: 'Succeeded', startedAt: T, finishedAt }) as const;
  const { jobs } = new Snapshots(NODES).of(
    [
      row('old', 1, ended(T + 2)),
      row('new', 2, ended(T + 3)),
      row('runs', 3, runs('node-0', '0', T)),
      row('waits', 4),
    ],
    T + 5,
  );
  expect(jobs.map(({ name, why }) => [name, why])).toEqual([
    ['waits', 'waits for the next scheduling pass'],
    ['runs', ''],
    ['new', 'succeeded'],
    ['old', 'succeeded'],
  ]);
});

test('says of a start whether it was, is promised or is planned, and when the walltime ends', () => {
  const plans = new Map([
    ['uid-planned', T + 20],
    ['uid-promised', T + 30],
  ]);
  const rows = [
    row('promised', 1, { estimatedStart: T + 5, reason: 'Reserved' }),
    row('planned', 2),
    row('unknown', 3),
    row('runs', 4, runs('node-0', '0', T)),
  ];
  const { jobs } = new Snapshots(NODES).of(rows, T + 1, [], plans);
  expect(jobs.map(({ start, end }) => [start?.kind, start?.at, end])).toEqual([
    ['promised', T + 5, T + 15],
    ['planned', T + 20, T + 30],
    [undefined, undefined, undefined],
    ['started', T, T + 10],
  ]);
});

test('a workload keeps its letter from its promise to its end, and no two have the same', () => {
  const snapshots = new Snapshots(NODES);
  const lettersOf = (...rows: Parameters<typeof row>[]) =>
    snapshots
      .of(
        rows.map((each) => row(...each)),
        T,
      )
      .jobs.map(({ name, letter }) => [name, letter]);
  expect(
    lettersOf(['wide', 1, { estimatedStart: T + 5 }], ['a', 2, runs('node-0', '0', T)], ['idle', 3]),
  ).toEqual([
    ['wide', 'B'],
    ['idle', undefined],
    ['a', 'A'],
  ]);
  expect(lettersOf(['wide', 1, runs('node-0', '1', T)], ['b', 2, runs('node-0', '2', T)])).toEqual([
    ['wide', 'B'],
    ['b', 'C'],
  ]);
});
