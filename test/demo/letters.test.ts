import { colourOf, Letters, MANY } from '../../examples/demo/letters';

test('a free letter is used again only after all others', () => {
  const letters = new Letters();
  letters.assign(['first']);
  const seen = Array.from({ length: 61 }, (_, i) => letters.assign([`next-${i}`]).get(`next-${i}`));
  expect(new Set(seen).size).toBe(61);
  expect(seen).not.toContain('A');
  expect(letters.assign(['again']).get('again')).toBe('A');
});

test('workloads beyond the number of letters share one sign without a colour', () => {
  const many = Array.from({ length: 70 }, (_, i) => `uid-${i}`);
  const letters = [...new Letters().assign(many).values()];
  expect(letters.filter((letter) => letter === MANY)).toHaveLength(8);
  expect(new Set(letters.slice(0, 62)).size).toBe(62);
  expect(colourOf(MANY)).toBeUndefined();
});

test('letters beside each other in the alphabet have different colours', () => {
  expect(colourOf('A')).not.toBe(colourOf('B'));
});
