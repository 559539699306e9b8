/** The order in which workloads are tried behind the promised starts of a queue. */
import type { QueueSettings } from '../../../runtime/queue/settings';
import fc from '../../fast-check';
import type { JobOptions } from './job-options';
import { granted, nodesOf, reserved, Simulation } from './simulation';
import { trace } from './traces';

const BY_AREA = { backfillOrder: 'shortestArea' } satisfies Partial<QueueSettings>;
const HOUR = 3_600;

/** Four cores, of which two are free until the first in line starts at 2000. */
async function halfFree(queue: Partial<QueueSettings> = BY_AREA): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(1, 4));
  sim.queue('default', queue);
  sim.submit('running', { cpu: 2, walltime: 1_000 });
  await sim.pass();
  sim.submit('wide', { cpu: 4 });
  await sim.pass();
  return sim;
}

async function backfilled(
  jobs: Readonly<Record<string, JobOptions>>,
  queue?: Partial<QueueSettings>,
): Promise<readonly string[]> {
  const sim = await halfFree(queue);
  for (const [uid, job] of Object.entries(jobs)) sim.submit(uid, job);
  return granted(await sim.pass());
}

const LONG_AND_SHORT = { long: { cpu: 2, walltime: 900 }, short: { cpu: 2, walltime: 100 } };

test('starts the smallest area first behind the promised start', async () => {
  expect(await backfilled(LONG_AND_SHORT)).toEqual(['short']);
  const narrow = {
    wide2: { cpu: 2, walltime: 300 },
    narrow: { cpu: 1, walltime: 500 },
    other: { cpu: 1, walltime: 550 },
  };
  expect(await backfilled(narrow)).toEqual(['narrow', 'other']);
});

test('starts the first in line first without it', async () => {
  expect(await backfilled(LONG_AND_SHORT, {})).toEqual(['long']);
});

test('starts a higher priority first, whatever its area', async () => {
  expect(await backfilled({ ...LONG_AND_SHORT, long: { cpu: 2, walltime: 900, priority: 1 } })).toEqual([
    'long',
  ]);
});

test('starts what has waited too long in the order of the line', async () => {
  const queue = { ...BY_AREA, backfillMaxWaitSeconds: HOUR };
  const old = { ...LONG_AND_SHORT.long, submittedAt: 1_000 - HOUR };
  const sim = await halfFree(queue);
  sim.submit('long', { ...old, submittedAt: 1_001 - HOUR });
  sim.submit('short', LONG_AND_SHORT.short);
  sim.change('wide', { submittedAt: 900 - HOUR });
  expect(granted(await sim.pass())).toEqual(['short']);
  const later = await halfFree(queue);
  later.submit('long', old);
  later.submit('short', LONG_AND_SHORT.short);
  later.change('wide', { submittedAt: 900 - HOUR });
  expect(granted(await later.pass())).toEqual(['long']);
});

test('gives the promise to the first in line, and to nobody because it is small', async () => {
  const sim = await Simulation.of(nodesOf(1, 4));
  sim.queue('default', BY_AREA);
  sim.submit('running', { cpu: 4, walltime: 1_000 });
  await sim.pass();
  sim.submit('long', { cpu: 4, walltime: 900 });
  sim.submit('short', { cpu: 4, walltime: 10 });
  expect(reserved(await sim.pass())).toEqual(['long']);
});

test('takes no place of another queue', async () => {
  const jobs = { other: { cpu: 2, walltime: 900, queue: 'other' }, ...LONG_AND_SHORT };
  expect(await backfilled(jobs)).toEqual(['other']);
});

test('a queue of a cohort in which one reclaims keeps the order of the line', async () => {
  const cohort = { cohort: 'lab', quota: { cores: 4 } };
  const sim = await halfFree({ ...BY_AREA, ...cohort });
  sim.queue('owner', { ...cohort, reclaim: true });
  for (const [uid, job] of Object.entries(LONG_AND_SHORT)) sim.submit(uid, job);
  expect(granted(await sim.pass())).toEqual(['long']);
});

test('whatever the order, every workload starts, promises are kept, and nothing waits that fits', async () => {
  let reordered = 0;
  // Of short lines, few are ever put in another order.
  const long = fc.tuple(trace, trace, trace).map((parts) => parts.flat());
  await fc.assert(
    fc.asyncProperty(
      long,
      fc.constantFrom('easy', 'hybrid'),
      fc.integer({ min: 1, max: 3 }),
      async (jobs, policy, queues) => {
        const run = async (over: Partial<QueueSettings>) => {
          const sim = await Simulation.of(nodesOf(4, 4), { policy: policy as 'easy' });
          for (let i = 0; i < queues; i++) sim.queue(`q${i}`, { policy: policy as 'easy', ...over });
          let at = sim.now;
          const arrivals = jobs.map(({ gap, ...job }, i) => {
            at += Math.floor(gap / 10);
            return { at, submit: () => void sim.submit(`j${i}`, { ...job, queue: `q${i % queues}` }) };
          });
          await sim.run(arrivals, async () => {
            for (const { jobspec, phase } of sim.rows.values()) {
              if (phase !== 'Waiting' || jobspec.attributes.user?.podSets !== undefined) continue;
              const ask = {
                jobid: 1_000_000,
                jobspec,
                operation: 'without_allocating',
                now: sim.now,
              } as const;
              expect(await sim.fluxion.match(ask)).toMatchObject({ status: 'BUSY' });
            }
          });
          return sim;
        };
        const sim = await run({ ...BY_AREA, backfillMaxWaitSeconds: 60 });
        expect(sim.started).toHaveLength(jobs.length);
        expect(sim.doubleGrants()).toEqual([]);
        for (const given of sim.estimates.values()) expect(given).toEqual([...given].sort((a, b) => b - a));
        const usual = await run({});
        if (jobs.some((_, i) => usual.startOf(`j${i}`) !== sim.startOf(`j${i}`))) reordered += 1;
      },
    ),
    { numRuns: 40 },
  );
  expect(reordered).toBeGreaterThan(0);
});
