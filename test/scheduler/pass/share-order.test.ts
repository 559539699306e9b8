/** Quota of a cohort that becomes free goes to its queues by their shares, where shares decide who is evicted. */
import type { FairSharing } from '../../../constructs/api/policies';
import { nodesOf, Simulation } from './simulation';

const HOURS = 72_000;

/** `lender` has used its 12 cores until now, and 13 small workloads of each of two queues wait for them. */
async function afterLender(sharing: FairSharing, weight = 1): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(1, 12));
  const preemption = { minRuntimeSeconds: 300, limit: 5 };
  const common = { cohort: 'lab', fairSharing: sharing, preemption, quota: { cores: 0 } };
  sim.queue('lender', { cohort: 'lab', quota: { cores: 12 } });
  sim.queue('first', { ...common, weight });
  sim.queue('second', common);
  sim.submit('own', { queue: 'lender', cpu: 12, walltime: 600 });
  await sim.pass();
  for (const queue of ['first', 'second'])
    for (let i = 0; i < 13; i++) sim.submit(`${queue}${i}`, { queue, cpu: 1, walltime: HOURS });
  await sim.pass();
  sim.now += 60;
  await sim.finish('own');
  for (let i = 0; i < 3; i++) await sim.pass({ freed: true });
  return sim;
}

const running = (sim: Simulation, queue: string) =>
  sim.running().filter(({ uid }) => sim.row(uid).queue === queue).length;

test.each([
  ['LessThanInitialShare', 1, [6, 6]],
  ['LessThanInitialShare', 3, [9, 3]],
  ['LessThanOrEqualToFinalShare', 1, [6, 6]],
  ['Never', 1, [12, 0]],
] as const)('%s, weight %i', async (sharing, weight, expected) => {
  const sim = await afterLender(sharing, weight);
  expect(['first', 'second'].map((queue) => running(sim, queue))).toEqual(expected);
  sim.now += 400;
  await sim.pass({ freed: true });
  expect(sim.evicted).toEqual([]);
});

test('what waits for its promised start leaves its turn to others of its queue', async () => {
  const sim = await Simulation.of(nodesOf(2, 6));
  const preemption = { minRuntimeSeconds: 300, limit: 5 };
  const common = { cohort: 'lab', fairSharing: 'LessThanInitialShare', preemption } as const;
  sim.queue('lender', { cohort: 'lab', quota: { cores: 12 } });
  for (const queue of ['first', 'second']) sim.queue(queue, { ...common, quota: { cores: 0 } });
  sim.submit('long', { queue: 'lender', cpu: 2, walltime: HOURS });
  sim.submit('own', { queue: 'lender', cpu: 6, walltime: 600 });
  await sim.pass();
  sim.submit('wide', { queue: 'second', cpu: 6, walltime: 600, exclusive: true });
  await sim.pass();
  for (const queue of ['first', 'second'])
    for (let i = 0; i < 4; i++) sim.submit(`${queue}${i}`, { queue, cpu: 1, walltime: 60 });
  await sim.pass();
  expect(['first', 'second'].map((queue) => running(sim, queue))).toEqual([2, 2]);
});
