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

/** Seconds that the workloads of a stream run, in turn. */
const RUNS = [60, 105, 75, 120, 90];

/**
 * A pass now and then, containers that start up to four seconds after their grant, and workloads that end so many seconds before their
 * walltime, which is late where it is below 0: then promises are due, and cannot be kept yet.
 */
test.each([5, 0, -4])(
  'streams of three queues settle at their weights, and share one promise, with %i seconds to spare',
  async (spare) => {
    const sim = await Simulation.of(nodesOf(1, 14));
    const weights = { w1: 1, w2: 2, w4: 4 };
    const queues = Object.keys(weights) as (keyof typeof weights)[];
    sim.queue('lender', { cohort: 'lab', quota: { cores: 14 } });
    for (const queue of queues)
      sim.queue(queue, {
        ...{ cohort: 'lab', policy: 'easy', quota: { cores: 0 }, weight: weights[queue] },
        ...{ fairSharing: 'LessThanInitialShare', preemption: { minRuntimeSeconds: 300, limit: 5 } },
      });
    const numberOf = (uid: string) => Number(uid.split('-')[1]);
    const runOf = (number: number) => RUNS[(number * number) % RUNS.length]!;
    const starts = new Map<string, number>();
    let count = 0;
    const add = (queue: string) => {
      count += 1;
      sim.submit(`${queue}-${count}`, { queue, cpu: 1, walltime: runOf(count) + spare });
    };
    const endAndStart = async () => {
      for (const [uid, start] of starts) {
        const { allocation, allocatedAt } = sim.row(uid);
        const later = { ...allocation!, end: allocation!.end + start - allocatedAt! };
        if (start === sim.now) sim.change(uid, { startedAt: start, allocation: later });
        if (start + runOf(numberOf(uid)) > sim.now) continue;
        await sim.finish(uid);
        starts.delete(uid);
        add(uid.split('-')[0]!);
      }
    };
    const step = async () => {
      await endAndStart();
      if ((sim.now * 7) % 5 < 2) await sim.pass();
      expect(sim.reservations.length).toBeLessThanOrEqual(1);
      for (const { uid } of sim.running())
        if (!starts.has(uid)) starts.set(uid, sim.now + 1 + ((numberOf(uid) * 7) % 4));
      sim.now += 1;
    };
    for (let i = 0; i < 20; i++) add('w1');
    for (let i = 0; i < 20; i++) await step();
    for (const queue of ['w2', 'w4']) for (let i = 0; i < 20; i++) add(queue);
    const seen: number[][] = [];
    for (let i = 0; i < 600; i++) {
      await step();
      if (i >= 240) seen.push(queues.map((queue) => running(sim, queue)));
    }
    const mean = queues.map((_, i) => seen.reduce((sum, each) => sum + each[i]!, 0) / seen.length);
    const expected = queues.map((queue) => 2 * weights[queue]);
    for (const [i, cores] of expected.entries()) expect(Math.abs(mean[i]! - cores)).toBeLessThan(0.5);
  },
);
