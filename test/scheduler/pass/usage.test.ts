import { DEFAULT_UNITS } from '../../../runtime/jobspec/units';
import { askedBy, heldBy, inQuota, inWords, limitsOf } from '../../../runtime/scheduler/pass/usage';
import { nodesOf, Simulation } from './simulation';

test('units become what a quota counts, whatever their sizes', async () => {
  const sim = await Simulation.of(nodesOf(1, 1));
  const requests = { cpu: 2, memory: '3Gi', 'nvidia.com/gpu': 1 };
  const row = sim.submit('a', { pods: 4, pod: { containers: [{ resources: { requests } }] } });
  expect([...askedBy(row, DEFAULT_UNITS)]).toEqual([1, 4, 8000, 12 * 1024, 4]);
  expect([...askedBy(row, { cpuMillis: 100, memoryMiB: 512 })]).toEqual([1, 4, 800, 6 * 1024, 4]);
  const nodes = [
    { name: 'n0', units: { core: '0-3', memory: '0,2' } },
    { name: 'n1', units: { core: '1' } },
  ];
  expect([...heldBy(row, { jobid: 1, start: 0, end: 1, nodes }, DEFAULT_UNITS)]).toEqual([
    1, 4, 5000, 2048, 0,
  ]);
});

test('what a quota does not name is not limited; fractions of cores are counted in whole numbers', () => {
  expect([...limitsOf({ cores: 0.3, gpus: 2 })]).toEqual([Infinity, Infinity, 300, Infinity, 2]);
  expect([inWords(2, 1000), inWords(2, 300), inWords(3, 2048), inWords(4, 2)]).toEqual([
    '1 core',
    '0.3 cores',
    '2 GiB of memory',
    '2 gpus',
  ]);
});

test('usage in the numbers of a quota is what its limits are made of', () => {
  const quota = { jobs: 2, pods: 3, cores: 2.5, memoryGiB: 1.5, gpus: 1 };
  expect(inQuota(Float64Array.of(2, 3, 2500, 1536, 1))).toEqual(quota);
  expect(inQuota(limitsOf(quota))).toEqual(quota);
});
