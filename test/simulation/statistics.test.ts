import { replay } from '../../runtime/simulation/replay';
import { statisticsOf } from '../../runtime/simulation/statistics';

test('computes the measures of the literature', () => {
  const jobs = [
    { submittedAt: 0, startedAt: 0, endedAt: 100, processors: 4, delayed: false },
    { submittedAt: 10, startedAt: 60, endedAt: 65, processors: 1, delayed: true, firstEstimate: 50 },
    { submittedAt: 20, startedAt: 100, endedAt: 200, processors: 2, delayed: false, firstEstimate: 120 },
  ];
  expect(statisticsOf(jobs, 8)).toEqual({
    jobs: 3,
    meanWait: 130 / 3,
    medianWait: 50,
    waitP90: 80,
    maxWait: 80,
    // 100/100, 55/10, 180/100
    meanBoundedSlowdown: (1 + 5.5 + 1.8) / 3,
    utilisation: (400 + 5 + 200) / (8 * 200),
    wideMeanWait: 40,
    wideMaxWait: 80,
    delayedReservations: 1,
    estimated: 2 / 3,
    meanEstimateError: 15,
    estimateErrorP50: 10,
    estimateErrorP90: 20,
  });
});

test('returns zeros without jobs', () => {
  expect(Object.values(statisticsOf([], 8))).toEqual(Array(14).fill(0));
});

test('estimates with exact walltimes and no later submissions are exact', async () => {
  // One after the other fills the machine: the second waits for the first, and so on.
  const trace = Array.from({ length: 20 }, (_, i) => ({
    number: i,
    submittedAt: 0,
    runtime: 100 + i,
    processors: 8,
    user: '1',
    queue: '1',
    walltime: 100 + i,
  }));
  const { jobs } = await replay(trace, { nodes: 1, coresPerNode: 8, policy: 'conservative' });
  expect(statisticsOf(jobs, 8)).toMatchObject({ estimated: 0.95, estimateErrorP50: 0, estimateErrorP90: 0 });
});
