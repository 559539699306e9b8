import { type QueuedJob, queueStatisticsOf } from '../../runtime/simulation/queues';
import { replay } from '../../runtime/simulation/replay';
import type { TraceJob } from '../../runtime/simulation/swf';

const job = (
  queue: string,
  user: string,
  [submittedAt, startedAt, endedAt]: readonly number[],
): QueuedJob => ({
  queue,
  user,
  submittedAt: submittedAt!,
  startedAt: startedAt!,
  endedAt: endedAt!,
  processors: 2,
  delayed: false,
});

test('tells waits by queue and the longest of a user, and the share of the time at which several queues waited', () => {
  const jobs = [
    job('a', 'ada', [0, 0, 100]),
    job('a', 'ada', [0, 100, 200]),
    job('a', 'bob', [0, 200, 300]),
    // From 50 to 100 both queues have a waiting job, and only a runs.
    job('b', 'eve', [50, 100, 200]),
  ];
  expect(queueStatisticsOf(jobs, new Map([['b', 3]]))).toEqual([
    {
      queue: 'a',
      weight: 1,
      jobs: 3,
      users: 2,
      meanWait: 100,
      medianWait: 100,
      waitP90: 200,
      longestMedianOfUser: 200,
      contendedShare: 1,
    },
    {
      queue: 'b',
      weight: 3,
      jobs: 1,
      users: 1,
      meanWait: 50,
      medianWait: 50,
      waitP90: 50,
      longestMedianOfUser: 50,
      contendedShare: 0,
    },
  ]);
});

test('nobody shares what nobody else waits for', () => {
  const [first, second] = queueStatisticsOf([job('10', 'x', [0, 0, 9]), job('9', 'x', [0, 5, 9])]);
  expect([first!.queue, first!.contendedShare, second!.queue]).toEqual(['9', 0, '10']);
  expect(first).not.toHaveProperty('weight');
});

/** Two queues, each of which could fill the machine, with jobs of one core. */
function crowded(users: readonly string[]): readonly TraceJob[] {
  return Array.from({ length: 400 }, (_, i) => ({
    number: i + 1,
    // All of the first queue is submitted first: without fair share it goes first.
    submittedAt: i < 200 ? 0 : 1,
    runtime: 60,
    processors: 1,
    walltime: 60,
    user: users[i % users.length]!,
    queue: i < 200 ? 'first' : 'second',
  }));
}

const MACHINE = { nodes: 2, coresPerNode: 4, policy: 'easy', halfLife: 600 } as const;

test.each([
  [new Map<string, number>(), 0.5],
  [new Map([['second', 3]]), 0.75],
  [new Map([['first', 3]]), 0.25],
])('while both queues wait, the second gets what its weight says: %j', async (weights, share) => {
  const { jobs } = await replay(crowded(['ada']), { ...MACHINE, weights });
  const [, second] = queueStatisticsOf(jobs, weights);
  expect(second!.contendedShare).toBeCloseTo(share, 1);
});

test('without fair share the queue that was first keeps the other waiting', async () => {
  const [, second] = queueStatisticsOf((await replay(crowded(['ada']), MACHINE)).jobs);
  // What is reserved for the head of the second queue.
  expect(second!.contendedShare).toBeLessThan(0.15);
});

test('users of one queue share it alike', async () => {
  const trace = crowded(['ada', 'ada', 'ada', 'bob']);
  const longest = async (weights?: ReadonlyMap<string, number>) => {
    const { jobs } = await replay(trace, { ...MACHINE, ...(weights && { weights }) });
    const waits = jobs.filter(({ user }) => user === 'bob').map((each) => each.startedAt - each.submittedAt);
    return Math.max(...waits);
  };
  expect(await longest(new Map())).toBeLessThan((await longest()) * 0.75);
});
