import { type QuotaHolder, QuotaRoom } from '../../../runtime/scheduler/pass/quota-room';
import { victims } from '../../../runtime/scheduler/pass/victims';
import fc from '../../fast-check';
import { nodesOf, Simulation } from './simulation';

/** With one dimension: cores. */
const borrower = (uid: string, queue: string, since: number, cores: number, priority = 0) => ({
  uid,
  priority,
  since,
  loss: cores * (100 - since),
  row: { queue, user: 'ada' },
  holds: Float64Array.of(cores),
});

const chosen = (short: number, holders: ReturnType<typeof borrower>[], borrowed: Record<string, number>) => {
  const lacks = [{ account: 'cohort', short: Float64Array.of(short) }];
  const room = new QuotaRoom<QuotaHolder, string>({ queue: 'owner' }, lacks, {
    isCharged: () => true,
    borrowedBy: (queue) => Float64Array.of(borrowed[queue] ?? 0),
  });
  return victims<ReturnType<typeof borrower>>(room, holders)
    ?.map(({ uid }) => uid)
    .sort();
};

test('chooses the youngest beyond their own quota until enough is returned', () => {
  const holders = [borrower('old', 'a', 1, 2), borrower('young', 'a', 9, 2), borrower('other', 'b', 5, 2)];
  expect(chosen(2, holders, { a: 4, b: 2 })).toEqual(['young']);
  expect(chosen(4, holders, { a: 4, b: 2 })).toEqual(['other', 'young']);
  expect(chosen(0, holders, { a: 4, b: 2 })).toEqual([]);
});

test('chooses the lowest priority, and only what is needed', () => {
  const holders = [borrower('nine', 'a', 9, 4, 9), borrower('zero', 'a', 1, 4)];
  expect(chosen(2, holders, { a: 8 })).toEqual(['zero']);
  const small = [borrower('one', 'a', 9, 1), borrower('four', 'a', 1, 4), borrower('two', 'a', 8, 2)];
  expect(chosen(4, small, { a: 7 })).toEqual(['four']);
});

test('counts what is missing as it would be counted from nothing, whoever is released and taken back', () => {
  const QUEUES = ['owner', 'a', 'b'];
  const holders = fc.array(fc.tuple(fc.constantFrom(...QUEUES), fc.integer({ min: 1, max: 5 })), {
    minLength: 1,
    maxLength: 8,
  });
  const steps = fc.array(fc.nat(7), { maxLength: 30 });
  const amounts = { short: fc.integer({ min: 1, max: 12 }), a: fc.nat(8), b: fc.nat(8) };
  fc.assert(
    fc.property(holders, steps, fc.record(amounts), (all, flips, { short, ...borrowed }) => {
      const lacks = [{ account: 'cohort', short: Float64Array.of(short, -1) }];
      const room = new QuotaRoom<QuotaHolder, string>({ queue: 'owner' }, lacks, {
        isCharged: () => true,
        borrowedBy: (queue) => Float64Array.of(borrowed[queue as 'a' | 'b'], 0),
      });
      const given = all.map(([queue, cores]) => ({
        row: { queue, user: 'ada' },
        holds: Float64Array.of(cores, 1),
      }));
      const released = new Set<number>();
      for (const flip of flips) {
        const i = flip % given.length;
        if (released.delete(i)) room.take(given[i]!);
        else {
          released.add(i);
          room.release(given[i]!);
        }
        const returned = (queue: string) =>
          [...released].reduce((sum, n) => sum + (all[n]![0] === queue ? all[n]![1] : 0), 0);
        const enough =
          returned('owner') + Math.min(returned('a'), borrowed.a) + Math.min(returned('b'), borrowed.b);
        expect(room.missing).toBe(Math.max(0, short - enough) / short);
      }
    }),
  );
});

test('chooses only workloads of queues that have borrowed', () => {
  const holders = [borrower('one', 'a', 1, 2), borrower('two', 'a', 2, 2), borrower('own', 'b', 3, 9)];
  expect(chosen(2, holders, { a: 2, b: 0 })).toEqual(['two']);
});

test('chooses none if all of them would not suffice', () => {
  expect(chosen(5, [borrower('one', 'a', 1, 2)], { a: 2 })).toBeUndefined();
});

async function lent(): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(3, 4));
  const cohort = { cohort: 'campus', quota: { cores: 4 } };
  sim.queue('guest', cohort);
  sim.queue('owner', { ...cohort, reclaim: true });
  return sim;
}

const RUNS = { queue: 'guest', cpu: 4, walltime: 5000 };

test('reclaims from the lowest priority, whatever its minimum run time', async () => {
  const sim = await lent();
  sim.submit('zero', RUNS);
  await sim.pass();
  sim.now += 1;
  sim.submit('nine', { ...RUNS, priority: 9 });
  await sim.pass();
  sim.submit('own', { queue: 'owner', cpu: 4 });
  expect((await sim.pass()).evictions).toMatchObject([{ uid: 'zero' }]);
  await sim.requeue('zero');
  await sim.pass();
  expect(sim.startOf('own')).toBe(sim.now);
});

test('spares a workload of a namespace that left the queue', async () => {
  const sim = await lent();
  for (const uid of ['stays', 'goes']) {
    sim.submit(uid, { ...RUNS, priority: uid === 'goes' ? 9 : 0, namespace: uid });
    await sim.pass();
    sim.now += 1;
  }
  sim.submit('own', { queue: 'owner', cpu: 4 });
  const hasLeft = ({ namespace }: { readonly namespace: string }) => namespace === 'stays';
  expect((await sim.pass({ hasLeft })).evictions).toMatchObject([{ uid: 'goes' }]);
});

test('evicts no borrower for a workload that would wait for nodes anyway', async () => {
  const sim = await lent();
  for (const uid of ['zero', 'one']) {
    sim.submit(uid, RUNS);
    await sim.pass();
    sim.now += 1;
  }
  await sim.occupy('n2', '0-3');
  sim.submit('wide', { queue: 'owner', cpu: 1, pods: 3, exclusive: true });
  expect((await sim.pass()).evictions).toEqual([]);
  await sim.finish('wide');
  sim.submit('own', { queue: 'owner', cpu: 3, walltime: 100 });
  expect((await sim.pass()).evictions).toMatchObject([{ uid: 'one' }]);
});

test('reclaims although a waiting borrower behind the owner has a reservation in its way', async () => {
  const sim = await Simulation.of(nodesOf(3, 4));
  sim.queue('guest', { cohort: 'campus', quota: { cores: 4 } });
  sim.queue('owner', { cohort: 'campus', quota: { cores: 8 }, reclaim: true });
  sim.submit('brief', { cpu: 4, walltime: 60 });
  for (const uid of ['first', 'second']) {
    sim.submit(uid, RUNS);
    await sim.pass();
    sim.now += 1;
  }
  sim.submit('third', { ...RUNS, priority: -1 });
  await sim.pass();
  expect(sim.row('third').reason).toBe('Reserved');
  sim.now += 20;
  sim.submit('own', { queue: 'owner', cpu: 4, pods: 2, walltime: 1000 });
  expect((await sim.pass()).evictions).toMatchObject([{ uid: 'second' }]);
  sim.now += 40;
  await sim.finish('brief');
  await sim.requeue('second');
  await sim.pass();
  expect(sim.startOf('own')).toBe(sim.now);
});

test('quota that its owner cannot use yet does not idle: the head starts as soon as its own quota is free', async () => {
  const sim = await Simulation.of(nodesOf(8, 4));
  sim.queue('owner', { cohort: 'campus', quota: { cores: 20 }, reclaim: true });
  for (const [uid, cpu] of ['first', 'second'].map((name, i) => [name, 2 - i] as const))
    sim.submit(uid, { queue: 'owner', pods: 5, cpu: cpu * 2, walltime: 5000, runs: 10 });
  for (let i = 0; i < 20; i++) sim.submit(`small${i}`, { queue: 'owner', cpu: 1, walltime: 5000, runs: 10 });
  await sim.run();
  // Of five and five pods the first take all; each round of those behind them ends after ten seconds.
  expect(Math.max(...sim.started.map(({ end }) => end!))).toBeLessThanOrEqual(1000 + 4 * 10);
});

test.each(['fcfs', 'easy', 'hybrid', 'conservative'] as const)(
  'a borrower of higher priority that returned its quota does not take it back before the owner has started (%s)',
  async (policy) => {
    const sim = await Simulation.of(nodesOf(4, 4));
    const cohort = { policy, cohort: 'campus' };
    sim.queue('guest', cohort);
    sim.queue('owner', { ...cohort, quota: { cores: 8 }, reclaim: true });
    for (const uid of ['one', 'two'])
      sim.submit(uid, { queue: 'guest', cpu: 4, walltime: 36_000, priority: 1, leaves: 20 });
    await sim.pass();
    sim.now += 10;
    sim.submit('own', { queue: 'owner', cpu: 4, walltime: 600 });
    await sim.run();
    expect(sim.evicted).toHaveLength(1);
    expect(sim.startOf('own')).toBe(1000 + 10 + 20);
  },
);

test('evicts once where the pods of one borrower need longer than its grace period', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('guest', { cohort: 'campus' });
  sim.queue('owner', { cohort: 'campus', quota: { cores: 12 }, reclaim: true });
  for (const leaves of [10, 20, 100])
    sim.submit(`leaves${leaves}`, { queue: 'guest', cpu: 4, walltime: 36_000, leaves, priority: 1 });
  await sim.pass();
  sim.now += 10;
  sim.submit('own', { queue: 'owner', cpu: 4, pods: 3, walltime: 600 });
  await sim.run();
  expect(sim.evicted.map(({ uid }) => uid).sort()).toEqual(['leaves10', 'leaves100', 'leaves20']);
  expect(sim.startOf('own')).toBe(1000 + 10 + 100);
});

test('counts on the grace period that the pods of a borrower name', async () => {
  const sim = await lent();
  const pod = { terminationGracePeriodSeconds: 600 };
  sim.submit('slow', { ...RUNS, walltime: 600, pod });
  sim.submit('brief', RUNS);
  await sim.pass();
  sim.submit('own', { queue: 'owner', cpu: 4, walltime: 100 });
  // The slow one ends by itself before its pods would have left.
  expect((await sim.pass()).evictions).toMatchObject([{ uid: 'brief', end: sim.now + 45 }]);
});

test('does not count a resource that a workload does not request as borrowed', async () => {
  const sim = await Simulation.of([{ name: 'n0', units: { core: 8, memory: 16 } }]);
  sim.queue('guest', { cohort: 'campus', quota: { cores: 4, memoryGiB: 4 } });
  sim.queue('owner', { cohort: 'campus', quota: { cores: 2, memoryGiB: 2 }, reclaim: true });
  const pod = { containers: [{ resources: { requests: { cpu: 1, memory: '4Gi' } } }] };
  sim.submit('debt', { pod, queue: 'owner', walltime: 5000 });
  sim.submit('lent', { queue: 'guest', cpu: 5, walltime: 5000 });
  await sim.pass();
  sim.submit('own', { queue: 'owner', cpu: 1, walltime: 100 });
  expect((await sim.pass()).evictions).toMatchObject([{ uid: 'lent' }]);
});

test('takes no running workload for quota that another one of its queue has only planned to borrow', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.queue('guest', { cohort: 'campus', quota: { cores: 4 } });
  sim.queue('other', { cohort: 'campus', quota: { cores: 4 } });
  sim.queue('owner', { cohort: 'campus', quota: { cores: 4 }, reclaim: true });
  sim.submit('within', { queue: 'guest', cpu: 4, walltime: 5000 });
  sim.submit('ends', { queue: 'other', cpu: 4, pods: 2, walltime: 40 });
  await sim.pass();
  // It comes before the workload of the owner, and borrows from the moment at which the other queue has returned its debt.
  sim.submit('planned', { queue: 'guest', cpu: 4, pods: 2, walltime: 5000, priority: 1 });
  await sim.pass();
  sim.submit('own', { queue: 'owner', cpu: 4, walltime: 5000 });
  expect((await sim.pass()).evictions.map(({ uid }) => uid)).not.toContain('within');
});

test('what a queue would borrow of returned quota is no claim: it yields to a higher priority of the lender', async () => {
  const sim = await Simulation.of(nodesOf(8, 4));
  sim.queue('owner', { cohort: 'lab', quota: { cores: 5 }, reclaim: true });
  sim.queue('lender', { cohort: 'lab', quota: { cores: 3 } });
  sim.submit('held', { queue: 'owner', cpu: 2, walltime: 5000 });
  sim.submit('borrower', { queue: 'lender', pods: 2, cpu: 3, walltime: 5000 });
  await sim.pass();
  sim.submit('own', { queue: 'owner', cpu: 3, priority: 1, walltime: 600 });
  sim.submit('more', { queue: 'owner', cpu: 2, priority: -1, walltime: 600 });
  expect((await sim.pass()).evictions.map(({ uid }) => uid)).toEqual(['borrower']);
  const claims = sim.reservations.filter(({ isClaim }) => isClaim === true).map(({ uid }) => uid);
  expect(claims).toEqual(['own']);
});

test('borrowers of one priority take turns where their owner takes back a little again and again', async () => {
  const sim = await Simulation.of(nodesOf(1, 16));
  sim.queue('owner', { cohort: 'lab', quota: { cores: 8 }, reclaim: true });
  sim.queue('guest', { cohort: 'lab', quota: { cores: 8 } });
  for (let i = 0; i < 16; i++) sim.submit(`guest${i}`, { queue: 'guest', cpu: 1, walltime: 720_000 });
  await sim.pass();
  // As long as all have run about as long, who was evicted last is chosen again.
  sim.now += 3_600;
  const times = new Map<string, number>();
  for (let i = 0; i < 24; i++) {
    sim.submit(`own${i}`, { queue: 'owner', cpu: 1, walltime: 60 });
    for (const { uid } of (await sim.pass()).evictions) {
      times.set(uid, (times.get(uid) ?? 0) + 1);
      await sim.requeue(uid);
    }
    await sim.pass({ freed: true });
    sim.now += 10;
    await sim.finish(`own${i}`);
    await sim.pass({ freed: true });
    sim.now += 4;
  }
  expect([...times.values()].reduce((sum, one) => sum + one, 0)).toBe(24);
  expect(Math.max(...times.values())).toBeLessThanOrEqual(4);
});

test.each([3, 4, 12])(
  'those that find no nodes for what would be returned use up no tries of their queue: %i',
  async (count) => {
    const sim = await Simulation.of([...nodesOf(4, 4), { name: 'big', units: { core: 16 } }]);
    sim.queue('owner', { cohort: 'lab', quota: { cores: 16 }, reclaim: true });
    sim.queue('guest', { cohort: 'lab', quota: { cores: 0 } });
    sim.submit('outside', { cpu: 16, walltime: 360_000 });
    await sim.pass();
    for (let i = 0; i < 4; i++) sim.submit(`guest${i}`, { queue: 'guest', cpu: 4, walltime: 36_000 });
    await sim.pass();
    for (let i = 0; i < count; i++) sim.submit(`wide${i}`, { queue: 'owner', cpu: 8, walltime: 3_600 });
    sim.submit('small', { queue: 'owner', cpu: 4, walltime: 3_600 });
    expect((await sim.pass()).evictions.map(({ uid }) => uid)).toEqual(['guest3']);
    expect(sim.row('small').estimatedStart).toBe(sim.now + 45);
  },
);
