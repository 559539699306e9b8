import fc from '../../fast-check';
import { nodesOf, Simulation } from './simulation';

const uids = (sim: Simulation) => sim.started.map(({ uid }) => uid);

test('a workload beyond the quota waits, and the message names the resource', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('default', { quota: { cores: 7, jobs: 3 } });
  sim.submit('a', { cpu: 4 });
  sim.submit('b', { cpu: 3, pods: 2 });
  sim.submit('c', { cpu: 2, walltime: 101 });
  await sim.pass();
  expect(uids(sim)).toEqual(['a']);
  expect(sim.row('b')).toMatchObject({
    reason: 'QuotaExceeded',
    message: "needs 6 cores, more than is left of its queue's quota (7 cores in all)",
    estimatedStart: 1100,
  });
  // It would hold what b waits for until after b could start.
  expect(sim.row('c').message).toBe("its queue's quota is kept for an earlier workload");
  await sim.finish('a');
  await sim.pass();
  expect(uids(sim)).toEqual(['a', 'b']);
});

test('what a workload uses beyond its grant is charged to its queue until it is gone', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  for (const name of ['default', 'other']) sim.queue(name, { quota: { cores: 3, pods: 9 } });
  sim.submit('more', { cpu: 1 });
  await sim.pass();
  sim.submit('next', { cpu: 1 });
  sim.submit('elsewhere', { cpu: 3, queue: 'other' });
  const surpluses = new Map([['more', { pods: 2, units: { core: 2 } }]]);
  await sim.pass({ surpluses });
  expect(uids(sim)).toEqual(['more', 'elsewhere']);
  expect(sim.row('next')).toMatchObject({
    reason: 'QuotaExceeded',
    message: "needs 1 core, more than is left of its queue's quota (3 cores in all)",
  });
  await sim.pass({ freed: true });
  expect(uids(sim)).toEqual(['more', 'elsewhere', 'next']);
});

test.each([
  ['pods', { pods: 2 }, "needs 1 pod, more than is left of its queue's quota (2 pods in all)"],
  [
    'memory',
    { memoryGiB: 2 },
    "needs 1 GiB of memory, more than is left of its queue's quota (2 GiB of memory in all)",
  ],
])('%s beyond a grant are charged too, and go with their workload', async (_, quota, message) => {
  const sim = await Simulation.of(nodesOf(4, 4).map((node) => ({ ...node, units: { core: 4, memory: 4 } })));
  sim.queue('default', { quota });
  const pod = { containers: [{ resources: { requests: { cpu: 1, memory: '1Gi' } } }] };
  sim.submit('more', { pod });
  await sim.pass();
  sim.submit('next', { pod });
  const surpluses = new Map([['more', { pods: 1, units: { core: 1, memory: 1 } }]]);
  await sim.pass({ surpluses });
  expect(sim.row('next')).toMatchObject({ reason: 'QuotaExceeded', message });
  await sim.finish('more');
  await sim.pass({ surpluses });
  expect(uids(sim)).toEqual(['more', 'next']);
});

test("names a workload's GPUs as its user does, and the quota's as its administrator does", async () => {
  const requests = { 'nvidia.com/gpu': 2 };
  const gpus = { pod: { containers: [{ resources: { requests } }] } };
  const sim = await Simulation.of(
    nodesOf(1, 4).map((node) => ({
      ...node,
      units: { core: 4, gpu: 4 },
      properties: ['resource:nvidia.com/gpu'],
    })),
  );
  sim.queue('default', { quota: { gpus: 3 } });
  sim.submit('a', gpus);
  sim.submit('b', gpus);
  sim.submit('c', { ...gpus, pods: 2 });
  await sim.pass();
  expect(uids(sim)).toEqual(['a']);
  expect(sim.row('b').message).toBe(
    "needs 2 nvidia.com/gpu, more than is left of its queue's quota (3 gpus in all)",
  );
  expect(sim.row('c').message).toBe(
    "can never start: asks for 4 nvidia.com/gpu, more than its queue's quota of 3 gpus",
  );
});

test('short workloads pass one that lacks quota if they end before it could start', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('default', { quota: { cores: 6 } });
  sim.submit('a', { cpu: 4, walltime: 100 });
  sim.submit('wide', { cpu: 4, pods: 1 });
  sim.submit('short', { cpu: 2, walltime: 100 });
  sim.submit('long', { cpu: 2, walltime: 101 });
  await sim.pass();
  expect(uids(sim)).toEqual(['a', 'short']);
});

test('a workload larger than the whole quota blocks nothing, and the message says so', async () => {
  for (const policy of ['fcfs', 'easy'] as const) {
    const sim = await Simulation.of(nodesOf(4, 4), { policy });
    sim.queue('default', { policy, quota: { pods: 2 } });
    sim.submit('wide', { pods: 3 });
    sim.submit('small');
    await sim.pass();
    expect(uids(sim)).toEqual(['small']);
    expect(sim.row('wide').message).toBe(
      "can never start: asks for 3 pods, more than its queue's quota of 2 pods",
    );
  }
});

test.each<[string, object, object, string]>([
  [
    'its queue',
    { quota: { cores: 8 } },
    { quota: { cores: 4 } },
    "can never start: asks for 8 cores, more than its queue's quota of 4 cores",
  ],
  [
    'its queue to nothing',
    { quota: { jobs: 9 } },
    { quota: { jobs: 0 } },
    "can never start: asks for 1 job, more than its queue's quota of 0 jobs",
  ],
])(
  'a promised start is taken back when the quota of %s is lowered below it',
  async (_, before, now, never) => {
    const sim = await Simulation.of(nodesOf(2, 4));
    sim.queue('own', { policy: 'easy', ...before });
    sim.queue('other', { policy: 'easy' });
    sim.submit('holds', { cpu: 4, queue: 'other', walltime: 1000 });
    sim.submit('wide', { cpu: 4, pods: 2, queue: 'own' });
    await sim.pass();
    expect(sim.row('wide').estimatedStart).toBe(2000);
    sim.queue('own', { policy: 'easy', ...now });
    sim.submit('elsewhere', { cpu: 4, queue: 'other', walltime: 5000 });
    await sim.pass();
    expect(uids(sim)).toEqual(['holds', 'elsewhere']);
    expect(sim.row('wide')).toMatchObject({ message: never, estimatedStart: null });
  },
);

test('fcfs starts nothing behind a workload that lacks quota', async () => {
  const sim = await Simulation.of(nodesOf(4, 4), { policy: 'fcfs' });
  sim.queue('default', { policy: 'fcfs', quota: { cores: 5 } });
  sim.submit('a', { cpu: 4 });
  sim.submit('b', { cpu: 2 });
  sim.submit('c', { cpu: 1, walltime: 1 });
  await sim.pass();
  expect(uids(sim)).toEqual(['a']);
  expect(sim.row('c').message).toBe('waits behind earlier workloads of its queue');
});

test('counts the different nodes of the allocation', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('default', { quota: { nodes: 1 } });
  sim.submit('a', { cpu: 3 });
  sim.submit('b', { cpu: 3 });
  sim.submit('c', { cpu: 1 });
  await sim.pass();
  expect(uids(sim)).toEqual(['a', 'c']);
  expect(sim.row('b').message).toBe("needs more nodes than are left of its queue's quota (1 node)");
});

test('counts whole nodes with all of their units', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('default', { quota: { cores: 6 } });
  sim.submit('a', { cpu: 1, exclusive: true });
  sim.submit('b', { cpu: 1, exclusive: true });
  await sim.pass();
  expect(uids(sim)).toEqual(['a']);
  expect(sim.row('b').message).toBe("needs 4 cores, more than is left of its queue's quota (6 cores in all)");
});

describe('cohort', () => {
  const cohort = 'lab';

  test('lends idle quota up to the borrowing limit', async () => {
    const sim = await Simulation.of(nodesOf(10, 1));
    sim.queue('a', { cohort, quota: { cores: 4 }, borrowing: { cores: 3 } });
    sim.queue('b', { cohort, quota: { cores: 6 } });
    for (let i = 0; i < 10; i++) sim.submit(`a${i}`, { queue: 'a' });
    sim.submit('b', { queue: 'b', held: true });
    await sim.pass();
    expect(uids(sim)).toHaveLength(7);
    expect(sim.row('a9').message).toContain("its queue's quota");
  });

  test('never holds more than the quotas of all its queues', async () => {
    const sim = await Simulation.of(nodesOf(20, 1));
    sim.queue('a', { cohort, quota: { cores: 4 } });
    sim.queue('b', { cohort, quota: { cores: 6 } });
    for (let i = 0; i < 20; i++) sim.submit(`a${i}`, { queue: 'a' });
    sim.submit('b', { queue: 'b' });
    await sim.pass();
    expect(uids(sim)).toHaveLength(10);
    expect(sim.row('b').message).toBe(
      'needs 1 core, more than is left of the quota of cohort lab (10 cores in all)',
    );
  });

  test('a queue that reclaims evicts the youngest borrowers, once', async () => {
    const sim = await Simulation.of(nodesOf(20, 1));
    sim.queue('a', { cohort, quota: { cores: 4 } });
    sim.queue('b', { cohort, quota: { cores: 6 }, reclaim: true });
    sim.submit('idle', { queue: 'b', held: true });
    for (let i = 0; i < 10; i++) {
      sim.submit(`a${i}`, { queue: 'a', walltime: 1000 });
      sim.now += 1;
      await sim.pass();
    }
    sim.submit('b', { queue: 'b', pods: 2 });
    const { evictions } = await sim.pass();
    expect(evictions).toEqual([
      { uid: 'a9', message: 'returns quota that it borrowed from queue b to science/b', end: sim.now + 45 },
      { uid: 'a8', message: 'returns quota that it borrowed from queue b to science/b', end: sim.now + 45 },
    ]);
    sim.now += 1;
    expect((await sim.pass({ freed: true })).evictions).toEqual([]);
    for (const uid of ['a8', 'a9']) await sim.requeue(uid);
    await sim.pass();
    expect(sim.startOf('b')).toBe(sim.now);
    expect(sim.row('a8').phase).toBe('Waiting');
  });

  test('does not evict workloads within their own quota, or bare pods', async () => {
    const sim = await Simulation.of(nodesOf(20, 1));
    sim.queue('a', { cohort, quota: { cores: 4 } });
    sim.queue('b', { cohort, quota: { cores: 2 }, reclaim: true });
    sim.submit('idle', { queue: 'b', held: true });
    for (let i = 0; i < 6; i++) sim.submit(`a${i}`, { queue: 'a', kind: 'Pod' });
    await sim.pass();
    sim.submit('b', { queue: 'b' });
    expect((await sim.pass()).evictions).toEqual([]);
    expect(sim.row('b').reason).toBe('QuotaExceeded');
  });
});

test('no queue ever holds more than its quota plus borrowing, and no cohort more than its quotas', async () => {
  const job = fc.record({
    queue: fc.constantFrom('a', 'b'),
    pods: fc.integer({ min: 1, max: 4 }),
    cpu: fc.integer({ min: 1, max: 3 }),
    walltime: fc.integer({ min: 1, max: 60 }),
    part: fc.double({ min: 0.1, max: 1, noNaN: true }),
    gap: fc.integer({ min: 0, max: 20 }),
  });
  const held = (sim: Simulation, queue: string) =>
    sim
      .running()
      .filter(({ uid }) => sim.row(uid).queue === queue)
      .reduce((sum, { uid }) => sum + sim.row(uid).pods * cpus.get(uid)!, 0);
  const cpus = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(job, { minLength: 1, maxLength: 40 }),
      fc.constantFrom('easy' as const, 'conservative' as const, 'fcfs' as const),
      async (jobs, policy) => {
        const sim = await Simulation.of(nodesOf(8, 4), { policy });
        sim.queue('a', { policy, cohort: 'lab', quota: { cores: 8 }, borrowing: { cores: 4 } });
        sim.queue('b', { policy, cohort: 'lab', quota: { cores: 6, jobs: 2 }, borrowing: { cores: 6 } });
        let at = sim.now;
        const arrivals = jobs.map(({ gap, part, ...options }, i) => {
          at += gap;
          cpus.set(`j${i}`, options.cpu);
          const runs = Math.max(1, Math.round(options.walltime * part));
          return { at, submit: () => void sim.submit(`j${i}`, { ...options, runs }) };
        });
        await sim.run(arrivals, async () => {
          const [a, b] = [held(sim, 'a'), held(sim, 'b')];
          expect(a).toBeLessThanOrEqual(12);
          expect(b).toBeLessThanOrEqual(12);
          expect(a + b).toBeLessThanOrEqual(14);
        });
        const stuck = [...sim.rows.values()].filter(({ phase }) => phase === 'Waiting');
        expect(stuck.filter(({ uid, pods }) => pods * cpus.get(uid)! <= 6)).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});
