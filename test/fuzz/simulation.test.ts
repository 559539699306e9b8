/**
 * Seeds of the randomized simulation; most of them found the named bug of the controller. Each day draws other ones, the
 * nightly run has all. `npm run -s fuzz -- --seeds 100 --steps 1000` runs more seeds.
 */
import { drawOf, seedOfToday } from '../seed';
import { simulate } from './simulation';

const SEEDS: readonly (readonly [seed: number, steps: number, why: string])[] = [
  [10, 250, 'two passes ran at once because a read of the snapshot triggered another pass'],
  [7, 300, 'an audit restored a finished workload because it compared changed rows'],
  [35, 320, 'a node was freed early because of the indexes of an earlier assignment'],
  [50, 320, 'two rows with the same unit blocked all scheduling'],
  [5, 300, 'a reservation went to the next workload instead of the one that was passed over'],
  [140, 320, 'an edit just before the release was taken for a suspension by the user'],
  [3, 300, 'the database is restored from a backup'],
  [17, 800, 'an adopted workload got units beyond its node, because a row without a workload held them'],
  [94, 800, 'a job id was given twice, before and after a restore, and an eviction never ended'],
  [318, 320, 'a pass committed grants after a restore that it had decided on before'],
  [8, 300, 'the clock jumps'],
  [5005, 420, 'a later planned end brought back a job that ended while the graph was synchronized'],
  [5111, 850, 'a grant took units of an adopted workload, which Fluxion did not hold'],
  [5274, 470, 'a workload that backed off again under a slower clock had no reason'],
  [5285, 620, 'a workload was requeued before the watch showed the pods that its Job counted'],
  [5475, 480, 'a Job without pods held its nodes'],
  [5002, 150, 'a change of taints removed the reason of a requeue while its workload backed off'],
  [6182, 700, 'a preemptor started before the start of its victim, which a clock that was ahead had written'],
  [5718, 300, 'a grant on a node that had gone during the pass, for a workload newer than its taint'],
  [5515, 300, 'a deleted Job gave its node back before the watch had shown its pod'],
  [5232, 920, 'a deleted gang gave its nodes back before the watch had shown its pods'],
  [5248, 860, 'a deleted Job gave a node back before the watch had shown its pod, with faults'],
  [6425, 920, 'a Job gave its node back before the watch had shown its pod, late in a run'],
  [30275, 700, 'a suspended Job gave a node back while the watch showed its pod before it lost its gate'],
  [21062, 1000, 'a node got a taint while a workload was being submitted, which was granted that node'],
  [21217, 1_050, 'a grant was given back because another node had lost its taint'],
  [
    42114,
    1000,
    'a queue allowed more between a grant and its release, and its user was accused of the change',
  ],
  [51019, 600, 'a node was lost between a pass and its commit, and a later equal workload kept its grant'],
  [20055, 260, 'a new workload took the nodes of lower priority before an equal one with a reservation'],
  [1334009, 300, 'a promise beside pods outside the queue was forgotten where startable work is looked for'],
];

/** How many of them `npm test` runs. */
const DRAWN = 3;

describe('the whole controller on a simulated cluster', () => {
  test.each(drawOf(SEEDS, DRAWN))(
    'keeps all invariants with seed %d and %d steps: %s',
    async (seed, steps) => {
      const { violations, workloads, grants } = await simulate({ seed, steps });
      expect(violations).toEqual([]);
      // The run must do enough work to be a test.
      expect(workloads).toBeGreaterThan(steps / 5);
      expect(grants).toBeGreaterThan(steps / 6);
    },
  );

  test('keeps all invariants with the seed of the day', async () => {
    const seed = 700_000 + seedOfToday();
    const { violations } = await simulate({ seed, steps: 400 });
    expect({ seed, violations }).toEqual({ seed, violations: [] });
  });

  test('shows and holds at once what pods use beyond their grants, and grants it to nobody', async () => {
    expect((await simulate({ seed: 105, steps: 120, enlarge: true })).violations).toEqual([]);
  });

  test('ends no pod before its walltime, however long its image is pulled', async () => {
    for (const seed of [3, 7, 12])
      expect((await simulate({ seed, steps: 200, pulls: true })).violations).toEqual([]);
  });

  test('keeps all invariants on nodes that shrink, take few pods, and have pods that request nothing', async () => {
    expect((await simulate({ seed: 1, steps: 200, nodes: true })).violations).toEqual([]);
  });

  test('gives back each node at the tail of a Job, and no node too early', async () => {
    expect((await simulate({ seed: 205, steps: 200, tails: true })).violations).toEqual([]);
  });

  test('starts again what has run, where Kubernetes keeps its start time', async () => {
    let requeues = 0;
    for (const seed of [3, 5]) {
      const outcome = await simulate({ seed, steps: 200, older: true });
      expect(outcome.violations).toEqual([]);
      requeues += outcome.requeues;
    }
    expect(requeues).toBeGreaterThan(0);
  });

  test('keeps all invariants where queues share quota, and evicts for that', async () => {
    // Each change of the controller changes the course of a seed: one of four preempts at least.
    let preemptions = 0;
    for (const seed of [23, 28, 32, 36]) {
      const outcome = await simulate({ seed, steps: 200, cohorts: true });
      expect(outcome.violations).toEqual([]);
      preemptions += outcome.preemptions;
    }
    expect(preemptions).toBeGreaterThan(0);
  });

  test('repeats the same run with the same seed', async () => {
    const first = await simulate({ seed: 4, steps: 120 });
    expect(await simulate({ seed: 4, steps: 120 })).toEqual(first);
  });
});
