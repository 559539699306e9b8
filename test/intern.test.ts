import { InternPool } from '../runtime/intern';

const parsed = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('an intern pool', () => {
  const pool = new InternPool();

  test('makes one object of all that are written alike', () => {
    const object = { labels: { app: 'a' }, ports: [1, 2], none: null };
    const first = pool.object(parsed(object));
    expect(pool.object(parsed(object))).toBe(first);
    expect(first).toEqual(object);
    expect(pool.object(parsed({ ...object, ports: [2, 1] }))).not.toBe(first);
  });

  test('keeps a text, an object and their likes apart', () => {
    pool.object({ a: 1 });
    expect(pool.text('{"a":1}')).toBe('{"a":1}');
    expect(pool.object([])).toEqual([]);
    expect(pool.object({})).toEqual({});
    expect(pool.text(undefined)).toBeUndefined();
  });

  test('builds an object only if it has none', () => {
    const build = jest.fn(() => ({ built: 1 }));
    expect(pool.object({ built: 1 }, build)).toBe(pool.object({ built: 1 }, build));
    expect(build).toHaveBeenCalledTimes(1);
  });

  test('interns the values of an object and of a record', () => {
    const affinity = pool.object({ node: 'n' });
    const fields = pool.fields({ affinity: { node: 'n' }, name: 'x', count: 2, nothing: null });
    expect(fields).toEqual({ affinity: { node: 'n' }, name: 'x', count: 2, nothing: null });
    expect(fields.affinity).toBe(affinity);
    expect(pool.record({ app: 'a', empty: '' })).toEqual({ app: 'a', empty: '' });
  });

  test('leaves an object alone that is too long to be equal to others', () => {
    const long = { text: 'x'.repeat(30_000) };
    expect(pool.object(long)).toBe(long);
    expect(pool.object(parsed(long))).not.toBe(long);
  });
});

describe('a full intern pool', () => {
  const GENERATION = 10_000;
  const objectOf = (i: number) => ({ name: `object-${String(i).padStart(10, '0')}` });

  test('forgets what nobody asked for, and keeps what is used', () => {
    const pool = new InternPool(GENERATION);
    const [used, unused] = [pool.object(objectOf(1)), pool.object(objectOf(2))];
    for (let i = 10; i < 400; i++) {
      pool.object(objectOf(i));
      expect(pool.object(objectOf(1))).toBe(used);
    }
    expect(pool.object(objectOf(2))).not.toBe(unused);
  });

  test('holds two generations, however much passes through it', () => {
    const pool = new InternPool(GENERATION);
    const known = Array.from({ length: 500 }, (_, i) => pool.object(objectOf(i)));
    const newest = known.map((_, i) => known.length - 1 - i);
    // It ends with the first one that is forgotten: to ask for that adds it again.
    const kept = newest.findIndex((i) => pool.object(objectOf(i)) !== known[i]);
    expect(kept).toBeGreaterThan(GENERATION / 200);
    expect(kept).toBeLessThan((3 * GENERATION) / 80);
  });
});
