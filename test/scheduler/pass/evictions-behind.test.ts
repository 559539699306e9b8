/** A workload behind another one of its queue, for which nobody can leave, evicts for itself: it delays no promise. */
import type { QueuePolicy } from '../../../constructs/api/policies';
import { granted, nodesOf, Simulation } from './simulation';

const HOURS = 72_000;
const PREEMPTION = { minRuntimeSeconds: 0, limit: 5 };
const PREEMPTS = { preempts: true, preemption: PREEMPTION };

const uids = ({ evictions }: Awaited<ReturnType<Simulation['pass']>>) => evictions.map(({ uid }) => uid);

/** `low` may leave. `head` waits for `first`, which stays until 1600, and `next` comes behind it. */
async function behindHead(policy: QueuePolicy, room: 'quota' | 'nodes', head = true): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(room === 'quota' ? 4 : 1, 4));
  sim.queue('default', { ...PREEMPTS, policy, ...(room === 'quota' && { quota: { cores: 4 } }) });
  sim.submit('first', { cpu: 3, walltime: 600 });
  sim.submit('low', { cpu: 1, walltime: 600, priority: -20, preemptible: true });
  await sim.pass();
  if (head) sim.submit('head', { cpu: 4, walltime: 600, priority: 50 });
  await sim.pass();
  sim.submit('next', { cpu: 1, walltime: 60, priority: 50 });
  return sim;
}

describe.each(['quota', 'nodes'] as const)('for %s', (room) => {
  test.each(['easy', 'hybrid', 'conservative'] as const)('it preempts, %s', async (policy) => {
    const sim = await behindHead(policy, room);
    expect(uids(await sim.pass())).toEqual(['low']);
    await sim.requeue('low');
    expect(granted(await sim.pass({ freed: true }))).toEqual(['next']);
    expect(sim.row('head').estimatedStart).toBe(1_600);
  });

  test('it waits for the head of a fcfs queue', async () => {
    const sim = await behindHead('fcfs', room);
    expect(uids(await sim.pass())).toEqual([]);
    const alone = await behindHead('fcfs', room, false);
    expect(uids(await alone.pass())).toEqual(['low']);
  });

  test('it evicts nobody if the head would start later', async () => {
    const sim = await behindHead('easy', room);
    await sim.finish('next');
    sim.submit('longer', { cpu: 1, walltime: HOURS, priority: 40 });
    expect(uids(await sim.pass())).toEqual([]);
    expect(sim.row('head').estimatedStart).toBe(1_600);
  });
});

test('those who would evict in vain cost a pass a few tries, and those behind them are tried as well', async () => {
  const sim = await Simulation.of(nodesOf(1, 16));
  sim.queue('default', { ...PREEMPTS, quota: { cores: 16 } });
  sim.submit('first', { cpu: 15, walltime: HOURS });
  sim.submit('low', { cpu: 1, walltime: HOURS, priority: -20, preemptible: true });
  await sim.pass();
  for (let i = 0; i < 200; i++) sim.submit(`wide${i}`, { cpu: 2 + (i % 3), walltime: 600, priority: 50 });
  sim.submit('next', { cpu: 1, walltime: 60, priority: 50 });
  const before = sim.now;
  const result = await sim.pass();
  expect(sim.now).toBe(before);
  expect(uids(result)).toEqual(['low']);
  expect(result.matches).toBeLessThan(40);
});

test('a queue takes its share although its head waits for nodes', async () => {
  const sim = await Simulation.of(nodesOf(2, 4));
  const shares = { cohort: 'lab', fairSharing: 'LessThanInitialShare', preemption: PREEMPTION } as const;
  sim.queue('heavy', { ...shares, quota: { cores: 0 } });
  sim.queue('light', { ...shares, quota: { cores: 0 } });
  sim.queue('lender', { cohort: 'lab', quota: { cores: 6 } });
  sim.queue('outside');
  sim.submit('node', { queue: 'outside', cpu: 1, walltime: 600 });
  await sim.pass();
  for (let i = 0; i < 6; i++) sim.submit(`heavy${i}`, { queue: 'heavy', cpu: 1, walltime: HOURS });
  await sim.pass();
  sim.submit('head', { queue: 'light', cpu: 4, walltime: HOURS, exclusive: true });
  await sim.pass();
  sim.submit('next', { queue: 'light', cpu: 1, walltime: 60 });
  expect(uids(await sim.pass())).toHaveLength(1);
});

test.each([
  [650, []],
  [680, ['low']],
] as const)(
  'nobody leaves for a start that comes a moment earlier: ends after %i s',
  async (walltime, evicted) => {
    const sim = await Simulation.of(nodesOf(1, 16));
    sim.queue('default', PREEMPTS);
    sim.submit('first', { cpu: 8, walltime: 645 });
    sim.submit('low', { cpu: 8, walltime, priority: -20, preemptible: true });
    await sim.pass();
    sim.submit('head', { cpu: 16, walltime: 600, priority: 50 });
    sim.now += 600;
    expect(uids(await sim.pass({ freed: true }))).toEqual(evicted);
  },
);
