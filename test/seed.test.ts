import { dayOfYear, drawOf } from './seed';

test.each([
  ['2026-01-01T00:00:00Z', 1],
  ['2026-01-01T23:59:59Z', 1],
  ['2026-11-25T16:00:00Z', 329],
  ['2028-12-31T12:00:00Z', 366],
])('the seed of %s is %d', (now, seed) => {
  expect(dayOfYear(new Date(now))).toBe(seed);
});

test('a draw has so many items in their order, and other ones with another seed', () => {
  const items = Array.from({ length: 50 }, (_, i) => i);
  const draws = Array.from({ length: 366 }, (_, day) => drawOf(items, 5, day));
  for (const draw of draws) expect(draw).toEqual([...new Set(draw)].sort((a, b) => a - b));
  expect(new Set(draws.map((draw) => draw.length))).toEqual(new Set([5]));
  expect(drawOf(items, 5, 7)).toEqual(draws[7]);
  expect(new Set(draws.map(String)).size).toBeGreaterThan(300);
});

test.each([
  [50, 5],
  [7, 3],
  [4, 4],
  [3, 5],
  [1, 1],
])('of %d items drawn by %d, every one has its turn in time', (length, count) => {
  const items = Array.from({ length }, (_, i) => i);
  const days = Math.ceil(length / count);
  for (let first = 0; first < 40 * days; first += days) {
    const draws = Array.from({ length: days }, (_, day) => drawOf(items, count, first + day));
    for (const draw of draws) expect(draw).toHaveLength(Math.min(count, length));
    expect(new Set(draws.flat()).size).toBe(length);
  }
});
