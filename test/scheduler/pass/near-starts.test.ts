/** A start that is near without an eviction is that of one workload: the next ones may not count on what ends for it. */
import { nodesOf, Simulation } from './simulation';

const PREEMPTS = { preempts: true, preemption: { minRuntimeSeconds: 0, limit: 100 } };

/**
 * A workload of one core and 12 s comes every three seconds, with a walltime that ends before evicted pods would be gone.
 * @returns for how many seconds each of them has waited
 */
async function stream(sim: Simulation, queue: string, priority: number): Promise<readonly number[]> {
  const ends = new Map<string, number>();
  const came = new Map<string, number>();
  const waits: number[] = [];
  for (let second = 0; second < 120; second++) {
    sim.now += 1;
    if (second % 3 === 0 && second < 60) {
      const uid = `short${second}`;
      sim.submit(uid, { queue, cpu: 1, walltime: 20, priority });
      came.set(uid, sim.now);
    }
    const over = [...ends].filter(([, at]) => at <= sim.now).map(([uid]) => uid);
    for (const uid of over) {
      await sim.finish(uid);
      ends.delete(uid);
    }
    const { grants } = await sim.pass({ freed: over.length > 0 });
    for (const { uid } of grants) {
      if (!came.has(uid)) continue;
      waits.push(sim.now - came.get(uid)!);
      ends.set(uid, sim.now + 12);
    }
    const leaving = [...sim.rows.values()].filter(({ evictionReason }) => evictionReason !== null);
    for (const { uid } of leaving) await sim.requeue(uid);
  }
  return waits;
}

test.each(['easy', 'hybrid', 'conservative'] as const)(
  'a stream of short workloads gets own quota back, %s',
  async (policy) => {
    const sim = await Simulation.of(nodesOf(1, 16));
    sim.queue('owner', { policy, cohort: 'lab', quota: { cores: 8 }, reclaim: true });
    sim.queue('guest', { cohort: 'lab', quota: { cores: 2 } });
    for (let i = 0; i < 12; i++) sim.submit(`guest${i}`, { queue: 'guest', cpu: 1, walltime: 3_000 });
    await sim.pass();
    const waits = await stream(sim, 'owner', 0);
    expect(waits).toHaveLength(20);
    // A promise of its own may be that of a later end: nobody leaves for what starts soon.
    expect(Math.max(...waits)).toBeLessThanOrEqual(policy === 'easy' ? 24 : 30);
  },
);

test.each(['quota', 'nodes'] as const)('a stream of short workloads preempts for %s', async (room) => {
  const sim = await Simulation.of(nodesOf(1, room === 'quota' ? 16 : 8));
  sim.queue('default', { ...PREEMPTS, ...(room === 'quota' && { quota: { cores: 8 } }) });
  for (let i = 0; i < 8; i++)
    sim.submit(`low${i}`, { cpu: 1, walltime: 3_000, priority: -10, preemptible: true });
  await sim.pass();
  const waits = await stream(sim, 'default', 10);
  expect(waits).toHaveLength(20);
  expect(Math.max(...waits)).toBeLessThanOrEqual(24);
});

test.each(['quota', 'nodes'])('nobody leaves for those for which enough %s is free soon', async (room) => {
  const sim = await Simulation.of(nodesOf(1, room === 'quota' ? 16 : 8));
  sim.queue('default', { ...PREEMPTS, ...(room === 'quota' && { quota: { cores: 8 } }) });
  for (let i = 0; i < 3; i++) sim.submit(`ends${i}`, { cpu: 1, walltime: 30, priority: 10 });
  for (let i = 0; i < 5; i++)
    sim.submit(`low${i}`, { cpu: 1, walltime: 3_000, priority: -10, preemptible: true });
  await sim.pass();
  for (let i = 0; i < 3; i++) sim.submit(`next${i}`, { cpu: 1, walltime: 600, priority: 10 });
  expect((await sim.pass()).evictions).toEqual([]);
  sim.submit('more', { cpu: 1, walltime: 600, priority: 10 });
  expect((await sim.pass()).evictions).toHaveLength(1);
});

/** Own quota of eight cores, of which others with a long grace period have borrowed seven, and one own workload runs until `ends`. */
async function slowVictims(ends: number): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(1, 16));
  sim.queue('owner', { cohort: 'lab', quota: { cores: 8 }, reclaim: true });
  sim.queue('guest', { cohort: 'lab', quota: { cores: 8 } });
  sim.submit('own', { queue: 'owner', cpu: 1, walltime: ends });
  const pod = { terminationGracePeriodSeconds: 120 };
  for (let i = 0; i < 15; i++) sim.submit(`guest${i}`, { queue: 'guest', cpu: 1, walltime: 3_000, pod });
  await sim.pass();
  return sim;
}

test('nobody with a long grace period leaves for a workload that starts sooner by itself', async () => {
  const sim = await slowVictims(100);
  sim.submit('next', { queue: 'owner', cpu: 1, walltime: 30 });
  expect((await sim.pass()).evictions).toEqual([]);
  // The one behind it would start after it, at 130, and those that leave are gone at 135.
  sim.submit('second', { queue: 'owner', cpu: 1, walltime: 30 });
  expect((await sim.pass()).evictions).toEqual([]);
  sim.submit('third', { queue: 'owner', cpu: 1, walltime: 30 });
  expect((await sim.pass()).evictions).toHaveLength(1);
});

test('somebody with a long grace period leaves where nothing ends before', async () => {
  const sim = await slowVictims(1_000);
  sim.submit('next', { queue: 'owner', cpu: 1, walltime: 30 });
  expect((await sim.pass()).evictions).toHaveLength(1);
});

test('equal workloads start in their order where others leave for a later one', async () => {
  const sim = await Simulation.of(nodesOf(2, 8));
  for (const name of ['owner', 'guest'])
    sim.queue(name, { cohort: 'lab', quota: { cores: 6 }, reclaim: true });
  const pod = { terminationGracePeriodSeconds: 10 };
  for (let i = 0; i < 3; i++) sim.submit(`guest${i}`, { queue: 'guest', cpu: 3, walltime: 300, pod });
  sim.submit('runs', { queue: 'owner', cpu: 3, walltime: 40 });
  await sim.pass();
  sim.submit('waits', { queue: 'guest', cpu: 3, walltime: 300, pod });
  await sim.pass();
  const own = { queue: 'owner', cpu: 3, walltime: 40 };
  // What it has a right to ends soon, so nobody leaves; and who plans to borrow it starts later.
  sim.submit('first', own);
  await sim.pass();
  const startOf = (uid: string) => sim.reservations.find((one) => one.uid === uid)?.allocation.start;
  expect([sim.evicted, startOf('first'), startOf('waits')]).toEqual([[], sim.now + 40, sim.now + 80]);
  sim.now += 4;
  sim.submit('second', own);
  await sim.pass();
  await sim.pass();
  expect(sim.evicted.map(({ message }) => message)).toEqual([
    'returns quota that it borrowed from queue owner to science/first',
  ]);
  expect([startOf('first'), startOf('second')]).toEqual([sim.now + 25, sim.now + 36]);
});
