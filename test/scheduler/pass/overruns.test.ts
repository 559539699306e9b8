/** Workloads that run past their planned end: the plan behind them, and what it costs. */
import { PREEMPTS } from './settings';
import { granted, nodesOf, reserved, Simulation } from './simulation';

const DAY = 86_400;

/** Node n0 has `late`, which overruns its walltime of 100 s for a day; `wide` needs all three nodes. */
async function overrun(policy: 'easy' | 'hybrid' | 'conservative'): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(3, 2), { policy });
  sim.submit('late', { cpu: 2, walltime: 100, runs: DAY });
  await sim.pass();
  sim.submit('wide', { pods: 3, cpu: 2, walltime: 600 });
  return sim;
}

test.each(['easy', 'hybrid', 'conservative'] as const)(
  '%s: nodes beside a workload that overruns for a day are backfilled, and the head starts when it ends',
  async (policy) => {
    const sim = await overrun(policy);
    const stream = Array.from({ length: 215 }, (_, i) => ({
      at: 1_000 + i * 400,
      submit: () => void sim.submit(`small-${i}`, { cpu: 2, walltime: 600 }),
    }));
    await sim.run(stream);
    const until = 1_000 + DAY;
    const busy = sim.started
      .filter(({ uid }) => uid.startsWith('small'))
      .reduce((sum, { start, end }) => sum + Math.max(0, Math.min(end!, until) - start), 0);
    // The stream offers three quarters of what the two nodes can do.
    expect(busy / (2 * DAY)).toBeGreaterThan(0.7);
    expect(sim.startOf('wide')).toBeLessThanOrEqual(until + 600);
    expect(sim.doubleGrants()).toEqual([]);
  },
);

/** Runs passes as the loop does, until this time. @returns the times of all passes and how many waits they wrote */
async function passesUntil(sim: Simulation, until: number): Promise<{ times: number[]; written: number }> {
  const times: number[] = [];
  let written = 0;
  for (;;) {
    const { waits, nextAt = Infinity } = await sim.pass();
    times.push(sim.now);
    written += waits.length;
    if (nextAt > until) return { times, written };
    sim.now = nextAt;
  }
}

test('plans again only when a prediction is reached, and writes once that the start is not known', async () => {
  const sim = await overrun('conservative');
  sim.submit('behind', { pods: 3, cpu: 2, walltime: 600 });
  await sim.pass();
  expect([sim.row('wide').estimatedStart, sim.row('behind').estimatedStart]).toEqual([1_100, 1_700]);
  sim.now = 1_100;
  const { times, written } = await passesUntil(sim, 1_100 + DAY);
  expect(times).toEqual([1_100, ...Array.from({ length: 11 }, (_, i) => 1_100 + 45 * 2 ** i)]);
  expect(written).toBe(2);
  expect(sim.row('wide')).toMatchObject({
    reason: 'Reserved',
    message: 'nodes are reserved for it behind science/late, which should have ended by now',
    estimatedStart: null,
  });
  await sim.finish('late');
  expect(granted(await sim.pass())).toEqual(['wide']);
  expect(sim.row('behind')).toMatchObject({
    message: 'nodes are reserved for it',
    estimatedStart: sim.now + 600,
  });
});

test('an estimate that comes later stays while pods may still be ending', async () => {
  const sim = await Simulation.of(nodesOf(2, 2));
  sim.submit('late', { cpu: 2, walltime: 100 });
  sim.submit('long', { cpu: 2, walltime: 5_000 });
  await sim.pass();
  sim.submit('wide', { pods: 2, cpu: 2 });
  await sim.pass();
  sim.now = 1_100;
  const { times, written } = await passesUntil(sim, 1_144);
  expect([sim.row('wide').estimatedStart, times, written]).toEqual([6_000, [1_100], 0]);
});

test('keeps the order of reservations when an overrun moves them', async () => {
  const sim = await Simulation.of(nodesOf(2, 2), { policy: 'conservative' });
  sim.submit('late', { pods: 2, cpu: 2, walltime: 100 });
  await sim.pass();
  for (const uid of ['first', 'second', 'third']) sim.submit(uid, { pods: 2, cpu: 2, walltime: 60 });
  await sim.pass();
  sim.now = 1_100;
  await passesUntil(sim, 3_000);
  const starts = new Map(sim.reservations.map(({ uid, allocation }) => [uid, allocation.start]));
  expect([...starts]).toEqual([
    ['first', 3_980],
    ['second', 4_040],
    ['third', 4_100],
  ]);
});

test('the head of a fcfs queue keeps its place in the plan when its reservation was lost', async () => {
  const sim = await Simulation.of(nodesOf(3, 2));
  sim.submit('late', { cpu: 2, walltime: 100 });
  await sim.pass();
  sim.queue('other', { policy: 'conservative' });
  sim.submit('wide', { pods: 3, cpu: 2, walltime: 600 });
  sim.submit('side', { pods: 3, cpu: 2, walltime: 600, queue: 'other' });
  expect(reserved(await sim.pass())).toEqual(['wide', 'side']);
  sim.now = 1_100;
  sim.queue('default', { policy: 'fcfs' });
  const result = await sim.pass();
  expect(reserved(result)).toEqual(['wide', 'side']);
  expect(sim.row('wide')).toMatchObject({ reason: 'Reserved', estimatedStart: null });
});

test('a restart in the middle of an overrun plans the same', async () => {
  for (const policy of ['easy', 'hybrid', 'conservative'] as const) {
    const sim = await overrun(policy);
    sim.submit('behind', { pods: 3, cpu: 2, walltime: 600 });
    await sim.pass();
    sim.now = 1_100;
    await passesUntil(sim, 5_000);
    const before = sim.reservations;
    for (const now of [5_100, 5_500, 5_900]) {
      sim.now = now;
      await sim.restart();
      expect((await sim.pass()).waits).toEqual([]);
      expect(sim.reservations).toEqual(before);
    }
  }
});

describe('quota', () => {
  /** `late` holds the quota of 4 cores past its end; `first` needs all of it. Nodes are free. */
  async function lacking(): Promise<Simulation> {
    const sim = await Simulation.of(nodesOf(4, 4));
    sim.queue('default', { quota: { cores: 4 } });
    sim.submit('late', { cpu: 3, walltime: 100 });
    await sim.pass();
    sim.submit('first', { cpu: 4, walltime: 50 });
    await sim.pass();
    sim.now = 1_100;
    return sim;
  }

  test('is kept from the predicted end, so that short workloads use it until then', async () => {
    const sim = await lacking();
    await passesUntil(sim, 2_000);
    sim.now = 2_000;
    sim.submit('short', { cpu: 1, walltime: 500 });
    sim.submit('long', { cpu: 1, walltime: 600 });
    expect(granted(await sim.pass())).toEqual(['short']);
    expect(sim.row('first').reason).toBe('QuotaExceeded');
  });

  test('a workload that lacks it is considered again when a prediction is reached, and no more often', async () => {
    const sim = await lacking();
    const { times, written } = await passesUntil(sim, 1_100 + DAY);
    expect(times).toHaveLength(12);
    // Only that its start is no longer known.
    expect(written).toBe(1);
    expect(sim.row('first').estimatedStart).toBeNull();
    await sim.finish('late');
    expect(granted(await sim.pass())).toEqual(['first']);
  });
});

describe('preemption', () => {
  test('waits while the pods of an overrun may still be terminating, and then no longer', async () => {
    const sim = await Simulation.of(nodesOf(2, 2));
    sim.queue('default', PREEMPTS);
    sim.submit('late', { cpu: 2, walltime: 100 });
    sim.submit('low', { cpu: 2, walltime: 5_000, preemptible: true });
    await sim.pass();
    sim.now = 1_070;
    sim.submit('urgent', { cpu: 2, walltime: 50, priority: 1 });
    const evicted: number[] = [];
    for (;;) {
      const { evictions, nextAt = Infinity } = await sim.pass();
      if (evictions.length > 0) evicted.push(sim.now);
      if (nextAt > 2_000) break;
      sim.now = nextAt;
    }
    expect(evicted).toEqual([1_190]);
  });

  test('a victim whose pods do not leave is an overrun: the plan moves eleven times in a day', async () => {
    const sim = await Simulation.of(nodesOf(2, 2));
    sim.queue('default', PREEMPTS);
    sim.submit('stuck', { pods: 2, cpu: 2, walltime: 5_000, preemptible: true });
    await sim.pass();
    sim.submit('urgent', { pods: 2, cpu: 2, walltime: 50, priority: 1 });
    await sim.pass();
    expect(sim.row('urgent')).toMatchObject({ reason: 'Reserved', estimatedStart: 1_045 });
    const { times, written } = await passesUntil(sim, 1_045 + DAY);
    expect([times.length, written]).toEqual([13, 1]);
    await sim.requeue('stuck');
    expect(granted(await sim.pass())).toEqual(['urgent']);
  });

  test('a victim that stays on one node leaves the others to backfill', async () => {
    const sim = await Simulation.of(nodesOf(3, 2));
    sim.queue('default', PREEMPTS);
    sim.submit('stuck', { cpu: 2, walltime: 50_000, preemptible: true });
    await sim.pass();
    sim.submit('urgent', { pods: 3, cpu: 2, walltime: 50, priority: 1 });
    await sim.pass();
    sim.now = 1_045;
    await passesUntil(sim, 4_000);
    sim.now = 4_000;
    for (const uid of ['a', 'b']) sim.submit(uid, { cpu: 2, walltime: 600 });
    expect(granted(await sim.pass())).toEqual(['a', 'b']);
  });
});

test('overruns that end in any order leave nothing behind', async () => {
  const sim = await Simulation.of(nodesOf(4, 2), { policy: 'conservative' });
  for (let i = 0; i < 4; i++) sim.submit(`late-${i}`, { cpu: 2, walltime: 100 + 7 * i });
  await sim.pass();
  sim.submit('wide', { pods: 4, cpu: 2 });
  await sim.pass();
  for (const i of [2, 0, 3, 1]) {
    sim.now += 333;
    await passesUntil(sim, sim.now);
    expect(reserved({ reservations: sim.reservations })).toEqual(['wide']);
    await sim.finish(`late-${i}`);
  }
  expect(granted(await sim.pass())).toEqual(['wide']);
  expect((await sim.fluxion.state()).jobs.map(({ jobid }) => jobid)).toEqual([5]);
});
