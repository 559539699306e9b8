import { decayed } from '../../../runtime/queue/fair-usage';
import { type FairShare, shareFactors } from '../../../runtime/scheduler/pass/fair-share';
import { queueSettings } from './settings';
import { nodesOf, Simulation } from './simulation';

const usage = (queues: Record<string, number>, users: Record<string, number> = {}): FairShare => ({
  queueUsage: (queue) => queues[queue] ?? 0,
  userUsage: (queue, user) => users[`${queue}/${user}`] ?? 0,
});

const sharer = (name: string, weight: number, users = ['ada']) => ({
  settings: queueSettings({ name, weight }),
  rows: users.map((user) => ({ user })),
});

test('the factor is 1 without usage and a half at exactly the share', () => {
  const shares = shareFactors(usage({ a: 300, b: 100 }), [sharer('a', 3), sharer('b', 1), sharer('c', 4)]);
  expect(shares.queue('c')).toBe(1);
  const two = shareFactors(usage({ a: 300, b: 100 }), [sharer('a', 3), sharer('b', 1)]);
  expect([two.queue('a'), two.queue('b')]).toEqual([0.5, 0.5]);
});

test('users of a queue have equal shares', () => {
  const shares = shareFactors(usage({}, { 'a/ada': 10, 'a/bob': 30 }), [
    sharer('a', 1, ['ada', 'bob', 'ada']),
  ]);
  expect(shares.user('a', 'ada')).toBeCloseTo(2 ** -0.5);
  expect(shares.user('a', 'bob')).toBeCloseTo(2 ** -1.5);
});

test('all factors are 1 without usage, and a queue without active rows does not share', () => {
  const shares = shareFactors(usage({ idle: 100 }), [sharer('a', 1), { ...sharer('idle', 5), rows: [] }]);
  expect([shares.queue('a'), shares.queue('idle'), shares.user('a', 'ada')]).toEqual([1, 1, 1]);
});

test('usage halves in each half-life and never grows', () => {
  expect(decayed(80, 20, 10)).toBe(20);
  expect(decayed(80, -5, 10)).toBe(80);
});

/** Two queues that always have waiting workloads; their usage is counted and decays. */
class Rivals {
  readonly used: Record<string, number> = { a: 20_000, b: 0 };
  readonly counted: Record<string, number> = { a: 0, b: 0 };
  private submitted = 0;

  constructor(private readonly sim: Simulation) {}

  async step(counts: boolean): Promise<void> {
    const { sim, used } = this;
    for (const queue of ['a', 'b']) this.fill(queue);
    await sim.pass({ fairShare: usage(used) });
    sim.now += 10;
    for (const queue of ['a', 'b']) used[queue] = decayed(used[queue]!, 10, 600);
    for (const { uid, allocation } of sim.running()) {
      const { queue } = sim.row(uid);
      used[queue]! += 10;
      if (counts) this.counted[queue]! += 10;
      if (allocation.end <= sim.now) await sim.finish(uid);
    }
  }

  private fill(queue: string): void {
    const waiting = [...this.sim.rows.values()].filter(
      (row) => row.queue === queue && row.phase === 'Waiting',
    );
    for (let i = waiting.length; i < 10; i++) {
      this.submitted += 1;
      this.sim.submit(`${queue}${this.submitted}`, { queue, walltime: 10 + (this.submitted % 3) * 10 });
    }
  }
}

test.each([
  [1, 1],
  [3, 1],
  [1, 4],
])('usage converges to the weights %d : %d, whatever it was before', async (weightA, weightB) => {
  const sim = await Simulation.of(nodesOf(10, 1));
  sim.queue('a', { weight: weightA });
  sim.queue('b', { weight: weightB });
  const rivals = new Rivals(sim);
  for (let step = 0; step < 450; step++) await rivals.step(step >= 250);
  const { a = 0, b = 0 } = rivals.counted;
  expect(a / (a + b)).toBeCloseTo(weightA / (weightA + weightB), 1);
});
