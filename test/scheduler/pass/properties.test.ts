/** Properties of every trace: random workloads with random runtimes on the embedded matcher. */
import fc from 'fast-check';
import { QUEUE_POLICIES, type QueuePolicy } from '../../../constructs/api/policies';
import { askOf } from '../../../runtime/jobspec/jobspec';
import { podsPerNode } from '../../../runtime/jobspec/pods-per-node';
import { type JobOptions, nodesOf, Simulation } from './simulation';

interface Arrival extends JobOptions {
  readonly gap: number;
}

const NODES = 4;
const CORES = 4;

/** Workloads that fit the cluster, most of them narrow and short. */
const arrival = fc.record({
  gap: fc.integer({ min: 0, max: 40 }),
  pods: fc.integer({ min: 1, max: NODES }),
  cpu: fc.integer({ min: 1, max: CORES }),
  exclusive: fc.boolean(),
  walltime: fc.integer({ min: 1, max: 120 }),
  part: fc.double({ min: 0.05, max: 1, noNaN: true }),
});

/** @param longest the longest runtime as a fraction of the walltime; above 1 workloads overrun */
const traces = (longest: number) =>
  fc.array(arrival, { minLength: 1, maxLength: 30 }).map((jobs) =>
    jobs.map(({ part, ...job }) => ({
      ...job,
      runs: Math.max(1, Math.round(job.walltime * part * longest)),
    })),
  );
const trace = traces(1);

async function play(
  jobs: readonly Arrival[],
  policy: QueuePolicy,
  match: 'first' | 'lonode' = 'lonode',
  afterPass?: (sim: Simulation) => Promise<void>,
): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(NODES, CORES), { policy, match });
  let at = sim.now;
  const arrivals = jobs.map(({ gap, ...job }, i) => {
    at += gap;
    return { at, submit: () => void sim.submit(`j${i}`, job) };
  });
  await sim.run(arrivals, () => afterPass?.(sim) ?? Promise.resolve());
  return sim;
}

const policies = fc.constantFrom(...QUEUE_POLICIES);
const backfills = fc.constantFrom<QueuePolicy>('easy', 'conservative', 'hybrid');
const matches = fc.constantFrom('first' as const, 'lonode' as const);
const runs = { numRuns: 60 };

test('I1: no two workloads hold a unit at once, and every workload starts once with all of its pods', async () => {
  await fc.assert(
    fc.asyncProperty(traces(1.5), policies, matches, async (jobs, policy, match) => {
      const sim = await play(jobs, policy, match);
      expect(sim.doubleGrants()).toEqual([]);
      expect(sim.started.map(({ uid }) => uid).sort()).toEqual(jobs.map((_, i) => `j${i}`).sort());
      for (const { uid, allocation } of sim.started) {
        const ask = askOf(sim.row(uid).jobspec);
        const placed = podsPerNode(allocation, ask).reduce((total, { pods }) => total + pods, 0);
        expect(placed).toBe(ask.pods);
      }
    }),
    runs,
  );
});

test('fcfs never starts a workload before an earlier one', async () => {
  await fc.assert(
    fc.asyncProperty(trace, async (jobs) => {
      const sim = await play(jobs, 'fcfs');
      const starts = jobs.map((_, i) => sim.startOf(`j${i}`));
      expect(starts).toEqual([...starts].sort((a, b) => a - b));
    }),
    runs,
  );
});

test('I4: first come, first served among equals', async () => {
  await fc.assert(
    fc.asyncProperty(trace, policies, async (jobs, policy) => {
      const sim = await play(jobs, policy);
      const latest = new Map<string, number>();
      for (const [i] of jobs.entries()) {
        const { shape, walltime } = sim.row(`j${i}`);
        const start = sim.startOf(`j${i}`);
        expect(start).toBeGreaterThanOrEqual(latest.get(`${shape} ${walltime}`) ?? 0);
        latest.set(`${shape} ${walltime}`, start);
      }
    }),
    runs,
  );
});

test('I5: an estimated start never moves later, and the workload starts by then', async () => {
  let estimated = 0;
  await fc.assert(
    fc.asyncProperty(trace, backfills, matches, async (jobs, policy, match) => {
      const sim = await play(jobs, policy, match);
      for (const given of sim.estimates.values()) {
        estimated += 1;
        expect(given).toEqual([...given].sort((a, b) => b - a));
      }
    }),
    runs,
  );
  expect(estimated).toBeGreaterThan(0);
});

test('backfill never delays the first blocked workload', async () => {
  await fc.assert(
    fc.asyncProperty(trace, async (jobs) => {
      // Exact walltimes, so that both futures are known.
      const exact = jobs.map((job) => ({ ...job, runs: job.walltime! }));
      const sim = await play(exact, 'easy');
      const [firstBlocked] = sim.estimates.keys();
      fc.pre(firstBlocked !== undefined);
      const alone = await play(exact.slice(0, Number(firstBlocked.slice(1)) + 1), 'easy');
      expect(sim.startOf(firstBlocked)).toBeLessThanOrEqual(alone.startOf(firstBlocked));
    }),
    runs,
  );
});

test('backfill leaves nothing waiting that could start: Fluxion would refuse every request that was not made', async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(trace, backfills, matches, async (jobs, policy, match) => {
      await play(jobs, policy, match, async (sim) => {
        for (const { jobspec, phase } of sim.rows.values()) {
          if (phase === 'Waiting') {
            refused += 1;
            const ask = { jobid: 1_000_000, jobspec, operation: 'without_allocating', now: sim.now } as const;
            expect(await sim.fluxion.match(ask)).toMatchObject({ status: 'BUSY' });
          }
        }
      });
    }),
    runs,
  );
  expect(refused).toBeGreaterThan(0);
});
