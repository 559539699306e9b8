import { jobSizes } from '../../../runtime/scheduler/pass/job-size';
import { factorsOf, inOrder, pointsOf } from '../../../runtime/scheduler/pass/order';
import { orderedRow as row } from './ordered';
import { queueSettings } from './settings';
import { nodesOf, Simulation } from './simulation';

const HOUR = 3_600;

test('a little aging does not take precedence over queues without it', () => {
  const [older, aging] = [row({ queue: 'plain' }), row({ queue: 'aging', submittedAt: HOUR })];
  const settings = {
    plain: queueSettings({ name: 'plain' }),
    aging: queueSettings({ name: 'aging', agingPerHour: 0.001 }),
  };
  const settingsOf = (name: string) => settings[name as keyof typeof settings];
  expect(inOrder([aging, older], { now: 5 * HOUR, settingsOf })).toEqual([older, aging]);
  const shares = { queue: (name: string) => (name === 'plain' ? 0.9 : 0.1), user: () => 1 };
  const later = { ...older, submittedAt: 3 * HOUR };
  expect(inOrder([aging, later], { now: 5 * HOUR, settingsOf, shares })).toEqual([later, aging]);
});

/** A stream of small jobs of one user keeps more than the machine busy; another one has used much, and needs all of it. */
async function waitOfWide(isFair: boolean): Promise<number> {
  const sim = await Simulation.of(nodesOf(8, 1));
  if (isFair)
    sim.fairShare = {
      queueUsage: () => 1_001,
      userUsage: (_, user) => (user === 'heavy' ? 1_000 : 1),
    };
  const start = sim.now;
  const stream = Array.from({ length: 9 * 96 }, (_, i) => ({
    at: start + i * 400,
    submit: () => void sim.submit(`small${i}`, { walltime: HOUR, user: 'light' }),
  }));
  const submit = () => void sim.submit('wide', { pods: 8, walltime: HOUR, user: 'heavy' });
  await sim.run([...stream, { at: start + 2 * HOUR, submit }]);
  return sim.startOf('wide') - start - 2 * HOUR;
}

test('fair share does not starve a workload of a heavy user that needs the whole machine', async () => {
  expect(await waitOfWide(false)).toBeLessThan(3 * HOUR);
  // At the maximum age, no share is worth more.
  expect(await waitOfWide(true)).toBeLessThan(26 * HOUR);
});

test('adds own priority, queue, age, fair share and size, each bounded by its weight', () => {
  const priorityWeights = { age: 10, fairShare: 20, size: 4, queue: 3, maxAgeSeconds: 10 * HOUR };
  const settings = queueSettings({ priorityWeights, priority: { min: 0, max: 50 } });
  const precedence = {
    now: 5 * HOUR,
    settingsOf: () => settings,
    shares: { queue: () => 0.5, user: () => 0.5 },
    sizeOf: () => 0.25,
  };
  const factors = factorsOf(row({ priority: 70 }), precedence);
  expect(factors).toEqual({ own: 50, queue: 3, age: 5, fairShare: 5, size: 1 });
  expect(pointsOf(factors)).toBe(64);
  expect(factorsOf(row(), { ...precedence, now: 1e9 }).age).toBe(10);
  expect(factorsOf(row({ submittedAt: 9 * HOUR }), precedence).age).toBe(0);
});

test('aging per hour adds to the age, up to the maximum age', () => {
  const settings = queueSettings({ agingPerHour: 2 });
  const ageAt = (now: number) => factorsOf(row(), { now, settingsOf: () => settings }).age;
  expect(ageAt(12 * HOUR)).toBeCloseTo(24 + 0.25);
  expect(ageAt(100 * HOUR)).toBeCloseTo(48 + 0.5);
});

test('what the defaults add is worth less than one point of priority', () => {
  const precedence = {
    now: 1e9,
    settingsOf: () => queueSettings(),
    shares: { queue: () => 1, user: () => 1 },
  };
  const high = row({ priority: 1, submittedAt: 1e9 });
  const poor = { ...precedence, shares: { queue: () => 1e-9, user: () => 1 } };
  expect(pointsOf(factorsOf(row(), precedence))).toBeLessThan(pointsOf(factorsOf(high, poor)));
});

test('the size of a workload is its largest part of what the nodes have', async () => {
  const sim = await Simulation.of([]);
  const nodes = [0, 1, 2, 3].map((i) => ({ name: `n${i}`, units: { core: 4, memory: 8 } }));
  const memory = { containers: [{ resources: { requests: { cpu: 1, memory: '4Gi' } } }] };
  const sizes = jobSizes(nodes);
  expect(sizes(sim.submit('cores', { cpu: 2, pods: 2 }))).toBe(0.25);
  expect(sizes(sim.submit('memory', { pod: memory, pods: 4 }))).toBe(0.5);
  expect(sizes(sim.submit('nodes', { cpu: 1, pods: 3, exclusive: true }))).toBe(0.75);
  expect(sizes(sim.submit('large', { cpu: 4, pods: 9 }))).toBe(1);
  expect(jobSizes([])(sim.row('cores'))).toBe(0);
});

test.each(['fcfs', 'easy', 'hybrid', 'conservative'] as const)(
  '%s: a promised workload whose priority is raised gets the place of a lower one',
  async (policy) => {
    const sim = await Simulation.of(nodesOf(1, 4));
    sim.queue('default', { policy });
    sim.submit('runs', { cpu: 4, walltime: 60 });
    await sim.pass();
    for (const uid of ['a', 'b']) sim.submit(uid, { cpu: 4, walltime: 60 });
    await sim.pass();
    sim.now += 10;
    sim.change('b', { priority: 5 });
    await sim.pass();
    const starts = new Map(sim.reservations.map(({ uid, allocation }) => [uid, allocation.start]));
    expect(starts.get('b')).toBe(sim.now + 50);
    expect(starts.get('a') ?? Infinity).toBeGreaterThanOrEqual(sim.now + 110);
  },
);
