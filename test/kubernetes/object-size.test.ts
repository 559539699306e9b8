import { isLargerThan } from '../../runtime/kubernetes/object-size';

test.each([
  ['texts in any depth', { key: ['text', { deep: 'x'.repeat(1_000), none: null }] }],
  ['keys', Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`key-${i}`, i]))],
  ['short texts', Array.from({ length: 1_000 }, () => ({ name: 'E', value: 'x' }))],
])('counts %s as JSON does, within a fifth', (_, object) => {
  const { length } = JSON.stringify(object);
  expect([isLargerThan(object, 0.8 * length), isLargerThan(object, 1.2 * length)]).toEqual([true, false]);
});

test('stops counting an object of millions of parts at the limit', () => {
  let read = 0;
  const counted = Array.from({ length: 10_000 }, () => ({
    get text() {
      read += 1;
      return 'x'.repeat(100);
    },
  }));
  expect(isLargerThan(counted, 15_000)).toBe(true);
  expect(read).toBeLessThan(200);
});

test('a list in a list ten thousand times does not exhaust the stack', () => {
  let deep: unknown[] = [];
  for (let i = 0; i < 10_000; i += 1) deep = [deep];
  expect(isLargerThan(deep, 5_000)).toBe(true);
});
