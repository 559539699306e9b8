import fc from 'fast-check';
import { formatIdset, parseIdset } from '../../runtime/fluxion/jgf/allocation';
import { countIdset } from '../../runtime/resources/idset';

test.each([
  ['', []],
  ['0', [0]],
  ['0-3,7', [0, 1, 2, 3, 7]],
  ['[2,4-5]', [2, 4, 5]],
])('%p is %p', (text, ids) => {
  expect(parseIdset(text)).toEqual(ids);
});

test.each(['3-1', '1,1', '0-3,2', 'a', '1-', '-1', '1,,2', ' 1'])('%p is no idset', (text) => {
  expect(() => parseIdset(text)).toThrow(
    expect.objectContaining({ code: 'FLUXQ_FLUXION_IDSET', value: text }),
  );
});

test('formatting and parsing give the same set', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200)), (ids) => {
      const sorted = [...new Set(ids)].sort((a, b) => a - b);
      expect(parseIdset(formatIdset(ids))).toEqual(sorted);
    }),
  );
});

test('neighbours are folded', () => {
  expect(formatIdset([7, 1, 0, 2, 9, 8, 4])).toBe('0-2,4,7-9');
});

test('numbers are counted without being made', () => {
  for (const text of ['', '7', '0-3,7', '0,2,4-9,100-119'])
    expect(countIdset(text)).toBe(parseIdset(text).length);
});
