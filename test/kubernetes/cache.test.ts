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
  const cache = new ObjectCache<{ colours: string[] }>({
    colour: ({ colours }) => colours,
    uid: (_, { uid }) => [uid],
  });
  const key = keyOf(meta('a'));
  cache.set(key, meta('a'), { colours: ['red', 'blue'] });
  cache.set('n/b', meta('b'), { colours: ['red'] });
  expect(key).toBe('n/a');
  expect(cache.byIndex('colour', 'red')).toHaveLength(2);
  expect(cache.byIndex('uid', 'uid-b')).toEqual([{ colours: ['red'] }]);

  cache.set(key, meta('a', '2'), { colours: ['green'] });
  expect(cache.byIndex('colour', 'red')).toEqual([{ colours: ['red'] }]);
  expect(cache.byIndex('colour', 'blue')).toEqual([]);
  expect(cache.byIndex('colour', 'green')).toEqual([{ colours: ['green'] }]);
  expect(cache.entry(key)?.resourceVersion).toBe('2');

  cache.delete(key);
  expect(cache.byIndex('colour', 'green')).toEqual([]);
  expect(cache.entry(key)).toBeUndefined();
  expect([...cache.keys()]).toEqual(['n/b']);
});

test('uses the name as the key of an object without a namespace', () => {
  expect(keyOf({ name: 'node-1' })).toBe('node-1');
});
