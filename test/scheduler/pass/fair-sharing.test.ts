import { PREEMPTS } from './settings';
import { nodesOf, Simulation } from './simulation';

const FIRM = { walltime: 36_000, leaves: 20 };
const SHARING = {
  cohort: 'lab',
  quota: { cores: 4 },
  preemption: PREEMPTS.preemption,
  fairSharing: 'LessThanInitialShare',
} as const;

/** The heavy queue borrows the quota of the idle one, and the light queue would use its own quota and some of the rest. */
async function heavyUse(over: Partial<Parameters<Simulation['queue']>[1]> = {}): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(3, 4));
  for (const queue of ['light', 'heavy', 'idle']) sim.queue(queue, { ...SHARING, ...over });
  for (const uid of ['h0', 'h1', 'h2']) sim.submit(uid, { ...FIRM, queue: 'heavy', cpu: 4, priority: 1 });
  await sim.pass();
  sim.now += 10;
  return sim;
}

test('starts when the victim has left, although the victim has the higher priority, and evicts once', async () => {
  const sim = await heavyUse();
  sim.submit('own', { ...FIRM, queue: 'light', cpu: 4, walltime: 600 });
  await sim.run();
  expect(sim.evicted.map(({ uid, message }) => `${uid} ${message}`)).toEqual([
    'h2 preempted by science/own, whose queue has a smaller share of cohort lab',
  ]);
  expect(sim.startOf('own')).toBe(1_030);
});

test('evicts by share although the first in line of another queue has the reservation', async () => {
  const sim = await heavyUse();
  sim.submit('first', { ...FIRM, queue: 'heavy', cpu: 4 });
  await sim.pass();
  sim.submit('own', { ...FIRM, queue: 'light', cpu: 4 });
  await sim.pass();
  expect(sim.evicted.map(({ uid }) => uid)).toEqual(['h2']);
});

test('evicts by priority although the first in line of another queue has the reservation', async () => {
  const sim = await Simulation.of(nodesOf(3, 4));
  const QUEUE = { cohort: 'lab', quota: { cores: 4 }, ...PREEMPTS };
  sim.queue('light', QUEUE);
  for (const queue of ['heavy', 'idle']) sim.queue(queue, { ...QUEUE, preempts: false });
  sim.submit('own', { ...FIRM, queue: 'light', cpu: 4 });
  for (const uid of ['h0', 'h1']) sim.submit(uid, { ...FIRM, queue: 'heavy', cpu: 4, preemptible: true });
  sim.submit('first', { ...FIRM, queue: 'heavy', cpu: 4, priority: 3 });
  await sim.pass();
  sim.submit('urgent', { ...FIRM, queue: 'light', cpu: 4, priority: 2 });
  await sim.pass();
  expect(sim.evicted.map(({ uid }) => uid)).toEqual(['h0']);
});

test('waits until a borrower has run for the minimum time, and never evicts one that reached its limit', async () => {
  const sim = await heavyUse({ preemption: { minRuntimeSeconds: 60, limit: 1 } });
  sim.change('h2', { preemptions: 1 });
  sim.submit('own', { ...FIRM, queue: 'light', cpu: 4 });
  await sim.run();
  expect(sim.evicted.map(({ uid, at }) => [uid, at])).toEqual([['h1', 1_060]]);
  expect(sim.startOf('own')).toBe(1_080);
});

test('compares shares as they will be with whole nodes, not as they are requested', async () => {
  const sim = await heavyUse();
  sim.submit('own', { ...FIRM, queue: 'light', cpu: 1, pods: 2, exclusive: true });
  await sim.pass();
  // Two whole nodes are 8 cores, as much as the heavy queue would have left.
  expect(sim.evicted).toEqual([]);
});
