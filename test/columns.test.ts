import { columns, folded, largest } from '../runtime/columns';

test('a table may have more rows than a function takes arguments', () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => [`job/${i}`, 'Waiting']);
  const lines = columns(rows);
  expect(lines).toHaveLength(rows.length);
  expect(lines[0]).toBe('job/0       Waiting');
});

test('the largest of so many numbers is found, and of none it is below all', () => {
  expect(largest(Array.from({ length: 200_000 }, (_, i) => i))).toBe(199_999);
  expect(largest([])).toBe(-Infinity);
});

test('a sentence is folded between words, and a longer word has a line of its own', () => {
  expect(folded('it waits for nodes', 9)).toEqual(['it waits', 'for nodes']);
  expect(folded('on science/job/lattice now', 9)).toEqual(['on', 'science/job/lattice', 'now']);
  expect(folded('', 9)).toEqual(['']);
});
