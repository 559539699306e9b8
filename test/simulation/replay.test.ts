import { QUEUE_POLICIES } from '../../constructs/api/policies';
import { replay } from '../../runtime/simulation/replay';
import { statisticsOf } from '../../runtime/simulation/statistics';
import { parseSwf } from '../../runtime/simulation/swf';
import fc from '../fast-check';
import { swfTrace } from './trace';

const MACHINE = { nodes: 16, coresPerNode: 4 };
const CORES = 64;
const traceOf = (options: Partial<Parameters<typeof swfTrace>[0]> = {}) =>
  parseSwf(swfTrace({ jobs: 400, cores: CORES, load: 0.95, ...options }), 'generated').jobs;

test.each(QUEUE_POLICIES)('%s: every job runs, and none later than estimated', async (policy) => {
  for (const exact of [true, false]) {
    const trace = traceOf({ exact });
    const { jobs, tooLarge } = await replay(trace, { ...MACHINE, policy });
    expect([jobs.length, tooLarge]).toEqual([trace.length, []]);
    expect(statisticsOf(jobs, CORES).delayedReservations).toBe(0);
    for (const { submittedAt, startedAt } of jobs) expect(startedAt).toBeGreaterThanOrEqual(submittedAt);
  }
});

test('never uses more cores than the machine has', async () => {
  const { jobs } = await replay(traceOf(), { ...MACHINE, policy: 'conservative' });
  const changes = jobs.flatMap(({ startedAt, endedAt, processors }) => [
    { at: startedAt, by: processors },
    { at: endedAt, by: -processors },
  ]);
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let used = 0;
  for (const { by } of changes) {
    used += by;
    expect(used).toBeLessThanOrEqual(CORES);
  }
});

test('backfill has shorter waits than fcfs, and the same trace gives the same result', async () => {
  const trace = traceOf();
  const wait = async (policy: 'fcfs' | 'easy') =>
    statisticsOf((await replay(trace, { ...MACHINE, policy })).jobs, CORES).meanWait;
  const easy = await wait('easy');
  expect(easy).toBeLessThan((await wait('fcfs')) / 2);
  expect(await wait('easy')).toBe(easy);
});

test('hybrid promises starts to as many of the first in line as it has reservations', async () => {
  const trace = traceOf({ load: 1.5 });
  const estimated = async (reservations?: number) => {
    const options = reservations === undefined ? {} : { reservations };
    const { jobs } = await replay(trace, { ...MACHINE, policy: 'hybrid', ...options });
    return statisticsOf(jobs, CORES).estimated;
  };
  const usual = await estimated();
  expect(await estimated(8)).toBe(usual);
  expect(await estimated(1)).toBeLessThan(usual);
  expect(await estimated(64)).toBeGreaterThan(usual);
});

// With fcfs a promise ends where another queue or user comes first.
test.each(['easy', 'conservative', 'hybrid'] as const)(
  '%s: fair share of several queues breaks no promise',
  async (policy) => {
    const trace = traceOf({ load: 1.2 }).map((job, i) => ({ ...job, queue: `${i % 3}` }));
    const { jobs } = await replay(trace, {
      ...MACHINE,
      policy,
      weights: new Map([['1', 4]]),
      halfLife: 3600,
    });
    expect(jobs).toHaveLength(trace.length);
    expect(statisticsOf(jobs, CORES).delayedReservations).toBe(0);
  },
);

test('a scale above 1 stretches the submissions and lowers the load', async () => {
  const trace = traceOf();
  const at = async (scale: number) =>
    statisticsOf((await replay(trace, { ...MACHINE, policy: 'easy', scale })).jobs, CORES);
  const [full, half] = [await at(1), await at(2)];
  expect(half.meanWait).toBeLessThan(full.meanWait / 2);
  expect(half.utilisation).toBeLessThan(0.6);
});

test('returns jobs that are larger than the machine separately', async () => {
  const trace = parseSwf(swfTrace({ jobs: 50, cores: 4 * CORES, load: 0.5 }), 'generated').jobs;
  const { jobs, tooLarge } = await replay(trace, { ...MACHINE, policy: 'easy' });
  expect(tooLarge.length).toBeGreaterThan(0);
  expect(jobs.length + tooLarge.length).toBe(50);
  expect(await replay([], { ...MACHINE, policy: 'easy' })).toEqual({ jobs: [], tooLarge: [] });
});

test('estimates hold for any trace, however early jobs end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1e6 }),
      fc.constantFrom(...QUEUE_POLICIES),
      async (seed, policy) => {
        const trace = parseSwf(swfTrace({ jobs: 120, cores: 24, load: 1.2, seed }), 'generated').jobs;
        const { jobs } = await replay(trace, { nodes: 6, coresPerNode: 4, policy });
        expect(statisticsOf(jobs, 24)).toMatchObject({ jobs: 120, delayedReservations: 0 });
      },
    ),
    { numRuns: 25 },
  );
});
