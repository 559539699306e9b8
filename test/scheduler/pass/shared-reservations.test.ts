/** Reservations are shared by all queues of a policy: how workloads are dealt to queues changes no start. */
import type { QueuePolicy } from '../../../constructs/api/policies';
import type { QueueSettings } from '../../../runtime/queue/settings';
import fc from '../../fast-check';
import type { JobOptions } from './job-options';
import { nodesOf, reserved, Simulation } from './simulation';
import { type Arrival, trace } from './traces';

/** The start of each workload, by name, where workload i is of queue i modulo the number of queues. */
async function startsOf(
  jobs: readonly Arrival[],
  policy: QueuePolicy,
  queues: number,
): Promise<Readonly<Record<string, number>>> {
  const sim = await Simulation.of(nodesOf(4, 4), { policy });
  let at = sim.now;
  const arrivals = jobs.map(({ gap, ...job }, i) => {
    at += gap;
    return { at, submit: () => void sim.submit(`j${i}`, { ...job, queue: `q${i % queues}` }) };
  });
  await sim.run(arrivals);
  return Object.fromEntries(sim.started.map(({ uid, start }) => [uid, start]));
}

test('workloads start at the same second in one queue and in many', async () => {
  let waited = 0;
  await fc.assert(
    fc.asyncProperty(
      trace,
      fc.constantFrom<QueuePolicy>('easy', 'hybrid'),
      fc.integer({ min: 2, max: 8 }),
      async (jobs, policy, queues) => {
        const alone = await startsOf(jobs, policy, 1);
        let at = 1_000;
        jobs.forEach(({ gap }, i) => {
          at += gap;
          if (alone[`j${i}`]! > at) waited += 1;
        });
        expect(await startsOf(jobs, policy, queues)).toEqual(alone);
      },
    ),
    { numRuns: 60 },
  );
  expect(waited).toBeGreaterThan(0);
});

// Found by the seed of the 28th of November.
test('queues share how many reservations are planned again, too', async () => {
  const job = { gap: 0, exclusive: false, runs: 1 };
  const sets = [
    { name: 'driver', pods: 1, cpu: 1 },
    { name: 'worker', pods: 2, cpu: 1 },
  ];
  const jobs: readonly Arrival[] = [
    { ...job, pods: 1, cpu: 1, walltime: 2 },
    { ...job, pods: 4, cpu: 1, walltime: 19, exclusive: true },
    { ...job, pods: 2, cpu: 3, walltime: 11 },
    { ...job, pods: 3, cpu: 1, walltime: 8, exclusive: true, sets },
    { ...job, pods: 1, cpu: 1, walltime: 3 },
    { ...job, pods: 1, cpu: 1, walltime: 12 },
  ];
  expect(await startsOf(jobs, 'hybrid', 2)).toEqual(await startsOf(jobs, 'hybrid', 1));
});

/** Two nodes of four cores, one of them busy until 2000. */
async function halfBusy(): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(2, 4));
  sim.submit('running', { cpu: 4, walltime: 1_000 });
  await sim.pass();
  return sim;
}

const WIDE: JobOptions = { pods: 2, cpu: 4 };

async function reservedOf(
  queues: Readonly<Record<string, Partial<QueueSettings>>>,
  submit: (sim: Simulation) => void = () => undefined,
): Promise<readonly string[]> {
  const sim = await halfBusy();
  for (const [name, settings] of Object.entries(queues)) {
    sim.queue(name, settings);
    sim.submit(`of-${name}`, { ...WIDE, queue: name });
  }
  submit(sim);
  return reserved(await sim.pass());
}

test('hybrid queues share the largest number that one of them may have, in the order of the line', async () => {
  const hybrid = { policy: 'hybrid', reservations: 2 } as const;
  expect(await reservedOf({ a: hybrid, b: { ...hybrid, reservations: 1 }, c: hybrid, d: hybrid })).toEqual([
    'of-a',
    'of-c',
  ]);
});

test('queues of other policies take no reservation from those of easy', async () => {
  const queues = {
    a: { policy: 'conservative' },
    b: { policy: 'fcfs' },
    c: { policy: 'hybrid' },
    d: {},
    e: {},
  } as const;
  expect(await reservedOf(queues)).toEqual(['of-a', 'of-b', 'of-c', 'of-d']);
});

test('whoever waits for the quota of its own queue takes no reservation from others', async () => {
  const sim = await halfBusy();
  sim.queue('full', { quota: { cores: 4 } });
  sim.submit('runs', { queue: 'full', cpu: 4, walltime: 500 });
  await sim.pass();
  sim.submit('of-full', { queue: 'full', cpu: 4 });
  sim.submit('of-other', { ...WIDE, queue: 'other' });
  expect(reserved(await sim.pass())).toEqual(['of-full', 'of-other']);
});

test('queues that would borrow from a cohort have one reservation together, and one with own quota has its own', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  const member = (cores: number) => ({ cohort: 'lab', quota: { cores } });
  sim.queue('lender', member(4));
  sim.queue('a', member(4));
  sim.queue('b', member(4));
  for (const queue of ['a', 'a', 'b'])
    sim.submit(`runs-${queue}-${sim.rows.size}`, { queue, cpu: 4, walltime: 500 });
  await sim.pass();
  for (const queue of ['a', 'b', 'lender']) sim.submit(`of-${queue}`, { queue, cpu: 4 });
  expect(reserved(await sim.pass())).toEqual(['of-a', 'of-lender']);
});

test('a workload that may use nodes on which the first in line can not run is protected as well', async () => {
  const [plain, other] = nodesOf(2, 4);
  const properties = ['resource:nvidia.com/gpu'];
  const nodes = [plain!, { ...other!, units: { core: 4, gpu: 1 }, properties }];
  const sim = await Simulation.of(nodes);
  for (let i = 0; i < 2; i++) sim.submit(`runs${i}`, { cpu: 4, walltime: 500 });
  await sim.pass();
  const gpu = { containers: [{ resources: { requests: { cpu: 4, 'nvidia.com/gpu': 1 } } }] };
  sim.submit('gpu', { queue: 'a', pod: gpu });
  sim.submit('any', { queue: 'b', cpu: 4 });
  sim.submit('gpu-later', { queue: 'c', pod: gpu });
  sim.submit('any-later', { queue: 'd', cpu: 4 });
  expect(reserved(await sim.pass())).toEqual(['gpu', 'any']);
});

test('what was promised stays when a workload that comes before it is released', async () => {
  const sim = await halfBusy();
  sim.submit('held', { ...WIDE, queue: 'a', held: true });
  sim.submit('promised', { ...WIDE, queue: 'b' });
  await sim.pass();
  const start = sim.row('promised').estimatedStart;
  sim.change('held', { held: false });
  await sim.pass();
  expect(sim.row('promised').estimatedStart).toBe(start);
  await sim.run();
  expect(sim.startOf('promised')).toBe(start);
  expect(sim.startOf('held')).toBeGreaterThan(start!);
});

test('a promise that is lost with its nodes is given again, although an earlier workload has one by now', async () => {
  const sim = await Simulation.of(nodesOf(4, 4));
  sim.submit('running', { pods: 3, cpu: 4, walltime: 1_000 });
  await sim.pass();
  sim.submit('held', { ...WIDE, queue: 'a', held: true });
  sim.submit('promised', { ...WIDE, queue: 'b' });
  await sim.pass();
  sim.change('held', { held: false });
  expect(reserved(await sim.pass())).toEqual(['promised', 'held']);
  const lost = sim.reservations[0]!.allocation.nodes[0]!.name;
  const nodes = sim.nodes.map((node) => (node.name === lost ? { ...node, up: false } : node));
  await sim.fluxion.setStatus([lost], false);
  expect(reserved(await sim.pass({ nodes }))).toContain('promised');
});

test('a promise that is lost with its nodes comes before that of a later workload, which has the last reservation of the queue', async () => {
  const sim = await Simulation.of(nodesOf(3, 4));
  sim.queue('default', { policy: 'hybrid', reservations: 2 });
  for (const walltime of [500, 550, 700]) sim.submit(`runs-${walltime}`, { cpu: 4, walltime });
  await sim.pass();
  for (const uid of ['first', 'second']) sim.submit(uid, { cpu: 4 });
  await sim.pass();
  expect([sim.row('first').estimatedStart, sim.row('second').estimatedStart]).toEqual([1_500, 1_550]);
  sim.queue('default', { policy: 'easy' });
  const lost = sim.reservations[0]!.allocation.nodes[0]!.name;
  const nodes = sim.nodes.map((node) => (node.name === lost ? { ...node, up: false } : node));
  await sim.fluxion.setStatus([lost], false);
  expect(reserved(await sim.pass({ nodes }))).toEqual(['first']);
  expect(sim.row('first').estimatedStart).toBe(1_550);
});

describe.each(['nodes', 'quota', 'shares'] as const)('where all wait for %s', (lack) => {
  test.each(['hybrid', 'conservative'] as const)(
    'a queue with more reservations does not keep the nodes from earlier workloads of another queue, %s',
    async (policy) => {
      const sim = await Simulation.of(nodesOf(4, 4));
      const cohort = {
        cohort: 'lab',
        quota: { cores: 0 },
        ...(lack === 'shares' && { fairSharing: 'LessThanInitialShare' as const }),
        preemption: { minRuntimeSeconds: 100_000, limit: 1 },
      };
      sim.queue('many', { policy, ...(lack !== 'nodes' && cohort) });
      sim.queue('one', { policy: 'easy', ...(lack !== 'nodes' && cohort) });
      sim.queue('lender', { cohort: 'lab', quota: { cores: 16 } });
      for (let i = 0; i < 4; i++)
        sim.submit(`runs${i}`, { queue: 'many', cpu: 4, walltime: 36_000, runs: 90 + i });
      await sim.pass();
      const submit = (queue: string) => {
        sim.now += 1;
        for (let i = 0; i < 8; i++)
          sim.submit(`${queue}${i}`, { queue, cpu: 4, walltime: 36_000, runs: 90 + i });
      };
      submit('one');
      submit('many');
      await sim.run();
      // The first of each queue is promised a start, so they start in turn.
      for (let i = 0; i < 8; i++) expect(sim.startOf(`one${i}`)).toBeLessThanOrEqual(sim.startOf(`many${i}`));
    },
  );
});

test('what is promised stays, and more is promised when nobody waits before it', async () => {
  const sim = await Simulation.of(nodesOf(1, 4), { policy: 'conservative' });
  sim.queue('one', { policy: 'easy' });
  const wide = { cpu: 4, walltime: 1_000 };
  sim.submit('runs', wide);
  await sim.pass();
  for (const uid of ['a', 'b']) sim.submit(uid, wide);
  await sim.pass();
  const before = sim.reservations.map(({ uid, allocation }) => [uid, allocation.start]);
  expect(before).toEqual([
    ['a', 2_000],
    ['b', 3_000],
  ]);
  for (const uid of ['one0', 'one1']) sim.submit(uid, { ...wide, queue: 'one', priority: 1 });
  sim.submit('c', wide);
  await sim.pass();
  const promised = () => sim.reservations.map(({ uid }) => uid).sort();
  expect(promised()).toEqual(['a', 'b', 'one0']);
  await sim.finish('one1');
  await sim.pass({ freed: true });
  expect(promised()).toEqual(['a', 'b', 'c', 'one0']);
});
