import { QUEUE_POLICIES, type QueuePolicy } from '../../constructs/api/policies';
import type { QueueSettings } from '../../runtime/queue/settings';
import type { PassResult } from '../../runtime/scheduler/pass/types';
import {
  mayBePlanned,
  needsPlan,
  PLANNED,
  type PlanInput,
  plannedLine,
  planQueue,
} from '../../runtime/scheduler/queue-plan';
import { Random } from '../fuzz/random';
import { rowIn } from '../queue/rows';
import { nodesOf, Simulation } from './pass/simulation';
import { inputOf, planned, settings } from './planned-in';

async function busyCluster(policy: QueuePolicy): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(2, 1), { policy });
  sim.submit('running', { pods: 2, walltime: 100 });
  sim.submit('first', { pods: 2, walltime: 50 });
  sim.submit('second', { pods: 1, walltime: 30 });
  sim.submit('third', { pods: 2, walltime: 10 });
  return sim;
}

test('easy: those behind the promised first have planned starts', async () => {
  const sim = await busyCluster('easy');
  const result = await sim.pass();
  expect(result.reservations.map(({ uid }) => uid)).toEqual(['first']);
  expect(await planned(sim, result)).toEqual({ second: 150, third: 180 });
});

test('fcfs: everybody has a planned start, and nobody before those ahead', async () => {
  const sim = await busyCluster('fcfs');
  sim.submit('small', { pods: 1, walltime: 5 });
  // Alone it would fit beside `second`.
  expect(await planned(sim, await sim.pass())).toEqual({ second: 150, third: 180, small: 190 });
  const gap = await Simulation.of(nodesOf(2, 1), { policy: 'fcfs' });
  gap.submit('running', { pods: 1, walltime: 100 });
  gap.submit('wide', { pods: 2, walltime: 50 });
  gap.submit('narrow', { pods: 1, walltime: 10 });
  expect(await planned(gap, await gap.pass())).toEqual({ narrow: 150 });
});

test('changes nothing that a pass decides by', async () => {
  const sim = await busyCluster('easy');
  const result = await sim.pass();
  const before = await sim.fluxion.state();
  await planned(sim, result);
  expect(await sim.fluxion.state()).toEqual(before);
});

test('counts quotas, running limits and pods outside the queue', async () => {
  const sim = await Simulation.of(nodesOf(2, 1), { policy: 'easy' });
  sim.submit('running', { pods: 1, walltime: 100 });
  sim.submit('wide', { pods: 2, walltime: 50 });
  sim.submit('narrow', { pods: 1, walltime: 500 });
  const limited = settings('easy', { limits: { queue: { running: 1 }, user: {} } });
  sim.queue('default', limited);
  const result = await sim.pass();
  expect(await planned(sim, result, { queues: [limited] })).toEqual({ narrow: 150 });
  expect(await planned(sim, result, { unmanaged: new Map([['n1', { core: 1 }]]) })).toEqual({ narrow: 100 });
});

test('plans a limited number of workloads of each queue', async () => {
  const sim = await Simulation.of(nodesOf(1, 1), { policy: 'easy' });
  for (let i = 0; i < 3 * PLANNED; i++) sim.submit(`j${i}`);
  const plan = await planned(sim, await sim.pass());
  // One of them has a promise.
  expect(Object.keys(plan!)).toHaveLength(PLANNED - 1);
});

test('ends when its time is over, with what it has', async () => {
  const sim = await busyCluster('easy');
  const result = await sim.pass();
  expect(await planned(sim, result, { isOver: () => true })).toBeUndefined();
  let asked = 0;
  // Until the first of them has ended and the next one has started.
  const isOver = () => ++asked > 12;
  expect(await planned(sim, result, { isOver })).toEqual({ second: 150 });
});

test('rests and looks at its time after each node with pods outside the queue', async () => {
  const sim = await Simulation.of(nodesOf(50, 2), { policy: 'easy' });
  sim.submit('wide', { pods: 101 });
  const unmanaged = new Map(sim.nodes.map(({ name }) => [name, { core: 1 }]));
  let rests = 0;
  const rest = () => {
    rests += 1;
    return undefined;
  };
  expect(await planned(sim, await sim.pass(), { unmanaged, rest, isOver: () => rests > 10 })).toBeUndefined();
  expect(rests).toBe(11);
});

test('is needed only while somebody near the front has no promise', async () => {
  const easy = await busyCluster('easy');
  const line = ({ line: rows }: PassResult, sim: Simulation) => rows.map(({ uid }) => sim.row(uid));
  const waiting = line(await easy.pass(), easy).filter(({ phase }) => phase === 'Waiting');
  expect(needsPlan(waiting)).toBe(true);
  expect(needsPlan(waiting.slice(0, 1))).toBe(false);
  expect(needsPlan([])).toBe(false);
});

test.each<QueuePolicy>(['easy', 'fcfs'])(
  '%s: says where and until when, also of a promise',
  async (policy) => {
    const sim = await busyCluster(policy);
    const plan = await planQueue(inputOf(sim, await sim.pass(), {}));
    const spans = [...plan!.allocations].map(([uid, { start, end, nodes }]) => {
      return [uid, [start - sim.now, end - sim.now, nodes.length]] as const;
    });
    expect(Object.fromEntries(spans)).toEqual({
      first: [100, 150, 2],
      second: [150, 180, 1],
      third: [180, 190, 2],
    });
  },
);

test('a promise that the plan does not reach ends with the walltime, as one that it reaches', async () => {
  const sim = await Simulation.of(nodesOf(1, 1), { policy: 'easy' });
  sim.submit('running', { walltime: 100 });
  await sim.pass();
  sim.submit('slow', { walltime: 50, pod: { terminationGracePeriodSeconds: 600 } });
  const input = inputOf(sim, await sim.pass(), {});
  for (const wanted of [new Set(['slow']), new Set<string>()])
    expect((await planQueue(input, wanted))!.allocations.get('slow')).toMatchObject({
      start: 1_100,
      end: 1_150,
    });
});

test('says why a workload of the plan has no start', async () => {
  const sim = await busyCluster('easy');
  const result = await sim.pass();
  sim.submit('impossible', { pods: 3 });
  const line = [...sim.rows.values()].filter(({ phase }) => phase === 'Waiting');
  const plan = await planQueue(inputOf(sim, result, { line }));
  expect(plan!.allocations.get('impossible')).toBeUndefined();
  expect(plan!.waits.get('impossible')).toMatchObject({
    reason: 'Unsatisfiable',
    message: expect.stringContaining('asks for'),
    estimatedStart: null,
  });
});

test('what exceeds its quota even alone does not wait behind the plan', async () => {
  const sim = await Simulation.of(nodesOf(2, 2));
  sim.queue('default', { quota: { cores: 2 } });
  sim.submit('running', { cpu: 2 });
  sim.submit('too-large', { pods: 2, cpu: 2 });
  sim.submit('behind', { cpu: 2 });
  await sim.pass();
  expect(sim.row('too-large').reason).toBe(sim.row('behind').reason);
  expect(['too-large', 'behind'].map((uid) => mayBePlanned(sim.row(uid)))).toEqual([false, true]);
});

test('is of the first 200 in line, and of the first 16 of each queue', () => {
  const row = (n: number) => rowIn('Waiting', { uid: `${n}`, queue: n < 300 ? 'default' : 'other' });
  const line = Array.from({ length: 400 }, (_, n) => row(n));
  const planned = plannedLine(line).map(({ uid }) => Number(uid));
  expect(planned).toEqual([...Array(200).keys(), ...Array.from({ length: PLANNED }, (_, i) => 300 + i)]);
});

test('a node that lost units holds what is left of them for what overruns on it', async () => {
  const sim = await Simulation.of(nodesOf(1, 4), { policy: 'easy' });
  sim.submit('kept', { pods: 1, cpu: 2, walltime: 500 });
  sim.submit('stuck', { pods: 1, cpu: 2, walltime: 10, runs: 1_000 });
  await sim.pass();
  sim.now += 20;
  sim.submit('next', { pods: 1, cpu: 2, walltime: 50 });
  const nodes = new Map(nodesOf(1, 3).map((node) => [node.name, node]));
  const plan = await planQueue(inputOf(sim, await sim.pass(), { nodes, reservations: [] }));
  expect([...plan!.allocations].map(([uid, { start }]) => [uid, start - sim.now])).toEqual([['next', 480]]);
});

test.each([
  ['before its walltime is over', 0],
  ['in its grace period', 200],
])('counts the grace period of what runs, %s', async (_when, seconds) => {
  const sim = await Simulation.of(nodesOf(3, 1), { policy: 'easy' });
  sim.submit('slow', { pods: 2, walltime: 100, pod: { terminationGracePeriodSeconds: 600 } });
  await sim.pass();
  sim.submit('big', { pods: 3, walltime: 600 });
  sim.submit('next', { pods: 3, walltime: 60, pod: { terminationGracePeriodSeconds: 50 } });
  sim.submit('last', { pods: 3, walltime: 60 });
  await sim.pass();
  sim.now += seconds;
  const next = 100 + 570 + 600 - seconds;
  expect(await planned(sim, await sim.pass())).toEqual({ next, last: next + 60 + 20 });
});

test('a likely start counts no longer than the walltime and the grace period', async () => {
  const sim = await Simulation.of(nodesOf(1, 1), { policy: 'easy' });
  sim.submit('slow', { walltime: 100, pod: { terminationGracePeriodSeconds: 600 } });
  await sim.pass();
  sim.submit('next', { walltime: 60 });
  const result = await sim.pass();
  expect(await planned(sim, result, { runtimeOf: () => 5_000 })).toEqual({ next: 100 + 570 });
  expect(await planned(sim, result, { runtimeOf: () => 20 })).toEqual({ next: 20 });
});

/** A queue as any, whose workloads use their walltime to the second. */
async function madeCluster(policy: QueuePolicy, seed: number): Promise<Simulation> {
  const random = new Random(seed);
  const whole = (most: number) => 1 + Math.floor(random.next() * most);
  const sim = await Simulation.of(nodesOf(6, 2), { policy });
  for (let n = 0; n < 40; n++)
    sim.submit(`j${n}`, { pods: whole(8), walltime: whole(9) * 10, priority: n % 3 });
  return sim;
}

describe.each(QUEUE_POLICIES)('a plan of a %s queue', (policy) => {
  test.each([...Array(15).keys()])('is what happens, seed %i', async (seed) => {
    const sim = await madeCluster(policy, seed);
    const plan = await planQueue(inputOf(sim, await sim.pass(), {}));
    const starts = [...plan!.allocations].map(([uid, { start }]) => [uid, start]);
    await sim.run();
    expect(starts.map(([uid]) => [uid, sim.startOf(uid as string)])).toEqual(starts);
    expect(starts.length).toBeGreaterThan(25);
  });
});

/** Queues of one cohort that borrow all that they have, and of which nobody has to leave. */
async function lentCluster(over: Partial<QueueSettings>, seed: number): Promise<Simulation> {
  const random = new Random(seed);
  const whole = (most: number) => 1 + Math.floor(random.next() * most);
  const sim = await Simulation.of(nodesOf(1, 14));
  const cohort = { cohort: 'lab', preemption: { minRuntimeSeconds: 100_000, limit: 5 } };
  sim.queue('lender', { ...cohort, quota: { cores: 14 } });
  for (const weight of [1, 2, 4])
    sim.queue(`w${weight}`, { ...cohort, quota: { cores: 0 }, weight, ...over });
  for (let n = 0; n < 40; n++)
    sim.submit(`j${n}`, {
      queue: ['w1', 'w2', 'w4'][n < 14 ? 0 : n % 3]!,
      cpu: whole(2),
      walltime: whole(9) * 10,
    });
  return sim;
}

describe.each<Partial<QueueSettings>>([
  { fairSharing: 'LessThanInitialShare' },
  { fairSharing: 'LessThanOrEqualToFinalShare' },
  { fairSharing: 'Never' },
])('a plan of lent quota with %j', (over) => {
  test.each([...Array(10).keys()])('is what happens, seed %i', async (seed) => {
    const sim = await lentCluster(over, seed);
    const result = await sim.pass();
    const plan = await planQueue(
      inputOf(sim, result, { queues: sim.queuesOf([]).map((queue) => queue.settings) }),
    );
    const starts = [...plan!.allocations].map(([uid, { start }]) => [uid, start]);
    await sim.run();
    expect(starts.map(([uid]) => [uid, sim.startOf(uid as string)])).toEqual(starts);
    expect(starts.length).toBeGreaterThan(20);
  });
});

test('own quota comes before what others would borrow, in a plan too', async () => {
  const sim = await Simulation.of(nodesOf(1, 4));
  sim.queue('owner', { cohort: 'lab', quota: { cores: 2 }, reclaim: true });
  sim.queue('lender', { cohort: 'lab', quota: { cores: 2 } });
  sim.queue('borrower', { cohort: 'lab', quota: { cores: 0 } });
  sim.submit('own', { queue: 'owner', cpu: 2, walltime: 100 });
  sim.submit('lent', { queue: 'lender', cpu: 2, walltime: 100 });
  await sim.pass();
  for (const uid of ['first', 'second', 'third'])
    sim.submit(uid, { queue: 'borrower', cpu: 2, walltime: 50 });
  sim.submit('owned', { queue: 'owner', cpu: 2, walltime: 50 });
  const queues = sim.queuesOf([]).map(({ settings: known }) => known);
  const plan = await planned(sim, await sim.pass(), { queues, reservations: [] });
  expect(plan).toMatchObject({ owned: 100, first: 100, second: 150 });
});

describe('by usual runtimes', () => {
  const RUNTIMES = { ada: 20, eve: 1_000 } as const;
  const runtimeOf = ({ user }: { readonly user: string }) => RUNTIMES[user as keyof typeof RUNTIMES];

  async function played(user: string, over: Partial<PlanInput> = {}, seconds = 0) {
    const sim = await busyCluster('easy');
    await sim.pass();
    sim.now += seconds;
    for (const row of sim.rows.values()) sim.rows.set(row.uid, { ...row, user });
    return planned(sim, await sim.pass(), { runtimeOf, ...over });
  }

  test('everybody starts sooner, those with a promise too', async () => {
    expect(await played('ada')).toEqual({ first: 20, second: 40, third: 60 });
  });

  test('nobody runs for longer than the walltime', async () => {
    expect(await played('eve')).toEqual({ first: 100, second: 150, third: 180 });
  });

  test('whose runtimes nobody knows runs for its walltime', async () => {
    expect(await played('new')).toEqual({ first: 100, second: 150, third: 180 });
  });

  test('what has run for longer than usual runs for as long again, within its walltime', async () => {
    expect(await played('ada', {}, 30)).toEqual({ first: 30, second: 50, third: 70 });
    expect(await played('ada', {}, 60)).toEqual({ first: 40, second: 60, third: 80 });
  });
});
