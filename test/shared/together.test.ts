import { together } from '../../runtime/shared/together';

test('values of one turn are handled once, those of the next one after them', async () => {
  const handled: string[][] = [];
  const add = together<string>((values) => handled.push([...values]));
  for (const value of ['a', 'b', 'a']) add(value);
  expect(handled).toEqual([]);
  await Promise.resolve();
  add('c');
  await Promise.resolve();
  expect(handled).toEqual([['a', 'b'], ['c']]);
});
