/** Properties of every trace: random workloads with random runtimes on the embedded matcher. */

import { QUEUE_POLICIES, type QueuePolicy } from '../../../constructs/api/policies';
import { setsOf } from '../../../runtime/jobspec/pod-sets';
import type { Jobspec } from '../../../runtime/jobspec/types';
import { ENDLESS_SECONDS } from '../../../runtime/resources/endless';
import { parseIdset } from '../../../runtime/resources/idset';
import type { Allocation } from '../../../runtime/resources/types';
import { plannedEnd } from '../../../runtime/scheduler/pass/planned-end';
import { placementOf } from '../../../runtime/workloads/assignment';
import fc from '../../fast-check';
import { asJudged } from './as-judged';
import type { Simulation } from './simulation';
import { messyTrace, play, trace } from './traces';

const policies = fc.constantFrom(...QUEUE_POLICIES);
const backfills = fc.constantFrom<QueuePolicy>('easy', 'conservative', 'hybrid');
const matches = fc.constantFrom('first' as const, 'lonode' as const);
const runs = { numRuns: 60 };

test('I1: no two workloads hold a unit at once, and every workload starts once with all of its pods', async () => {
  await fc.assert(
    fc.asyncProperty(messyTrace, policies, matches, async (jobs, policy, match) => {
      const sim = await play(jobs, policy, match);
      expect(sim.doubleGrants()).toEqual([]);
      expect(sim.started.map(({ uid }) => uid).sort()).toEqual(jobs.map((_, i) => `j${i}`).sort());
      for (const { uid, allocation } of sim.started) {
        const { jobspec, pods: wanted } = sim.row(uid);
        const placed = placementOf({ allocation, jobspec }).reduce((total, { pods }) => total + pods, 0);
        expect(placed).toBe(wanted);
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

/** What Fluxion says of a start now; of a gang it is asked pod set by pod set, in the order of these and in the opposite one. */
async function statusOf({ fluxion, now }: Simulation, jobspec: Jobspec): Promise<string> {
  const sets = setsOf(jobspec);
  const request = { jobid: 1_000_000, now } as const;
  if (sets.length === 1)
    return (await fluxion.match({ ...request, jobspec, operation: 'without_allocating' })).status;
  for (const order of [sets, sets.toReversed()]) {
    const answers: string[] = [];
    for (const [i, set] of order.entries()) {
      const asked = { now, jobid: request.jobid + i, jobspec: set, operation: 'allocate' } as const;
      answers.push((await fluxion.match(asked)).status);
    }
    for (const i of order.keys()) await fluxion.cancel(request.jobid + i);
    if (answers.every((status) => status === 'OK')) return 'OK';
  }
  return 'BUSY';
}

test('backfill leaves nothing waiting that could start: Fluxion would refuse every request that was not made', async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(trace, messyTrace), backfills, matches, async (jobs, policy, match) => {
      await play(jobs, policy, match, async (sim) => {
        for (const row of sim.rows.values()) {
          // A pass that ends early is followed by one that decides the rest.
          if (row.phase === 'Waiting' && sim.isSettled) {
            refused += 1;
            expect(await statusOf(sim, asJudged(sim, row).jobspec)).toBe('BUSY');
          }
        }
      });
    }),
    runs,
  );
  expect(refused).toBeGreaterThan(0);
});

test('I5: with services and overruns, only a prediction that was reached moves a reservation later', async () => {
  let moved = 0;
  let kept = 0;
  await fc.assert(
    fc.asyncProperty(messyTrace, backfills, matches, async (jobs, policy, match) => {
      let before = { now: 0, starts: new Map<string, number>(), ends: new Map<string, number>() };
      await play(jobs, policy, match, async (sim) => {
        const holders = [...sim.rows.values()].filter(({ phase }) => phase === 'Running');
        const reached = holders.some(({ uid }) => (before.ends.get(uid) ?? Infinity) <= sim.now);
        const starts = new Map(sim.reservations.map(({ uid, allocation }) => [uid, allocation.start]));
        for (const [uid, start] of before.starts) {
          const isLater = sim.row(uid).phase === 'Waiting' && (starts.get(uid) ?? Infinity) > start;
          if (isLater) {
            moved += 1;
            expect({ uid, reached }).toEqual({ uid, reached: true });
          } else kept += 1;
        }
        const ends = new Map(
          holders.map(({ uid, allocation }) => [uid, plannedEnd(allocation!.end, sim.now)]),
        );
        before = { now: sim.now, starts, ends };
      });
    }),
    runs,
  );
  expect(moved).toBeGreaterThan(0);
  expect(kept).toBeGreaterThan(0);
});

test('I5: nothing starts on units that are reserved for a time before its planned end', async () => {
  await fc.assert(
    fc.asyncProperty(messyTrace, backfills, matches, async (jobs, policy, match) => {
      await play(jobs, policy, match, async (sim) => {
        const started = sim.running().filter(({ start }) => start === sim.now);
        const clashes = started.flatMap(({ allocation }) =>
          sim.reservations.flatMap((other) => sharedUnits(allocation, other.allocation)),
        );
        expect(clashes).toEqual([]);
      });
    }),
    runs,
  );
});

test('no reservation is behind a service', async () => {
  await fc.assert(
    fc.asyncProperty(messyTrace, backfills, async (jobs, policy) => {
      const sim = await play(jobs, policy, 'lonode', async (running) => {
        for (const { allocation } of running.reservations)
          expect(allocation.start - running.now).toBeLessThan(ENDLESS_SECONDS / 2);
      });
      expect(sim.doubleGrants()).toEqual([]);
    }),
    runs,
  );
});

/** Units that `a` still holds when `b` begins. */
function sharedUnits(a: Allocation, b: Allocation): string[] {
  if (b.start >= a.end) return [];
  const units = ({ nodes }: Allocation) =>
    nodes.flatMap((node) =>
      Object.entries(node.units).flatMap(([type, ids]) =>
        parseIdset(ids).map((id) => `${node.name}/${type}${id}`),
      ),
    );
  const others = new Set(units(b));
  return units(a).filter((unit) => others.has(unit));
}
