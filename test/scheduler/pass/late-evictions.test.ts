/** A workload that has a promise evicts when something that ends, or another setting, makes an eviction possible. */
import { nodesOf, Simulation } from './simulation';

const HOURS = 72_000;
const PREEMPTS = { preempts: true, preemption: { minRuntimeSeconds: 5, limit: 1 } };

/** `wide` waits with a promise far away: it is behind `first` and `other`. Then `first` ends. */
async function lets(sim: Simulation, first: string): Promise<readonly string[]> {
  const promised = sim.reservations.find(({ uid }) => uid === 'wide')!.allocation.start;
  expect(promised).toBeGreaterThan(sim.now + HOURS - 1_000);
  sim.now += 20;
  await sim.finish(first);
  return (await sim.pass({ freed: true })).evictions.map(({ uid }) => uid);
}

async function owner(reclaim: boolean): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(4, 16));
  sim.queue('owner', { cohort: 'lab', quota: { cores: 8 }, reclaim });
  sim.queue('other', { cohort: 'lab', quota: { cores: 0 } });
  sim.submit('mine', { queue: 'owner', cpu: 4, walltime: HOURS });
  sim.submit('other', { queue: 'other', cpu: 4, walltime: HOURS });
  await sim.pass();
  sim.submit('wide', { queue: 'owner', cpu: 8, walltime: 600 });
  await sim.pass();
  return sim;
}

test('own quota is taken back for it when what its queue ran itself has ended', async () => {
  const sim = await owner(true);
  expect(await lets(sim, 'mine')).toEqual(['other']);
  await sim.requeue('other');
  await sim.pass({ freed: true });
  expect(sim.row('wide')).toMatchObject({ phase: 'Running' });
});

test('own quota is taken back for it when its queue begins to reclaim', async () => {
  const sim = await owner(false);
  expect(await lets(sim, 'mine')).toEqual([]);
  sim.queue('owner', { cohort: 'lab', quota: { cores: 8 }, reclaim: true });
  expect((await sim.pass()).evictions).toMatchObject([{ uid: 'other' }]);
});

test.each(['easy', 'conservative'] as const)(
  'lower priorities leave for it in a full quota, %s',
  async (policy) => {
    const sim = await Simulation.of(nodesOf(4, 16));
    sim.queue('default', { ...PREEMPTS, policy, quota: { cores: 8 } });
    sim.submit('first', { cpu: 4, walltime: HOURS });
    sim.submit('other', { cpu: 4, walltime: HOURS, priority: -1, preemptible: true });
    await sim.pass();
    sim.submit('wide', { cpu: 8, walltime: 600 });
    await sim.pass();
    expect(await lets(sim, 'first')).toEqual(['other']);
  },
);

test('lower priorities leave for it on nodes', async () => {
  const sim = await Simulation.of(nodesOf(2, 16));
  sim.queue('default', PREEMPTS);
  sim.submit('first', { cpu: 16, walltime: HOURS });
  sim.submit('other', { cpu: 16, walltime: HOURS, priority: -1, preemptible: true });
  await sim.pass();
  sim.submit('wide', { cpu: 16, pods: 2, walltime: 600 });
  await sim.pass();
  expect(await lets(sim, 'first')).toEqual(['other']);
});

test('others leave for it when its queue has become the one with the smaller share', async () => {
  const sim = await Simulation.of(nodesOf(4, 16));
  const { preemption } = PREEMPTS;
  const share = {
    cohort: 'lab',
    quota: { cores: 0 },
    fairSharing: 'LessThanInitialShare',
    preemption,
  } as const;
  sim.queue('lender', { cohort: 'lab', quota: { cores: 16 } });
  for (const queue of ['a', 'b']) sim.queue(queue, share);
  for (const uid of ['a1', 'a2']) sim.submit(uid, { queue: 'a', cpu: 4, walltime: HOURS });
  sim.submit('first', { queue: 'b', cpu: 4, walltime: HOURS });
  sim.submit('lender1', { queue: 'lender', cpu: 4, walltime: HOURS });
  await sim.pass();
  sim.submit('wide', { queue: 'b', cpu: 6, walltime: 600 });
  await sim.pass();
  expect(await lets(sim, 'first')).toEqual(['a2']);
});

test.each([3, 4, 12])(
  'those for which nobody can leave use up no tries of those behind them: %i',
  async (count) => {
    const sim = await Simulation.of([
      { name: 'big', units: { core: 16 } },
      { name: 'small', units: { core: 8 } },
    ]);
    sim.queue('default', { ...PREEMPTS, policy: 'conservative' });
    sim.submit('firm', { cpu: 16, walltime: 5 * HOURS });
    await sim.pass();
    sim.submit('first', { cpu: 4, walltime: HOURS });
    sim.submit('other', { cpu: 4, walltime: 2 * HOURS, priority: -1, preemptible: true });
    await sim.pass();
    for (let i = 0; i < count; i++) sim.submit(`in-vain${i}`, { cpu: 12, walltime: 600 });
    sim.submit('wide', { cpu: 8, walltime: 600 });
    await sim.pass();
    expect(await lets(sim, 'first')).toEqual(['other']);
  },
);

test('the time from which on others may be evicted is that of those whose eviction helps', async () => {
  const sim = await Simulation.of(nodesOf(4, 16));
  const quota = { cores: 4 };
  sim.queue('slow', { preempts: true, preemption: { minRuntimeSeconds: 600, limit: 1 }, quota });
  sim.queue('quick', { preempts: true, preemption: { minRuntimeSeconds: 40, limit: 1 }, quota });
  for (const queue of ['slow', 'quick'])
    sim.submit(`low-${queue}`, { queue, cpu: 4, walltime: HOURS, priority: -1, preemptible: true });
  await sim.pass();
  const at = new Date((sim.now + 600) * 1000).toISOString().replace('.000Z', 'Z');
  sim.now += 20;
  sim.submit('high', { queue: 'slow', cpu: 4, walltime: 600 });
  expect(await sim.pass()).toMatchObject({ evictions: [] });
  expect(sim.row('high').message).toContain(`others may be evicted for it from ${at} on`);
});

test('what it lacks is told anew when the quota changes', async () => {
  const sim = await Simulation.of(nodesOf(4, 16));
  sim.queue('default', { quota: { cores: 16 } });
  sim.submit('runs', { cpu: 12, walltime: HOURS });
  await sim.pass();
  sim.submit('wide', { cpu: 8, walltime: 600 });
  await sim.pass();
  expect(sim.row('wide').message).toBe(
    "needs 8 cores, more than is left of its queue's quota (16 cores in all)",
  );
  sim.queue('default', { quota: { cores: 14 } });
  await sim.pass();
  expect(sim.row('wide').message).toBe(
    "needs 8 cores, more than is left of its queue's quota (14 cores in all)",
  );
});
