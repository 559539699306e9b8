import type { Allocation } from '../../runtime/resources/types';
import { clipAllocation } from '../../runtime/scheduler/clip-allocation';

const allocation: Allocation = {
  jobid: 1,
  start: 10,
  end: 20,
  nodes: [
    { name: 'a', units: { core: '0-3', memory: '0-1' } },
    { name: 'b', units: { core: '2', gpu: '0' }, exclusive: true },
  ],
};
const node = (name: string, units: Record<string, number>) => [name, { name, units }] as const;

describe('an allocation is clipped', () => {
  test('to all of it while its nodes are there', () => {
    const nodes = new Map([node('a', { core: 4, memory: 2 }), node('b', { core: 3, gpu: 1 }), node('c', {})]);
    expect(clipAllocation(allocation, nodes)).toEqual(allocation);
  });

  test('to less if a node is gone or lost units', () => {
    expect(clipAllocation(allocation, new Map([node('a', { core: 2, memory: 2 })]))?.nodes).toEqual([
      { name: 'a', units: { core: '0-1', memory: '0-1' } },
    ]);
    expect(clipAllocation(allocation, new Map([node('b', { core: 2, gpu: 1 })]))?.nodes).toEqual([
      { name: 'b', units: { gpu: '0' }, exclusive: true },
    ]);
  });

  test('to nothing if all of its nodes are gone', () => {
    expect(clipAllocation(allocation, new Map([node('c', { core: 9 })]))).toBeUndefined();
  });
});
