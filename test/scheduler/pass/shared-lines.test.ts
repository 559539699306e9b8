/** What queues that share their reservations may not do to each other, or to their own first in line. */
import { PREEMPTS } from './settings';
import { granted, nodesOf, reserved, Simulation } from './simulation';

test.each(['submission', 'shortestArea'] as const)(
  'the first in line of a full quota starts as its quota allows, with the order %s',
  async (backfillOrder) => {
    const sim = await Simulation.of(nodesOf(4, 4));
    sim.queue('b', { backfillOrder, quota: { cores: 4 } });
    sim.submit('long', { queue: 'c', cpu: 4, walltime: 50_000 });
    for (const walltime of [100, 150]) sim.submit(`runs${walltime}`, { queue: 'b', cpu: 2, walltime });
    await sim.pass();
    sim.submit('first', { queue: 'a', pods: 4, cpu: 4, walltime: 100 });
    sim.submit('head', { queue: 'b', cpu: 4, walltime: 400 });
    const small = (i: number) => ({
      at: 1001 + i * 50,
      submit: () => void sim.submit(`small${i}`, { queue: 'b', cpu: 2, walltime: 100 }),
    });
    await sim.run(Array.from({ length: 20 }, (_, i) => small(i)));
    expect(sim.startOf('head')).toBe(1150);
  },
);

test.each([8, 4])(
  'a victim with a grant of %d cores frees what its surplus is charged, too',
  async (grant) => {
    const sim = await Simulation.of(nodesOf(2, 8));
    sim.queue('team', { ...PREEMPTS, quota: { cores: 8 } });
    sim.submit('low', { queue: 'team', cpu: grant, priority: -1, preemptible: true, walltime: 5000 });
    await sim.pass();
    sim.now += 1000;
    sim.submit('high', { queue: 'team', cpu: 8, priority: 1, walltime: 100 });
    const surplus = { pods: 1, units: { core: 4 } };
    const { evictions } = await sim.pass({ surpluses: new Map(grant === 8 ? [] : [['low', surplus]]) });
    expect(evictions.map(({ uid }) => uid)).toEqual(['low']);
  },
);

test.each([false, true])(
  'own quota of nodes is promised whoever waits before, a rival: %s',
  async (hasRival) => {
    const sim = await Simulation.of(nodesOf(4, 4));
    sim.queue('b', { quota: { nodes: 2 } });
    sim.submit('runs-b', { queue: 'b', cpu: 4, walltime: 500 });
    sim.submit('runs-c', { queue: 'c', cpu: 4, walltime: 5000 });
    await sim.pass();
    if (hasRival) sim.submit('first', { queue: 'a', pods: 4, cpu: 4 });
    sim.submit('wide', { queue: 'b', pods: 2, cpu: 4 });
    sim.submit('small', { queue: 'b', cpu: 4, walltime: 2000 });
    expect(granted(await sim.pass())).toEqual([]);
    expect(sim.row('wide').estimatedStart).toBe(1500);
  },
);

/** A workload that is next in its queue, and another one behind it, much later than those that run. @param walltime of that one */
function submitLine(sim: Simulation, hasRival: boolean, walltime: number): void {
  sim.now += 1000;
  const rest = { priority: 5, cpu: 4, walltime: 100 };
  if (hasRival) sim.submit('first', { queue: 'a', pods: 4, ...rest });
  sim.submit('next', { queue: 'b', pods: 4, ...rest });
  sim.submit('behind', { queue: 'b', ...rest, walltime });
}

/** A rival of another queue; the walltime of who is behind the next; whether it evicts. It delays no promise. */
const BEHIND = [
  [false, 3_000, true],
  [true, 3_000, true],
  [false, 9_000, false],
  [true, 9_000, false],
] as const;

test.each(BEHIND)(
  'who is behind the next of a preempting queue, a rival: %s, walltime %i, evicts: %s',
  async (hasRival, walltime, evicts) => {
    const sim = await Simulation.of(nodesOf(4, 4));
    sim.queue('x', { preemption: PREEMPTS.preemption });
    sim.queue('b', { ...PREEMPTS });
    for (const i of [1, 2])
      sim.submit(`low${i}`, { queue: 'x', cpu: 4, walltime: 5000, preemptible: true, priority: -1 });
    for (const i of [1, 2]) sim.submit(`firm${i}`, { queue: 'x', cpu: 4, walltime: 5000 });
    await sim.pass();
    submitLine(sim, hasRival, walltime);
    expect((await sim.pass()).evictions).toHaveLength(evicts ? 1 : 0);
  },
);

test.each(BEHIND)(
  'who is behind the next evicts for the quota of its cohort, a rival: %s, walltime %i, evicts: %s',
  async (hasRival, walltime, evicts) => {
    const sim = await Simulation.of(nodesOf(8, 4));
    const cohort = 'physics';
    sim.queue('a', { cohort, quota: { cores: 8 } });
    sim.queue('b', { ...PREEMPTS, cohort, quota: { cores: 8 } });
    sim.submit('low', { queue: 'b', cpu: 4, walltime: 5000, preemptible: true, priority: -1 });
    for (const i of [1, 2, 3]) sim.submit(`firm${i}`, { queue: 'a', cpu: 4, walltime: 5000 });
    await sim.pass();
    submitLine(sim, hasRival, walltime);
    expect((await sim.pass()).evictions).toHaveLength(evicts ? 1 : 0);
  },
);

test('promises of several queues that are due at once start in one pass', async () => {
  const kinds = Array.from({ length: 12 }, (_, i) => i);
  const sim = await Simulation.of(
    kinds.map((i) => ({ name: `n${i}`, units: { core: 4 }, properties: [`kind=${i}`] })),
  );
  const on = (i: number) => ({ queue: `q${i}`, cpu: 4, pod: { nodeSelector: { kind: String(i) } } });
  for (const i of kinds) sim.submit(`runs${i}`, { ...on(i), walltime: i === 0 ? 5000 : 500 });
  await sim.pass();
  sim.submit('promised', { ...on(0), queue: 'a' });
  sim.submit('refused', { ...on(0), queue: 'b', cpu: 3 });
  for (const i of kinds.slice(1)) sim.submit(`waits${i}`, on(i));
  await sim.pass();
  expect(reserved({ reservations: sim.reservations })).toHaveLength(12);
  sim.now = 1500;
  for (const i of kinds.slice(1)) await sim.finish(`runs${i}`);
  expect(granted(await sim.pass())).toHaveLength(11);
});
