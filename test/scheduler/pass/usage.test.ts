import { DEFAULT_UNITS } from '../../../runtime/jobspec/units';
import type { AllocatedNode } from '../../../runtime/resources/types';
import { formatAmount, heldBy, inQuota, limitsOf, requestedBy } from '../../../runtime/scheduler/pass/usage';
import { nodesOf, Simulation } from './simulation';

test('converts units of any size to the numbers of a quota', async () => {
  const sim = await Simulation.of(nodesOf(1, 1));
  const requests = { cpu: 2, memory: '3Gi', 'nvidia.com/gpu': 1 };
  const row = sim.submit('a', { pods: 4, pod: { containers: [{ resources: { requests } }] } });
  expect([...requestedBy(row, DEFAULT_UNITS)]).toEqual([1, 4, 8000, 12 * 1024, 4]);
  expect([...requestedBy(row, { cpuMillis: 100, memoryMiB: 512 })]).toEqual([1, 4, 800, 6 * 1024, 4]);
  const nodes = [
    { name: 'n0', units: { core: '0-3', memory: '0,2' } },
    { name: 'n1', units: { core: '1' } },
  ];
  expect([...heldBy(row, { jobid: 1, start: 0, end: 1, nodes }, DEFAULT_UNITS)]).toEqual([
    1, 4, 5000, 2048, 0,
  ]);
});

test('does not limit what a quota does not name, and counts fractions of cores in whole numbers', () => {
  expect([...limitsOf({ cores: 0.3, gpus: 2 })]).toEqual([Infinity, Infinity, 300, Infinity, 2]);
  expect([formatAmount(2, 1000), formatAmount(2, 300), formatAmount(3, 2048), formatAmount(4, 2)]).toEqual([
    '1 core',
    '0.3 cores',
    '2 GiB of memory',
    '2 gpus',
  ]);
});

test('converts limits back to the numbers of the quota', () => {
  const quota = { jobs: 2, pods: 3, cores: 2.5, memoryGiB: 1.5, gpus: 1 };
  expect(inQuota(Float64Array.of(2, 3, 2500, 1536, 1))).toEqual(quota);
  expect(inQuota(limitsOf(quota))).toEqual(quota);
});

describe('what an array holds', () => {
  const heldPods = async (part: AllocatedNode, times = 1) => {
    const row = (await Simulation.of(nodesOf(1, 1))).submit('a', { pods: 9, cpu: 2, array: true });
    const allocation = { jobid: 1, start: 0, end: 1, nodes: [part] };
    return Array.from({ length: times }, () => heldBy(row, allocation, DEFAULT_UNITS)[1]);
  };

  test('is counted once for all passes', async () => {
    let reads = 0;
    const part = {
      name: 'n0',
      get units() {
        reads += 1;
        return { core: '0-3', memory: '0-1' };
      },
    };
    expect(await heldPods(part)).toEqual([2]);
    const readsOfOne = reads;
    reads = 0;
    expect(await heldPods(part, 3)).toEqual([2, 2, 2]);
    expect(reads).toBe(readsOfOne);
  });

  test('is counted although the units of a node are not a whole number of its pods', async () => {
    expect(await heldPods({ name: 'n0', units: { core: '0-4', memory: '0-4' } })).toEqual([2]);
  });
});
