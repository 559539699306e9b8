import { RowNames } from '../../runtime/queue/row-names';

const named = (uid: string) => ({ kind: 'Pod', namespace: 'science', name: 'db-0', uid });

function names(...uids: readonly string[]): RowNames {
  const all = new RowNames();
  for (const uid of uids) all.add(named(uid));
  return all;
}

test('has all rows of a name, the newest first', () => {
  expect(names('a', 'b', 'c').uidsOf(named(''))).toEqual(['c', 'b', 'a']);
  expect(names().uidsOf(named(''))).toEqual([]);
});

test.each([
  ['a', ['c', 'b']],
  ['b', ['c', 'a']],
  ['c', ['b', 'a']],
])('forgets the row %s and keeps the others', (uid, left) => {
  const all = names('a', 'b', 'c');
  all.remove(named(uid));
  expect(all.uidsOf(named(''))).toEqual(left);
});

test('a row that is added when the newest is gone is the newest', () => {
  const all = names('a', 'b');
  all.remove(named('b'));
  all.add(named('c'));
  expect(all.uidsOf(named(''))).toEqual(['c', 'a']);
});
