import { countIdset, formatIdset, parseIdset } from '../../runtime/resources/idset';
import fc from '../fast-check';

test.each([
  ['', []],
  ['0', [0]],
  ['0-3,7', [0, 1, 2, 3, 7]],
  ['[2,4-5]', [2, 4, 5]],
])('parses %p as %p', (text, ids) => {
  expect(parseIdset(text)).toEqual(ids);
});

test.each(['3-1', '1,1', '0-3,2', 'a', '1-', '-1', '1,,2', ' 1'])('refuses %p', (text) => {
  expect(() => parseIdset(text)).toThrow(
    expect.objectContaining({ code: 'FLUXQ_FLUXION_IDSET', value: text }),
  );
});

test('parsing a formatted set returns the same set', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200)), (ids) => {
      const sorted = [...new Set(ids)].sort((a, b) => a - b);
      expect(parseIdset(formatIdset(ids))).toEqual(sorted);
    }),
  );
});

test('formats consecutive numbers as ranges', () => {
  expect(formatIdset([7, 1, 0, 2, 9, 8, 4])).toBe('0-2,4,7-9');
});

test('counts as many numbers as parsing returns', () => {
  for (const text of ['', '7', '0-3,7', '0,2,4-9,100-119'])
    expect(countIdset(text)).toBe(parseIdset(text).length);
});
