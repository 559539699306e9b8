/** In a cohort with a queue that reclaims, own quota comes before what others would borrow. */
import { nodesOf, Simulation } from './simulation';

test('a workload that can never start does not let borrowers go before the own quota of its queue', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('guest', { cohort: 'campus' });
  sim.queue('owner', { cohort: 'campus', quota: { cores: 8 }, reclaim: true });
  sim.submit('never', { queue: 'owner', cpu: 3, pods: 3 });
  sim.submit('own', { queue: 'owner', cpu: 4, pods: 2 });
  sim.submit('guest', { queue: 'guest', cpu: 4, walltime: 36_000, priority: 1 });
  await sim.run();
  expect(sim.evicted).toEqual([]);
  expect(sim.startOf('own')).toBe(1000);
});

test('what is within own quota behind a wider workload of its queue comes before borrowers, and evicts nobody for them', async () => {
  const sim = await Simulation.of(nodesOf(8, 4));
  for (const queue of ['p', 'q']) sim.queue(queue, { cohort: 'lab', quota: { cores: 4 }, reclaim: true });
  sim.submit('big', { queue: 'q', cpu: 4, pods: 1, walltime: 3600 });
  sim.submit('e1', { queue: 'p', cpu: 2, walltime: 3600 });
  sim.submit('e2', { queue: 'p', cpu: 2, walltime: 3600 });
  await sim.pass();
  sim.submit('head', { queue: 'p', cpu: 4, priority: 5, walltime: 600 });
  sim.submit('qs', { queue: 'q', cpu: 2, priority: -10, walltime: 3600 });
  sim.submit('ps', { queue: 'p', cpu: 2, priority: -20, walltime: 600 });
  await sim.pass();
  expect(sim.row('ps')).toMatchObject({ phase: 'Waiting' });
  sim.now += 20;
  await sim.finish('e1');
  const { grants, evictions } = await sim.pass({ freed: true });
  expect({ granted: grants.map(({ uid }) => uid), evictions }).toEqual({ granted: ['ps'], evictions: [] });
  expect(sim.row('qs')).toMatchObject({ phase: 'Waiting' });
});

test('a borrower whose promised start comes as its lender asks does not start, and nobody of its queue is evicted', async () => {
  const sim = await Simulation.of(nodesOf(8, 4));
  for (const queue of ['owner', 'other'])
    sim.queue(queue, { cohort: 'lab', quota: { cores: 4 }, reclaim: true });
  sim.submit('first', { queue: 'owner', cpu: 4, walltime: 100 });
  sim.submit('within', { queue: 'other', cpu: 4, walltime: 5000 });
  await sim.pass();
  sim.submit('borrower', { queue: 'other', cpu: 4, walltime: 5000 });
  await sim.pass();
  sim.now = sim.reservations.find(({ uid }) => uid === 'borrower')!.allocation.start;
  await sim.finish('first');
  sim.submit('own', { queue: 'owner', cpu: 4, walltime: 600 });
  const { grants, evictions, nextAt } = await sim.pass({ freed: true });
  expect({ granted: grants.map(({ uid }) => uid), evictions, nextAt }).toEqual({
    granted: ['own'],
    evictions: [],
    nextAt: sim.now + 1,
  });
  expect(sim.row('borrower').estimatedStart).toBe(sim.now + 600);
});

test('a borrower does not start for own quota of another queue that stands behind a wide workload, and is not evicted again', async () => {
  const sim = await Simulation.of(nodesOf(16, 8));
  for (const queue of ['x', 'y', 'z'])
    sim.queue(queue, { cohort: 'lab', quota: { cores: 8 }, reclaim: true });
  for (const queue of ['y', 'z']) sim.submit(`${queue}-runs`, { queue, cpu: 8, walltime: 5000 });
  sim.submit('x-runs', { queue: 'x', cpu: 7, walltime: 5000 });
  sim.submit('x-ends', { queue: 'x', cpu: 1, walltime: 100 });
  await sim.pass();
  sim.submit('x-wide', { queue: 'x', cpu: 8, walltime: 600 });
  sim.submit('borrower', { queue: 'z', cpu: 1, priority: -10, walltime: 600 });
  sim.submit('x-wide-later', { queue: 'x', cpu: 8, priority: -15, walltime: 600 });
  sim.submit('x-own', { queue: 'x', cpu: 1, priority: -20, walltime: 600 });
  await sim.pass();
  sim.now += 20;
  await sim.finish('x-ends');
  const { grants, evictions } = await sim.pass({ freed: true });
  expect({ granted: grants.map(({ uid }) => uid), evictions }).toEqual({ granted: ['x-own'], evictions: [] });
});

test('a borrower does not start for own quota of another queue of which the first finds no nodes', async () => {
  const sim = await Simulation.of(nodesOf(2, 4));
  sim.queue('owner', { cohort: 'lab', quota: { cores: 4 }, reclaim: true });
  sim.queue('guest', { cohort: 'lab', quota: { cores: 2 } });
  sim.submit('guest', { queue: 'guest', cpu: 2, walltime: 5000 });
  sim.submit('beside', { queue: 'elsewhere', cpu: 2, walltime: 5000 });
  sim.submit('stays', { queue: 'elsewhere', cpu: 1, walltime: 5000 });
  sim.submit('ends', { queue: 'elsewhere', cpu: 3, walltime: 5000 });
  await sim.pass();
  sim.submit('borrower', { queue: 'guest', cpu: 2, priority: 1, walltime: 600 });
  sim.submit('first', { queue: 'owner', cpu: 4, walltime: 600 });
  sim.submit('next', { queue: 'owner', cpu: 2, walltime: 600 });
  await sim.pass();
  await sim.finish('ends');
  const { grants, evictions } = await sim.pass({ freed: true });
  expect({ granted: grants.map(({ uid }) => uid), evictions }).toEqual({ granted: ['next'], evictions: [] });
});

test('a borrower does not start before those of a queue that returns enough in the same pass', async () => {
  const sim = await Simulation.of(nodesOf(8, 1));
  sim.queue('a', { cohort: 'lab', quota: { cores: 4 }, reclaim: true });
  sim.queue('b', { cohort: 'lab', quota: { cores: 3 }, reclaim: true });
  sim.queue('c', { cohort: 'lab', quota: { cores: 0 } });
  for (const uid of ['a1', 'a2']) sim.submit(uid, { queue: 'a', walltime: 36_000 });
  for (const uid of ['b1', 'b2']) sim.submit(uid, { queue: 'b', walltime: 36_000 });
  sim.submit('b3', { queue: 'b', pods: 3, walltime: 36_000 });
  await sim.pass();
  sim.submit('c-waits', { queue: 'c', walltime: 36_000 });
  sim.submit('a-waits', { queue: 'a', pods: 3, walltime: 36_000 });
  sim.submit('b-waits', { queue: 'b', walltime: 36_000 });
  await sim.pass();
  await sim.finish('a2');
  const { grants, evictions } = await sim.pass({ freed: true });
  expect({
    granted: grants.map(({ uid }) => uid),
    evicted: evictions.map(({ uid }) => uid),
  }).toEqual({ granted: ['b-waits'], evicted: ['b3'] });
});
