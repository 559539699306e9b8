import { beside, coloured, cut, line, merged, plain, wrapped } from '../../examples/demo/styled';

test('cuts by the text alone and keeps the colours of what is left', () => {
  const both = [...line('red', 31), ...line(' and green', 32)];
  expect(coloured(cut(both, 6))).toBe('\u001b[31mred\u001b[0m\u001b[32m a\u001b[0m…');
  expect(cut(both, 13)).toBe(both);
  expect(plain(cut(both, 1))).toBe('…');
  expect(cut(both, 0)).toEqual([]);
});

test('puts the second picture where the first one ends at most, also where one of both is shorter', () => {
  const left = [line('a'), line('too long'), line('c')];
  expect(beside(left, [line('1'), line('2')], 4).map(plain)).toEqual(['a   1', 'too…2', 'c']);
  expect(beside([], [line('1')], 4).map(plain)).toEqual(['    1']);
});

test('makes one span of neighbours with one colour', () => {
  expect(merged([...line('a', 31), ...line('b', 31), ...line('c'), ...line('d', 31)])).toEqual([
    { text: 'ab', colour: 31 },
    { text: 'c', colour: undefined },
    { text: 'd', colour: 31 },
  ]);
});

test('wraps between words', () => {
  expect(wrapped('one two three', 8)).toEqual(['one two', 'three']);
  expect(wrapped('immovable x', 4)).toEqual(['immovable', 'x']);
});
