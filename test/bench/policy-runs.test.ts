import { type PolicyRun, parseRuns, policyTables, RUN_HEADER, runLine } from './policy-runs';
import { widthsText } from './policy-widths';

const run = (over: Partial<PolicyRun> = {}): PolicyRun => ({
  jobs: 3000,
  load: 0.8,
  factor: 3,
  seed: 1,
  policy: 'easy',
  meanWait: 100,
  maxWait: 1000,
  meanBoundedSlowdown: 2.5,
  utilisation: 0.75,
  wideMeanWait: 300,
  wideMaxWait: 900,
  delayedReservations: 0,
  estimated: 0.25,
  meanEstimateError: 50,
  seconds: 1.5,
  referenceWait: 100,
  ...over,
});

test('reads the runs that it wrote', () => {
  const runs = [run(), run({ policy: 'fcfs', referenceWait: undefined })];
  expect(parseRuns([RUN_HEADER, ...runs.map(runLine)].join('\n'))).toEqual(runs);
  expect(parseRuns(`${RUN_HEADER}\n`)).toEqual([]);
});

test('a table has means over the seeds, the sum of delays, and the worst ratio to the reference', () => {
  const runs = [
    run({ policy: 'conservative', referenceWait: undefined }),
    run({ meanWait: 110, delayedReservations: 1 }),
    run({ seed: 2, meanWait: 90 }),
  ];
  const rows = policyTables(runs)
    .split('\n')
    .filter((line) => line.startsWith('| 0.8'));
  expect(rows).toEqual([
    '| 0.8 | 3 | easy | 2 | 100 s | at most 1.100 | 2.5 | 300 s | 900 s | 0.750 | 1 | 25 % | 50 s |',
    '| 0.8 | 3 | conservative | 1 | 100 s |  | 2.5 | 300 s | 900 s | 0.750 | 0 | 25 % | 50 s |',
  ]);
});

test('jobs of the whole machine that run one after the other empty it once', () => {
  const job = (startedAt: number, processors: number) => ({
    submittedAt: 0,
    startedAt,
    endedAt: startedAt + 10,
    processors,
    delayed: false,
  });
  const text = widthsText([job(0, 8), job(10, 8), job(20, 4), job(30, 8), job(40, 1)], 8);
  expect(text).toMatch(/below a quarter 40 s, a quarter 0 s, half 20 s, whole 13 s/);
  expect(text).toMatch(/emptied 2 times$/);
});
