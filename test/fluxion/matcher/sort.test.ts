import { introsort } from '../../../runtime/fluxion/matcher/sort';
import fc from '../../fast-check';

function sorted(keys: readonly number[]): number[] {
  const list = Int32Array.from(keys, (_, i) => i);
  introsort(list, 0, list.length, (a, b) => keys[a]! < keys[b]!);
  return [...list];
}

// Recorded from libstdc++: which of n equal elements comes first.
test.each([
  [1, 0],
  [16, 0],
  [17, 8],
  [18, 9],
  [20, 10],
  [24, 12],
  [32, 16],
  [33, 25],
  [64, 48],
  [100, 62],
  [128, 80],
])('puts, of %i equal elements, number %i first', (count, first) => {
  expect(sorted(Array.from({ length: count }, () => 7))[0]).toBe(first);
});

test('keeps the order of up to 16 equal elements', () => {
  expect(sorted([2, 1, 2, 1, 2, 1])).toEqual([1, 3, 5, 0, 2, 4]);
});

test('sorts any list and keeps all elements', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 50 }), { maxLength: 300 }), (keys) => {
      const order = sorted(keys);
      expect(order.map((i) => keys[i])).toEqual([...keys].sort((a, b) => a - b));
      expect(new Set(order).size).toBe(keys.length);
    }),
  );
});

test('sorts a list with bad pivots by heapsort', () => {
  // In this order the median of three stays a bad pivot for long.
  const keys = Array.from({ length: 4000 }, (_, i) => (i % 2 === 0 ? i : 4000 - i));
  expect(sorted(keys).map((i) => keys[i])).toEqual([...keys].sort((a, b) => a - b));
});
