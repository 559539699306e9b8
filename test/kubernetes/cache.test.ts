import { keyOf, ObjectCache } from '../../runtime/kubernetes/cache';
import type { ObjectMeta } from '../../runtime/kubernetes/types';

const meta = (name: string, resourceVersion = '1'): ObjectMeta => ({
  name,
  namespace: 'n',
  uid: `uid-${name}`,
  resourceVersion,
  creationTimestamp: '2026-01-01T00:00:00Z',
});

test('finds objects by key and by index until they are deleted', () => {
  const cache = new ObjectCache<{ colours: string[]; id: string }>({
    colour: ({ colours }) => colours,
    id: ({ id }) => [id],
  });
  const key = keyOf(meta('a'));
  cache.set(key, meta('a'), { colours: ['red', 'blue'], id: 'a' });
  cache.set('n/b', meta('b'), { colours: ['red'], id: 'b' });
  expect(key).toBe('n/a');
  expect(cache.byIndex('colour', 'red')).toHaveLength(2);
  expect(cache.byIndex('id', 'b')).toEqual([{ colours: ['red'], id: 'b' }]);

  cache.set(key, meta('a', '2'), { colours: ['green'], id: 'a' });
  expect(cache.byIndex('colour', 'red')).toEqual([{ colours: ['red'], id: 'b' }]);
  expect(cache.byIndex('colour', 'blue')).toEqual([]);
  expect(cache.byIndex('colour', 'green')).toEqual([{ colours: ['green'], id: 'a' }]);
  expect(cache.entry(key)?.resourceVersion).toBe('2');

  cache.delete(key);
  expect(cache.byIndex('colour', 'green')).toEqual([]);
  expect(cache.entry(key)).toBeUndefined();
  expect([...cache.keys()]).toEqual(['n/b']);
});

test('an object that its index cannot read changes nothing', () => {
  const cache = new ObjectCache<{ colours: string[] }>({
    colour: ({ colours }) => colours.map((c) => c.trim()),
  });
  cache.set('n/a', meta('a'), { colours: ['red'] });
  const unreadable = { colours: [1] } as unknown as { colours: string[] };
  expect(() => cache.set('n/a', meta('a', '2'), unreadable)).toThrow(TypeError);
  expect(cache.byIndex('colour', 'red')).toEqual([{ colours: ['red'] }]);
  expect(cache.entry('n/a')?.resourceVersion).toBe('1');
  cache.delete('n/a');
  expect(cache.byIndex('colour', 'red')).toEqual([]);
});

test('an object that has one name twice is found once', () => {
  const cache = new ObjectCache<{ colours: string[] }>({ colour: ({ colours }) => colours });
  cache.set('n/a', meta('a'), { colours: ['red', 'red'] });
  expect(cache.byIndex('colour', 'red')).toHaveLength(1);
  cache.delete('n/a');
  expect(cache.byIndex('colour', 'red')).toEqual([]);
});

test('uses the name as the key of an object without a namespace', () => {
  expect(keyOf({ name: 'node-1' })).toBe('node-1');
});
