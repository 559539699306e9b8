import { decayed, usageAt } from '../../runtime/queue/fair-usage';
import { shareFactors } from '../../runtime/scheduler/pass/fair-share';
import fc from '../fast-check';

const HOUR = 3600;

test('usage counts half after one half-life and a quarter after two', () => {
  const fresh = usageAt(10, 4, 0, 10, HOUR);
  expect(fresh).toBeCloseTo(40, 0);
  expect(usageAt(10 + HOUR, 4, 0, 10, HOUR)).toBeCloseTo(fresh / 2, 10);
  expect(usageAt(10 + 2 * HOUR, 4, 0, 10, HOUR)).toBeCloseTo(fresh / 4, 10);
});

test('the future and empty spans do not count', () => {
  expect(usageAt(5, 4, 10, 20, HOUR)).toBe(0);
  expect(usageAt(50, 4, 20, 20, HOUR)).toBe(0);
  expect(usageAt(15, 4, 10, 20, HOUR)).toBe(usageAt(15, 4, 10, 15, HOUR));
});

test('the usage of one core that is held for ever approaches half-life / ln 2 core-seconds', () => {
  expect(usageAt(1e9, 1, 0, 1e9, HOUR)).toBeCloseTo(HOUR / Math.LN2, 6);
});

test('the usage of a span equals that of its two parts, and a stored value that decays', () => {
  const second = fc.integer({ min: 0, max: 100_000 });
  fc.assert(
    fc.property(second, second, second, second, fc.integer({ min: 1, max: 1e6 }), (a, b, c, d, halfLife) => {
      const [from, middle, until, now] = [a, b, c, d].sort((x, y) => x - y) as [
        number,
        number,
        number,
        number,
      ];
      const whole = usageAt(now, 3, from, until, halfLife);
      const parts = usageAt(now, 3, from, middle, halfLife) + usageAt(now, 3, middle, until, halfLife);
      const kept = decayed(usageAt(until, 3, from, until, halfLife), now - until, halfLife);
      const slack = 1e-9 * (1 + halfLife);
      expect(Math.abs(parts - whole)).toBeLessThan(slack);
      expect(Math.abs(kept - whole)).toBeLessThan(slack);
    }),
  );
});

/**
 * Two queues always have waiting workloads on a machine of 20 cores. Each free core goes to the queue with the higher
 * factor, so they hold cores in proportion to their weights.
 */
test.each([
  [3, 1],
  [1, 1],
  [5, 2],
])('under permanent load, queues with weights %i:%i hold cores in that proportion', (first, second) => {
  const halfLife = 6 * HOUR;
  const queues = [first, second].map((weight) => ({ weight, value: 0, asOf: 0, starts: [] as number[] }));
  const sharers = queues.map(({ weight }, i) => ({
    settings: { name: `${i}`, weight },
    rows: [{ user: 'ada' }],
  }));
  const random = lcg(7);
  const running: { queue: (typeof queues)[number]; from: number; until: number }[] = [];
  const held = [0, 0];
  const usageOf = ({ value, asOf, starts }: (typeof queues)[number], now: number) =>
    decayed(value, now - asOf, halfLife) +
    starts.reduce((sum, from) => sum + usageAt(now, 1, from, now, halfLife), 0);
  for (let now = 0; now < 60 * HOUR; ) {
    while (running.length < 20) {
      const factors = shareFactors(
        { queueUsage: (name) => usageOf(queues[Number(name)]!, now), userUsage: () => 0 },
        sharers,
      );
      const next = queues[factors.queue('0') >= factors.queue('1') ? 0 : 1]!;
      next.starts.push(now);
      running.push({ queue: next, from: now, until: now + 60 + Math.floor(random() * 1800) });
    }
    running.sort((a, b) => a.until - b.until);
    const { queue, from, until } = running.shift()!;
    queue.starts.splice(queue.starts.indexOf(from), 1);
    queue.value =
      decayed(queue.value, until - queue.asOf, halfLife) + usageAt(until, 1, from, until, halfLife);
    queue.asOf = until;
    // The first half-lives are not in balance yet.
    if (from > 20 * HOUR) held[queues.indexOf(queue)]! += until - from;
    now = until;
  }
  expect(held[0]! / held[1]! / (first / second)).toBeCloseTo(1, 1);
});

/** Numbers in [0, 1), the same in every run. */
function lcg(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
