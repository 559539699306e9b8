/** Who is promised what its queue would borrow gives way to the owner of the quota, if that takes it back. */
import { granted, nodesOf, Simulation } from './simulation';

describe('a promise to borrow', () => {
  const cohort = 'lab';

  /** `guest` has borrowed all of the cohort until 1100, and has a promise for then. */
  async function borrowing(): Promise<Simulation> {
    const sim = await Simulation.of(nodesOf(8, 1));
    sim.queue('guest', { cohort, quota: { cores: 2 } });
    sim.queue('owner', { cohort, quota: { cores: 6 }, reclaim: true });
    sim.submit('idle', { queue: 'owner', held: true });
    sim.submit('runs', { queue: 'guest', kind: 'Pod', cpu: 1, pods: 8, walltime: 100 });
    await sim.pass();
    sim.submit('promised', { queue: 'guest', pods: 8, walltime: 100 });
    await sim.pass();
    expect(sim.row('promised').estimatedStart).toBe(1_100);
    return sim;
  }

  /** The owner comes, and what runs ends when the promised start has come. @returns who starts then */
  async function startsThen(sim: Simulation): Promise<readonly string[]> {
    for (const uid of ['owner0', 'owner1']) sim.submit(uid, { queue: 'owner', pods: 3, walltime: 1_000 });
    await sim.pass();
    sim.now = 1_100;
    await sim.finish('runs');
    const { evictions } = await sim.pass();
    expect(evictions).toEqual([]);
    return sim.started.filter(({ start }) => start === sim.now).map(({ uid }) => uid);
  }

  test('is kept as long as the owner of the quota does not need it', async () => {
    const sim = await borrowing();
    expect(await startsThen(sim)).toEqual(['owner0', 'owner1']);
    expect(sim.row('promised').estimatedStart).toBe(2_100);
  });

  test('is kept from an owner that does not reclaim', async () => {
    const sim = await borrowing();
    sim.queue('owner', { cohort, quota: { cores: 7 } });
    expect(await startsThen(sim)).toEqual(['promised']);
  });

  test.each([0, 1])('leaves no own quota of a queue that reclaims idle, priority %i', async (priority) => {
    const sim = await Simulation.of(nodesOf(4, 1));
    sim.queue('owner', { cohort, quota: { cores: 2 }, reclaim: true });
    sim.queue('guest', { cohort, quota: { cores: 0 } });
    sim.submit('runs', { queue: 'owner', cpu: 1, walltime: 72_000 });
    await sim.pass();
    sim.submit('promised', { queue: 'guest', cpu: 1, pods: 2, priority, walltime: 72_000 });
    await sim.pass();
    expect(sim.row('promised').estimatedStart).toBe(73_000);
    sim.submit('own', { queue: 'owner', cpu: 1, walltime: 80_000 });
    expect(granted(await sim.pass())).toEqual(['own']);
    expect(sim.row('promised').estimatedStart).toBe(81_000);
  });

  test('gives way to what the owner can start later', async () => {
    const sim = await Simulation.of(nodesOf(2, 1));
    sim.queue('owner', { cohort, quota: { cores: 2 }, reclaim: true });
    sim.queue('guest', { cohort, quota: { cores: 0 } });
    sim.submit('runs', { queue: 'owner', cpu: 1, walltime: 100 });
    sim.submit('elsewhere', { queue: 'other', cpu: 1, walltime: 500 });
    await sim.pass();
    sim.submit('promised', { queue: 'guest', cpu: 1, pods: 2, walltime: 100 });
    await sim.pass();
    sim.submit('own', { queue: 'owner', cpu: 1, walltime: 600 });
    await sim.pass();
    expect(sim.row('own').estimatedStart).toBe(1_100);
    // The one promise of the cohort is the owner's now.
    expect(sim.row('promised').estimatedStart).toBeNull();
    sim.now = 1_050;
    await sim.finish('runs');
    expect(granted(await sim.pass({ freed: true }))).toEqual(['own']);
    expect(sim.row('promised').estimatedStart).toBe(1_650);
  });

  test('gives way on nodes as well, where quota is enough for both', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    sim.queue('owner', { cohort, quota: { cores: 8 }, reclaim: true });
    sim.queue('guest', { cohort, quota: { cores: 4 } });
    sim.submit('runs', { queue: 'owner', cpu: 4, walltime: 500 });
    await sim.pass();
    sim.submit('promised', { queue: 'guest', cpu: 4, pods: 2, walltime: 500 });
    await sim.pass();
    sim.submit('own', { queue: 'owner', cpu: 4, walltime: 3_600 });
    expect(granted(await sim.pass())).toEqual(['own']);
    expect(sim.row('promised').estimatedStart).toBe(4_600);
  });

  test('is kept if others have left early for it', async () => {
    const sim = await Simulation.of(nodesOf(2, 4));
    sim.queue('owner', { cohort, quota: { cores: 8 }, reclaim: true });
    sim.queue('guest', { cohort, quota: { cores: 4 }, preempts: true });
    sim.submit('owner', { queue: 'owner', cpu: 4, walltime: 3_600, preemptible: true });
    sim.submit('ends', { queue: 'other', cpu: 4, walltime: 330 });
    await sim.pass();
    sim.now += 300;
    sim.submit('promised', { queue: 'guest', cpu: 4, pods: 2, priority: 1, walltime: 500 });
    expect((await sim.pass()).evictions.map(({ uid }) => uid)).toEqual(['owner']);
    sim.now += 2;
    await sim.requeue('owner');
    for (let i = 0; i < 2; i++) expect(granted(await sim.pass({ freed: true }))).toEqual([]);
    expect(sim.row('promised').estimatedStart).toBe(1_330);
  });
});

describe.each(['easy', 'hybrid', 'conservative'] as const)(
  'in a queue that lends or borrows, %s',
  (policy) => {
    test('later workloads of its own queue do not delay the first in line', async () => {
      const lab = { policy, cohort: 'lab', reclaim: true, reservations: 2 };
      const sim = await Simulation.of(nodesOf(8, 1), { policy });
      sim.queue('a', { ...lab, quota: { cores: 4 } });
      sim.queue('b', { ...lab, quota: { cores: 3 } });
      for (let i = 0; i < 4; i++) sim.submit(`r${i}`, { queue: 'a', walltime: 300, runs: 30 * (i + 1) });
      sim.submit('q0', { queue: 'b', pods: 3, walltime: 60, runs: 50 });
      await sim.pass();
      const small = { queue: 'a', walltime: 300, runs: 120 };
      const arrivals = [
        { at: 1_003, submit: () => void sim.submit('wide', { queue: 'a', pods: 3, walltime: 70 }) },
        ...Array.from({ length: 10 }, (_, i) => ({
          at: 1_005,
          submit: () => {
            sim.submit(`s${i}`, small);
            sim.submit(`q${i + 1}`, { queue: 'b', pods: 3, walltime: 60, runs: 50 });
          },
        })),
      ];
      await sim.run(arrivals);
      // What it would borrow, b takes again and again; its own quota is free from then on.
      expect(Math.max(...sim.estimates.get('wide')!)).toBeLessThanOrEqual(1_300);
      expect(sim.startOf('wide')).toBeLessThanOrEqual(1_120);
    });
  },
);

test('own quota that is kept for the first in line keeps nobody from borrowing', async () => {
  const sim = await Simulation.of(nodesOf(3, 4));
  const lab = { cohort: 'lab', reclaim: true };
  sim.queue('a', { ...lab, quota: { cores: 4 } });
  sim.queue('idle', { ...lab, quota: { cores: 16 } });
  for (const uid of ['r0', 'r1', 'r2']) sim.submit(uid, { queue: 'a', cpu: 3, walltime: 72_000 });
  await sim.pass();
  sim.submit('wide', { queue: 'a', cpu: 4, walltime: 100 });
  sim.submit('small', { queue: 'a', cpu: 1, walltime: 80_000 });
  expect(granted(await sim.pass())).toEqual(['small']);
});
