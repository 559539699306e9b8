import { gapsOn } from '../../../runtime/fluxion/library/gaps';
import type { Allocation, UnitIds } from '../../../runtime/resources/types';

const NODE = { name: 'n0', units: { core: 4, gpu: 1 } };

function held(start: number, end: number, units: UnitIds, exclusive = false, name = 'n0'): Allocation {
  return { jobid: 1, start, end, nodes: [{ name, units, exclusive }] };
}

const free = (start: number, end: number, units: UnitIds, name = 'n0') => ({
  start,
  end,
  nodes: [{ name, units, exclusive: false }],
});

test('finds one gap on an empty node', () => {
  expect(gapsOn([NODE], [], 10, 50)).toEqual([free(10, 50, { core: '0-3', gpu: '0' })]);
});

test('finds the gaps before, between and after jobs', () => {
  const jobs = [held(30, 40, { core: '0-1' }), held(0, 20, { core: '1', gpu: '0' })];
  expect(gapsOn([NODE], jobs, 10, 50)).toEqual([
    free(10, 30, { core: '0' }),
    free(40, 50, { core: '0-1' }),
    free(20, 30, { core: '1' }),
    free(10, 50, { core: '2-3' }),
    free(20, 50, { gpu: '0' }),
  ]);
});

test('finds no gap under an exclusive node and ignores later jobs', () => {
  const jobs = [held(0, 30, {}, true), held(60, 90, { core: '0' })];
  expect(gapsOn([NODE], jobs, 10, 50)).toEqual([free(30, 50, { core: '0-3', gpu: '0' })]);
});

test('merges units that are free at the same time on several nodes into one gap', () => {
  const other = { name: 'n1', units: { core: 2 } };
  const jobs = [held(0, 30, {}, true), held(10, 30, { core: '0-1' }, false, 'n1')];
  expect(gapsOn([NODE, other], jobs, 10, 50)).toEqual([
    {
      start: 30,
      end: 50,
      nodes: [
        { name: 'n0', units: { core: '0-3', gpu: '0' }, exclusive: false },
        { name: 'n1', units: { core: '0-1' }, exclusive: false },
      ],
    },
  ]);
});

test('finds no gap in an empty span', () => {
  expect(gapsOn([NODE], [], 10, 10)).toEqual([]);
  expect(gapsOn([NODE], [held(0, 99, {}, true)], 10, 50)).toEqual([]);
});
