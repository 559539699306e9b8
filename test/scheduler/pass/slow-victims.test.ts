/** A workload that leaves slowly does not stand for others that would leave at once. */
import { PREEMPTS } from './settings';
import { nodesOf, Simulation } from './simulation';

const HOURS = 72_000;

const uids = ({ evictions }: Awaited<ReturnType<Simulation['pass']>>) => evictions.map(({ uid }) => uid);

/** So long its pods may need to leave. */
const grace = (seconds: number) => ({ pod: { terminationGracePeriodSeconds: seconds } });

/** `slow` leaves within half an hour for `first`, and `brief` could leave within a minute. */
async function slowAndBrief(cores = 4): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(8 / cores, cores));
  sim.queue('default', PREEMPTS);
  sim.submit('slow', { cpu: 4, walltime: HOURS, priority: -20, preemptible: true, ...grace(1_800) });
  sim.submit('brief', { cpu: 4, walltime: HOURS, priority: -10, preemptible: true });
  await sim.pass();
  sim.now += 10;
  sim.submit('first', { cpu: 4, walltime: 3_600, priority: 50 });
  expect(uids(await sim.pass())).toEqual(['slow']);
  sim.now += 5;
  return sim;
}

/** The same of quota that `guest` has borrowed of `owner`. */
async function slowAndBriefBorrowers(): Promise<Simulation> {
  const sim = await Simulation.of(nodesOf(6, 4));
  sim.queue('owner', { cohort: 'lab', quota: { cores: 8 }, reclaim: true });
  sim.queue('guest', { cohort: 'lab', quota: { cores: 0 } });
  sim.submit('slow', { queue: 'guest', cpu: 4, walltime: HOURS, priority: -20, ...grace(1_800) });
  sim.submit('brief', { queue: 'guest', cpu: 4, walltime: HOURS, priority: -10 });
  await sim.pass();
  sim.now += 10;
  sim.submit('first', { queue: 'owner', cpu: 4, walltime: 3_600 });
  expect(uids(await sim.pass())).toEqual(['slow']);
  sim.now += 5;
  return sim;
}

describe.each([
  ['on nodes', () => slowAndBrief(), 'default', 50],
  ['on one node', () => slowAndBrief(8), 'default', 50],
  ['for quota', slowAndBriefBorrowers, 'owner', 0],
] as const)('%s', (_, prepare, queue, priority) => {
  test.each([600, 7_200])('others leave for what would wait for it, walltime %i', async (walltime) => {
    const sim = await prepare();
    sim.submit('second', { queue, cpu: 4, walltime, priority });
    expect(uids(await sim.pass({ freed: true }))).toEqual(['brief']);
    expect(sim.row('second').estimatedStart).toBe(sim.now + 45);
    expect(sim.row('first').estimatedStart).toBeLessThanOrEqual(sim.now + 1_810);
  });

  test('others leave for what would take its place by a higher priority', async () => {
    const sim = await prepare();
    sim.submit('second', { queue, cpu: 4, walltime: 600, priority: 90 });
    expect(uids(await sim.pass({ freed: true }))).toEqual(['brief']);
    expect(sim.row('second').estimatedStart).toBe(sim.now + 45);
    expect(sim.row('first').estimatedStart).toBeGreaterThan(sim.now + 45);
  });

  test('others leave where nobody waits for it any more', async () => {
    const sim = await prepare();
    await sim.finish('first');
    sim.submit('second', { queue, cpu: 4, walltime: 600, priority });
    expect(uids(await sim.pass({ freed: true }))).toEqual(['brief']);
  });

  test('nobody else leaves for what it leaves for', async () => {
    const sim = await prepare();
    expect(uids(await sim.pass({ freed: true }))).toEqual([]);
  });

  test('nobody leaves for what starts when it is gone, or a moment before', async () => {
    const sim = await prepare();
    await sim.finish('first');
    sim.now += 1_780;
    sim.submit('second', { queue, cpu: 4, walltime: 600, priority });
    expect(uids(await sim.pass({ freed: true }))).toEqual([]);
  });
});

test('others leave where one that has to leave is stuck on its node', async () => {
  const sim = await Simulation.of(nodesOf(2, 4));
  sim.queue('default', PREEMPTS);
  sim.submit('stuck', { cpu: 4, walltime: HOURS, priority: -20, preemptible: true });
  sim.submit('brief', { cpu: 4, walltime: HOURS, priority: -10, preemptible: true });
  await sim.pass();
  sim.now += 10;
  sim.submit('first', { cpu: 4, walltime: 600, priority: 50 });
  expect(uids(await sim.pass())).toEqual(['stuck']);
  await sim.finish('first');
  sim.now += 3_600;
  sim.submit('second', { cpu: 4, walltime: 600, priority: 50 });
  expect(uids(await sim.pass({ freed: true }))).toEqual(['brief']);
});

test('a queue does not lose more than it borrowed because one of its workloads leaves slowly', async () => {
  const sim = await slowAndBriefBorrowers();
  sim.queue('guest', { cohort: 'lab', quota: { cores: 4 } });
  sim.queue('owner', { cohort: 'lab', quota: { cores: 4 }, reclaim: true });
  await sim.finish('first');
  sim.submit('second', { queue: 'owner', cpu: 4, walltime: 600 });
  expect(uids(await sim.pass({ freed: true }))).toEqual([]);
});
