/** Properties of two queues with random policies, quotas, limits and cohorts on the embedded matcher. */
import fc, { cases } from '../../fast-check';
import {
  exceeded,
  fitsAlone,
  playScenario,
  reclaiming,
  type Scenario,
  scenario,
  withEquals,
} from './quota-traces';
import type { Simulation } from './simulation';

/** A promised start moves only earlier, and the workload starts by then. */
function brokenPromises(sim: Simulation): string[] {
  return [...sim.estimates]
    .filter(([, given]) => given.some((estimate, i) => i > 0 && estimate > given[i - 1]!))
    .map(([uid, given]) => `${uid}: ${given.join(', ')}`);
}

const plans = cases(400);

test(
  'no quota or limit is exceeded at any second of the plan, and every promised start is kept',
  async () => {
    let reserved = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const sim = await playScenario(given, async (now) => {
          reserved += now.reservations.filter(({ shortage }) => shortage !== undefined).length;
          expect(exceeded(now, given)).toEqual([]);
        });
        expect(sim.doubleGrants()).toEqual([]);
        expect(brokenPromises(sim)).toEqual([]);
      }),
      { numRuns: plans.numRuns },
    );
    expect(reserved).toBeGreaterThan(0);
  },
  plans.milliseconds,
);

const reclaims = cases(200);

test(
  'a queue that takes its quota back breaks no promise of the others',
  async () => {
    let evicted = 0;
    await fc.assert(
      fc.asyncProperty(reclaiming, async (given) => {
        const returned = new Set<string>();
        const sim = await playScenario(given, async (now) => {
          expect(exceeded(now, given)).toEqual([]);
          for (const { uid, evictionReason } of [...now.rows.values()]) {
            if (evictionReason === null) continue;
            returned.add(uid);
            await now.requeue(uid);
          }
        });
        evicted += returned.size;
        expect(brokenPromises(sim).filter((text) => !returned.has(text.split(':')[0]!))).toEqual([]);
      }),
      { numRuns: reclaims.numRuns },
    );
    expect(evicted).toBeGreaterThan(0);
  },
  reclaims.milliseconds,
);

const orders = cases(300);

test(
  'equal workloads of one user and queue start in the order of their submission',
  async () => {
    let equals = 0;
    await fc.assert(
      fc.asyncProperty(withEquals, async (given) => {
        const sim = await playScenario(given);
        const latest = new Map<string, number>();
        for (const [i, { queue, user, walltime }] of given.jobs.entries()) {
          const start = sim.started.find(({ uid }) => uid === `j${i}`)?.start ?? Infinity;
          const kind = [queue, user, walltime, sim.row(`j${i}`).shape].join(' ');
          if (latest.has(kind)) equals += 1;
          expect(start).toBeGreaterThanOrEqual(latest.get(kind) ?? 0);
          latest.set(kind, start);
        }
      }),
      { numRuns: orders.numRuns },
    );
    expect(equals).toBeGreaterThan(orders.numRuns / 4);
  },
  orders.milliseconds,
);

const progress = cases(150);
const LONGEST = 100;

/** One workload after the given ones, and then a stream of small ones for both queues and users. */
function withStream(jobs: Scenario['jobs']): Scenario['jobs'] {
  const stream = Array.from({ length: 24 }, (_, i) => ({
    gap: 12,
    queue: i % 2 === 0 ? 'a' : 'b',
    user: i % 4 < 2 ? 'ada' : 'bob',
    walltime: 20 + ((i * 37) % 60),
  }));
  return [...jobs, ...stream];
}

test(
  'under a stream of small workloads every workload that fits starts within a bound',
  async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const first = given.jobs.slice(0, 6);
        const sim = await playScenario({ ...given, jobs: withStream(first) });
        for (const [i, job] of first.entries()) {
          if (!(await fitsAlone(given, job))) continue;
          const start = sim.started.find(({ uid }) => uid === `j${i}`)?.start ?? Infinity;
          // Each of those ahead of it starts at the latest when all that run or are reserved have ended.
          expect(start - sim.row(`j${i}`).submittedAt).toBeLessThanOrEqual((i + 2) * LONGEST);
        }
      }),
      { numRuns: progress.numRuns },
    );
  },
  progress.milliseconds,
);

const ends = cases(200);

test(
  'what fits alone starts in the end, and what does not says that it can never start',
  async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const sim = await playScenario(given);
        for (const [i, job] of given.jobs.entries()) {
          const { phase, message } = sim.row(`j${i}`);
          if (await fitsAlone(given, job)) expect(phase).toBe('Finished');
          else
            expect([phase, message]).toEqual([
              'Waiting',
              expect.stringMatching(/can never start: |asks for/),
            ]);
        }
      }),
      { numRuns: ends.numRuns },
    );
  },
  ends.milliseconds,
);
