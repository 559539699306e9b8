import fc from '../../fast-check';
import { nodesOf, Simulation } from './simulation';

const cohort = 'lab';
const uids = (sim: Simulation) => sim.started.map(({ uid }) => uid);

test('a queue owns nothing of a resource that only another queue of its cohort has a quota of', async () => {
  const gpus = { pod: { containers: [{ resources: { requests: { 'nvidia.com/gpu': 1 } } }] } };
  const properties = ['resource:nvidia.com/gpu'];
  const sim = await Simulation.of([{ name: 'n0', units: { core: 8, gpu: 4 }, properties }]);
  sim.queue('a', { cohort, quota: { cores: 4, gpus: 2 } });
  sim.queue('b', { cohort, quota: { cores: 4 }, borrowing: { gpus: 1 } });
  sim.queue('c', { cohort, quota: { cores: 4 }, borrowing: { gpus: 0 } });
  for (const uid of ['b0', 'b1']) sim.submit(uid, { ...gpus, queue: 'b' });
  sim.submit('c0', { ...gpus, queue: 'c' });
  for (const uid of ['a0', 'a1']) sim.submit(uid, { ...gpus, queue: 'a' });
  await sim.pass();
  expect(uids(sim)).toEqual(['b0', 'a0']);
  expect(sim.row('b1').message).toContain("its queue's quota (0 gpus and 1 gpu of borrowing in all)");
  expect(sim.row('c0').message).toBe(
    "can never start: asks for 1 nvidia.com/gpu, more than its queue's quota of 0 gpus",
  );
  expect(sim.row('a1').message).toContain('the quota of cohort lab (2 gpus in all)');
});

test('a resource that no queue of the cohort has a quota of is not limited', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('a', { cohort, quota: { jobs: 4 } });
  for (let i = 0; i < 4; i++) sim.submit(`a${i}`, { queue: 'a', cpu: 4 });
  await sim.pass();
  expect(uids(sim)).toHaveLength(4);
});

test('the others borrow of a quota no more than its lending limit', async () => {
  const sim = await Simulation.of(nodesOf(20, 1));
  sim.queue('a', { cohort, quota: { cores: 4 } });
  sim.queue('b', { cohort, quota: { cores: 6 }, lending: { cores: 2 } });
  for (let i = 0; i < 10; i++) sim.submit(`a${i}`, { queue: 'a', walltime: 1000 });
  sim.submit('large', { queue: 'a', pods: 7 });
  await sim.pass();
  expect(uids(sim)).toHaveLength(6);
  expect(sim.row('a9').message).toBe(
    'needs 1 core, more than is left of the quota of cohort lab without what other queues keep (6 cores in all)',
  );
  expect(sim.row('large').message).toContain('asks for 7 cores, more than');
  for (let i = 0; i < 6; i++) sim.submit(`b${i}`, { queue: 'b', walltime: 1000 });
  await sim.pass();
  expect(uids(sim)).toHaveLength(10);
  expect(sim.row('b4').message).toBe(
    'needs 1 core, more than is left of the quota of cohort lab (10 cores in all)',
  );
});

test('a queue that uses what it keeps lends as much as before', async () => {
  const sim = await Simulation.of(nodesOf(20, 1));
  sim.queue('a', { cohort, quota: { cores: 4 } });
  sim.queue('b', { cohort, quota: { cores: 6 }, lending: { cores: 2 } });
  for (let i = 0; i < 5; i++) sim.submit(`b${i}`, { queue: 'b', walltime: 1000 });
  await sim.pass();
  for (let i = 0; i < 6; i++) sim.submit(`a${i}`, { queue: 'a' });
  await sim.pass();
  // Of the two that b lends it uses one itself.
  expect(uids(sim)).toHaveLength(10);
});

test('reclaims what it has lent, and nobody has to return what was never lent', async () => {
  const sim = await Simulation.of(nodesOf(20, 1));
  sim.queue('a', { cohort, quota: { cores: 4 } });
  sim.queue('b', { cohort, quota: { cores: 6 }, lending: { cores: 2 }, reclaim: true });
  for (let i = 0; i < 6; i++) {
    sim.submit(`a${i}`, { queue: 'a', walltime: 1000 });
    await sim.pass();
    sim.now += 1;
  }
  sim.submit('four', { queue: 'b', pods: 4, walltime: 1000 });
  expect((await sim.pass()).evictions).toEqual([]);
  expect(sim.row('four').phase).toBe('Running');
  sim.submit('two', { queue: 'b', pods: 2, walltime: 1000 });
  expect((await sim.pass()).evictions).toMatchObject([{ uid: 'a5' }, { uid: 'a4' }]);
});

test('at any time a cohort has room for what each of its queues keeps', async () => {
  const job = fc.record({
    queue: fc.constantFrom('a', 'b', 'c'),
    pods: fc.integer({ min: 1, max: 3 }),
    cpu: fc.integer({ min: 1, max: 2 }),
    walltime: fc.integer({ min: 1, max: 60 }),
    gap: fc.integer({ min: 0, max: 10 }),
  });
  const quotas = { a: 4, b: 4, c: 4 };
  const lends = fc.record({
    a: fc.integer({ min: 0, max: 4 }),
    b: fc.integer({ min: 0, max: 4 }),
    c: fc.constant(4),
  });
  let borrowed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(job, { minLength: 1, maxLength: 40 }),
      lends,
      fc.constantFrom('easy' as const, 'conservative' as const),
      async (jobs, lent, policy) => {
        const sim = await Simulation.of(nodesOf(8, 4), { policy });
        const names = ['a', 'b', 'c'] as const;
        for (const name of names)
          sim.queue(name, { policy, cohort, quota: { cores: quotas[name] }, lending: { cores: lent[name] } });
        const cores = new Map(jobs.map(({ pods, cpu }, i) => [`j${i}`, pods * cpu]));
        let at = sim.now;
        const arrivals = jobs.map(({ gap, ...options }, i) => {
          at += gap;
          return { at, submit: () => void sim.submit(`j${i}`, options) };
        });
        await sim.run(arrivals, async () => {
          const used = (name: string) =>
            sim
              .running()
              .filter(({ uid }) => sim.row(uid).queue === name)
              .reduce((sum, { uid }) => sum + cores.get(uid)!, 0);
          const charged = names.map((name) => Math.max(used(name), quotas[name] - lent[name]));
          expect(charged.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(12);
          if (used('c') > 4) borrowed += 1;
        });
        const stuck = [...sim.rows.values()].filter(({ phase }) => phase === 'Waiting');
        expect(stuck.filter(({ uid }) => cores.get(uid)! <= 4)).toEqual([]);
      },
    ),
    { numRuns: 100 },
  );
  expect(borrowed).toBeGreaterThan(100);
});
