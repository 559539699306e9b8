import * as fc from 'fast-check';
import { decayed, usageAt } from '../../runtime/queue/fair-usage';
import { shareFactors } from '../../runtime/scheduler/pass/fair-share';

const HOUR = 3600;

test('a core that was held counts half after one half-life, a quarter after two', () => {
  const fresh = usageAt(10, 4, 0, 10, HOUR);
  expect(fresh).toBeCloseTo(40, 0);
  expect(usageAt(10 + HOUR, 4, 0, 10, HOUR)).toBeCloseTo(fresh / 2, 10);
  expect(usageAt(10 + 2 * HOUR, 4, 0, 10, HOUR)).toBeCloseTo(fresh / 4, 10);
});

test('what is yet to come, or was never held, counts nothing', () => {
  expect(usageAt(5, 4, 10, 20, HOUR)).toBe(0);
  expect(usageAt(50, 4, 20, 20, HOUR)).toBe(0);
  expect(usageAt(15, 4, 10, 20, HOUR)).toBe(usageAt(15, 4, 10, 15, HOUR));
});

test('one core held for ever is worth half-life / ln 2 core-seconds, and no more', () => {
  expect(usageAt(1e9, 1, 0, 1e9, HOUR)).toBeCloseTo(HOUR / Math.LN2, 6);
});

test('usage adds up: a stretch in two parts, and a value that is kept decayed, are worth the same', () => {
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
 * Two queues that always have work on a machine of 20 cores: each core that comes free goes to the queue with the
 * higher factor. What they then hold is in the proportion of their weights.
 */
test.each([
  [3, 1],
  [1, 1],
  [5, 2],
])('under permanent load, weights %i:%i share the machine so', (first, second) => {
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
    // The first half-lives are the way there.
    if (from > 20 * HOUR) held[queues.indexOf(queue)]! += until - from;
    now = until;
  }
  expect(held[0]! / held[1]! / (first / second)).toBeCloseTo(1, 1);
});

/** Numbers in [0, 1), the same at every run. */
function lcg(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
