import { RateLimiter } from '../../runtime/kubernetes/rate-limiter';

describe('a rate limiter', () => {
  test('admits a burst, then one write after the other in the order of requests', () => {
    const limiter = new RateLimiter(() => 2, 2);
    expect(['a', 'b', 'c', 'd'].map((key) => limiter.claim(key, 0))).toEqual([0, 0, 0.5, 1]);
    // A repeated request keeps its place.
    expect(limiter.claim('d', 0.25)).toBe(0.75);
    expect(limiter.claim('c', 0.5)).toBe(0);
    expect(limiter.claim('d', 1)).toBe(0);
  });

  test('refills up to the burst while there are no requests', () => {
    const limiter = new RateLimiter(() => 1, 2);
    for (const key of ['a', 'b']) limiter.claim(key, 0);
    expect(['c', 'd', 'e'].map((key) => limiter.claim(key, 100))).toEqual([0, 0, 1]);
  });

  test('gives the ticket of a dropped key to the next one', () => {
    const limiter = new RateLimiter(() => 1, 1);
    expect(limiter.claim('a', 0)).toBe(0);
    expect(limiter.claim('b', 0)).toBe(1);
    limiter.drop('b');
    expect(limiter.claim('c', 0)).toBe(1);
    limiter.drop('nobody');
    expect(limiter.claim('d', 0)).toBe(2);
  });

  test('applies a changed rate to keys that already wait', () => {
    let rate = 1;
    const limiter = new RateLimiter(() => rate, 1);
    limiter.claim('a', 0);
    const waits = ['b', 'c', 'd', 'e'].map((key) => limiter.claim(key, 0));
    // Long waits are checked again after half of the time.
    expect(waits).toEqual([1, 2, 1.5, 2]);
    rate = 10;
    expect(limiter.claim('d', 0.3)).toBe(0);
    expect(limiter.claim('e', 0.4)).toBe(0);
  });

  test('passes the number of waiting keys to the rate function', () => {
    const limiter = new RateLimiter((waiting) => 1 + waiting, 1);
    expect(['a', 'b', 'c'].map((key) => limiter.claim(key, 0))).toEqual([0, 1, 1]);
  });
});
