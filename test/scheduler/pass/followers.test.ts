/** Workloads behind the head of a fcfs queue: others leave for them while they leave for the head, and none of them passes it. */
import { QUEUE_POLICIES } from '../../../constructs/api/policies';
import { Random } from '../../fuzz/random';
import { nodesOf, Simulation } from './simulation';
import { arrivalsAfter, twoOwners } from './two-owners';

/** Plays until nothing waits. @returns the second of each start and eviction, by uid */
async function play(
  sim: Simulation,
  grace: number,
): Promise<{
  readonly starts: ReadonlyMap<string, number>;
  readonly evictions: ReadonlyMap<string, number>;
}> {
  const begin = sim.now;
  const [starts, evictions] = [new Map<string, number>(), new Map<string, number>()];
  const gone = new Map<string, number>();
  for (let second = 0; second < 600; second++) {
    const left = [...gone].filter(([, at]) => at <= sim.now).map(([uid]) => uid);
    for (const uid of left) {
      await sim.requeue(uid);
      gone.delete(uid);
    }
    const result = await sim.pass({ freed: left.length > 0 });
    for (const { uid } of result.grants) starts.set(uid, sim.now - begin);
    for (const { uid } of result.evictions) {
      evictions.set(uid, sim.now - begin);
      gone.set(uid, sim.now + grace);
    }
    sim.now += 1;
  }
  return { starts, evictions };
}

const times = (found: ReadonlyMap<string, number>, name: string) =>
  [...found].filter(([uid]) => uid.startsWith(name)).map(([, at]) => at);

/** Grace periods: with the longer ones not even the head starts soon. */
const GRACES = [30, 60, 300];

test.each(GRACES)('own quota comes back to all that wait within one grace period of %i s', async (grace) => {
  const sim = await Simulation.of(nodesOf(1, 16));
  sim.queue('owner', { policy: 'fcfs', cohort: 'lab', quota: { cores: 8 }, reclaim: true });
  sim.queue('guest', { cohort: 'lab', quota: { cores: 8 } });
  const pod = { terminationGracePeriodSeconds: grace };
  for (let i = 0; i < 8; i++) sim.submit(`guest${i}`, { queue: 'guest', cpu: 2, walltime: 3_000, pod });
  await sim.pass();
  // Two of one core take what one of two leaves.
  sim.submit('own-wide', { queue: 'owner', cpu: 4, walltime: 3_600 });
  for (let i = 0; i < 5; i++) sim.submit(`own${i}`, { queue: 'owner', cpu: 1, walltime: 3_600 });
  const { starts, evictions } = await play(sim, grace);
  expect(times(evictions, 'guest')).toEqual([0, 0, 0, 0]);
  expect(times(starts, 'own')).toEqual(Array.from({ length: 5 }, () => grace));
});

test.each(['quota', 'nodes'].flatMap((room) => GRACES.map((grace) => [room, grace] as const)))(
  'lower priorities leave for all that wait, for %s, within %i s',
  async (room, grace) => {
    const sim = await Simulation.of(nodesOf(2, room === 'quota' ? 16 : 4));
    sim.queue('default', {
      policy: 'fcfs',
      preempts: true,
      preemption: { minRuntimeSeconds: 0, limit: 100 },
      ...(room === 'quota' && { quota: { cores: 8 } }),
    });
    const pod = { terminationGracePeriodSeconds: grace };
    for (let i = 0; i < 8; i++)
      sim.submit(`low${i}`, { cpu: 1, walltime: 3_000, priority: -10, preemptible: true, pod });
    await sim.pass();
    for (let i = 0; i < 3; i++) sim.submit(`high${i}`, { cpu: 2, walltime: 3_600, priority: 10 });
    const { starts, evictions } = await play(sim, grace);
    expect(times(evictions, 'low')).toEqual(Array.from({ length: 6 }, () => 0));
    expect(times(starts, 'high')).toEqual([grace, grace, grace]);
  },
);

/** Ends of `low` ones, which leave early or late within their grace period, and widths of those that come, as two trials had them. */
test.each<[readonly number[], number]>([
  [[4, 8, 2, 4, 1, 4, 2], 20],
  [[2, 8, 4, 1, 8, 2, 1, 4], 20],
  [[4, 8, 2, 4, 1, 4, 2], 60],
  [[2, 2, 2, 2, 4, 4, 1, 1], 5],
])(
  'all of %j are promised and start in their order, with victims that leave after up to %d s',
  async (widths, most) => {
    const sim = await Simulation.of(nodesOf(4, 4));
    sim.queue('default', {
      policy: 'fcfs',
      preempts: true,
      preemption: { minRuntimeSeconds: 0, limit: 100 },
      quota: { cores: 16 },
    });
    const pod = { terminationGracePeriodSeconds: most };
    for (const [i, pods] of [2, 4, 2, 4, 2, 2].entries())
      sim.submit(`low${i}`, {
        pods,
        cpu: 1,
        walltime: 3_000,
        priority: -10,
        preemptible: true,
        pod,
        leaves: Math.ceil((most * (i + 1)) / 6),
      });
    await sim.pass();
    const promised = new Map<string, number>();
    for (const [i, pods] of widths.entries())
      sim.submit(`high${i}`, { pods, cpu: 1, walltime: 60, runs: 50, priority: 10 });
    await sim.run([], async () => {
      const mine = sim.reservations.filter(({ uid }) => uid.startsWith('high'));
      for (const { uid, allocation } of mine)
        promised.set(uid, Math.min(allocation.start, promised.get(uid) ?? Infinity));
      const waiting = widths.map((_, i) => `high${i}`).filter((uid) => sim.row(uid).phase === 'Waiting');
      const starts = waiting.map((uid) => mine.find((one) => one.uid === uid)?.allocation.start);
      // Nobody is promised a start behind one that has none, or before it.
      const known = starts.slice(0, starts.indexOf(undefined) + 1 || undefined);
      expect(starts.filter((start) => start !== undefined)).toEqual(
        known.filter((start) => start !== undefined),
      );
      expect(known).toEqual(known.toSorted((a, b) => (a ?? Infinity) - (b ?? Infinity)));
    });
    const started = new Map(sim.started.map(({ uid, start }) => [uid, start]));
    const order = widths.map((_, i) => started.get(`high${i}`)!);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    for (const [uid, start] of promised) expect(started.get(uid)!).toBeLessThanOrEqual(start);
  },
);

/** Borrowers have to leave for a gang and for what is before and behind it, and those that leave for one of them are on the nodes of others. */
test.each(QUEUE_POLICIES.flatMap((policy) => [...Array(12).keys()].map((seed) => [policy, seed] as const)))(
  'own quota comes back to each workload of a %s queue within one grace period of its arrival, seed %i',
  async (policy, seed) => {
    const sim = await Simulation.of(nodesOf(2, 16));
    sim.queue('owner', { policy, cohort: 'lab', quota: { cores: 16 }, reclaim: true });
    sim.queue('other', { cohort: 'lab', quota: { cores: 8 }, reclaim: true });
    sim.queue('guest', { cohort: 'lab', quota: { cores: 8 } });
    const pod = { terminationGracePeriodSeconds: 60 };
    for (let i = 0; i < 18; i++)
      sim.submit(`guest${i}`, { queue: 'guest', cpu: 2, walltime: 3_600, pod, leaves: i % 2 === 0 ? 55 : 8 });
    await sim.pass();
    const random = new Random(seed);
    const arrivals = ['a', 'b', 'c', 'gang', 'd', ...'efghij'].map((uid) => {
      const size = uid === 'gang' ? { cpu: 6, pods: 2, walltime: 360 } : { cpu: 1, walltime: 240 };
      return { uid, size };
    });
    let at = sim.now + 30;
    await sim.run(
      arrivals.map(({ uid, size }) => {
        at += Math.floor(random.next() * 3);
        return { at, submit: () => void sim.submit(uid, { queue: 'owner', ...size }) };
      }),
    );
    // The others of its queue are beyond its own quota.
    for (const uid of ['a', 'b', 'c', 'gang', 'd'])
      expect(sim.startOf(uid) - sim.row(uid).submittedAt).toBeLessThanOrEqual(60);
  },
);

/** The head starts earlier than promised where those that leave for it leave early: that is nobody's loss. */
test.each([...Array(12).keys()])(
  'two fcfs queues get own quota back at once, each in its order and as promised, seed %i',
  async (seed) => {
    const sim = await twoOwners('fcfs');
    await sim.pass();
    const arrivals = arrivalsAfter(sim.now, new Random(seed));
    const coming = arrivals.map(({ at, uid, job }) => ({ at, submit: () => void sim.submit(uid, job) }));
    const promised = new Map<string, number>();
    await sim.run(coming, async () => {
      for (const { uid, allocation } of sim.reservations)
        promised.set(uid, Math.min(allocation.start, promised.get(uid) ?? Infinity));
    });
    for (const queue of ['x', 'y']) {
      const own = arrivals.filter(({ uid }) => uid.startsWith(queue));
      const starts = own.map(({ uid }) => sim.startOf(uid));
      expect(starts).toEqual(starts.toSorted((a, b) => a - b));
      for (const { uid } of own) expect(sim.startOf(uid)).toBeLessThanOrEqual(promised.get(uid) ?? Infinity);
    }
  },
);
