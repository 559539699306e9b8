import { formatHostlist, parseHostlist } from '../../runtime/resources/hostlist';

test.each([
  [[], ''],
  [['login'], 'login'],
  [['node0', 'node1', 'node2', 'node7'], 'node[0-2,7]'],
  [['node1', 'node0'], 'node[1,0]'],
  [['node08', 'node09', 'node10'], 'node[08-10]'],
  [['node9', 'node10'], 'node[9-10]'],
  [['node09', 'node010'], 'node[09,010]'],
  [['a1', 'b1', 'a2'], 'a1,b1,a2'],
  [['a1', 'login', 'a2'], 'a1,login,a2'],
  [['ip-10-0-0-5', 'ip-10-0-0-6'], 'ip-10-0-0-[5-6]'],
  [['x12345678901234567890'], 'x12345678901234567890'],
])('formats %j as %p', (names, text) => {
  expect(formatHostlist(names)).toBe(text);
});

test('a text of a thousand brackets is refused before a name of it is written out', () => {
  expect(parseHostlist(`a${'[0-999999]'.repeat(1_000)}`)).toBeUndefined();
  expect(parseHostlist('a[0-999999]')).toHaveLength(1_000_000);
  expect(parseHostlist('a[0-999999],b')).toBeUndefined();
  expect(parseHostlist('a[9-1]')).toBeUndefined();
  expect(parseHostlist(`a${'[0]'.repeat(10_000)}`)).toBeUndefined();
  expect(parseHostlist('a[9007199254740992]')).toBeUndefined();
  expect(parseHostlist('a[0-1][08-10]')).toEqual(['a008', 'a009', 'a010', 'a108', 'a109', 'a110']);
});
