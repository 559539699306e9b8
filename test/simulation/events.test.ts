import { Events } from '../../runtime/simulation/events';
import fc from '../fast-check';

test('returns events in the order of their times', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 })),
      fc.integer({ min: 0, max: 50 }),
      (times, limit) => {
        const events = new Events<number>();
        for (const time of times) events.add(time, time);
        const sorted = times.toSorted((a, b) => a - b);
        expect([...events.until(limit)]).toEqual(sorted.filter((time) => time <= limit));
        expect(events.next).toBe(sorted.find((time) => time > limit) ?? Infinity);
      },
    ),
  );
});

test('returns events of one time in the order in which they were added', () => {
  const events = new Events<number>();
  for (let i = 0; i < 50; i++) events.add(i % 3, i);
  expect([...events.until(0)]).toEqual(Array.from({ length: 17 }, (_, i) => 3 * i));
  expect([...events.until(1)]).toEqual(Array.from({ length: 17 }, (_, i) => 3 * i + 1));
});
