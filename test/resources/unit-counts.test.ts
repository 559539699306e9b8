import { unitCounts } from '../../runtime/resources/unit-counts';

test('counts the units of all nodes by type', () => {
  const nodes = [
    { name: 'n1', units: { core: '0-2,7', memory: '0-3' } },
    { name: 'n2', units: { core: '5,9', gpu: '1' } },
  ];
  const allocation = { jobid: 7, start: 0, end: 60, nodes };
  expect(unitCounts(allocation)).toEqual({ core: 6, memory: 4, gpu: 1 });
  // Another object is another allocation, also of the same job: the remaining units count.
  expect(unitCounts({ ...allocation, nodes: nodes.slice(1) })).toEqual({ core: 2, gpu: 1 });
  expect(unitCounts({ ...allocation, nodes: [] })).toEqual({});
});
