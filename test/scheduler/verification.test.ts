import type { Allocation } from '../../runtime/resources/types';
import { differences } from '../../runtime/scheduler/verification';

const jobs = (...list: readonly [number, Record<string, Record<string, string>>][]) =>
  new Map(
    list.map(([jobid, nodes]): [number, Allocation] => [
      jobid,
      { jobid, start: 0, end: 1, nodes: Object.entries(nodes).map(([name, units]) => ({ name, units })) },
    ]),
  );

test('ignores the order of nodes and units, and times', () => {
  expect([
    ...differences(
      jobs([1, { a: { core: '0', memory: '1' }, b: { core: '2' } }]),
      jobs([1, { b: { core: '2' }, a: { memory: '1', core: '0' } }]),
    ),
  ]).toEqual([]);
});

test.each([
  ['holds other units', jobs([1, { a: { core: '1' } }]), 'job 1 should hold a (core 0) but holds a (core 1)'],
  ['holds nothing', jobs(), 'job 1 should hold a (core 0) but holds nothing'],
  [
    'should hold nothing',
    jobs([1, { a: { core: '0' } }], [2, { a: { core: '1' } }]),
    'job 2 should hold nothing but holds a (core 1)',
  ],
  [
    'is elsewhere',
    jobs([1, { b: { core: '0' } }]),
    'job 1 should hold a (core 0) but holds b (core 0)',
    ['a', 'b'],
  ],
] as readonly [string, ReadonlyMap<number, Allocation>, string, string[]?][])(
  'names each job that %s, with its nodes',
  (_, held, text, nodes = ['a']) => {
    expect([...differences(held, jobs([1, { a: { core: '0' } }]))]).toEqual([{ text, nodes }]);
  },
);
