import { RateLimiter } from '../../runtime/kubernetes/rate-limiter';

describe('a pace', () => {
  test('lets a burst go, then one after the other in order of asking', () => {
    const pace = new RateLimiter(() => 2, 2);
    expect(['a', 'b', 'c', 'd'].map((key) => pace.claim(key, 0))).toEqual([0, 0, 0.5, 1]);
    // Asking again is not asking anew.
    expect(pace.claim('d', 0.25)).toBe(0.75);
    expect(pace.claim('c', 0.5)).toBe(0);
    expect(pace.claim('d', 1)).toBe(0);
  });

  test('fills up while nobody asks, never beyond the burst', () => {
    const pace = new RateLimiter(() => 1, 2);
    for (const key of ['a', 'b']) pace.claim(key, 0);
    expect(['c', 'd', 'e'].map((key) => pace.claim(key, 100))).toEqual([0, 0, 1]);
  });

  test('gives the turn of one that needs it no more to the next', () => {
    const pace = new RateLimiter(() => 1, 1);
    expect(pace.claim('a', 0)).toBe(0);
    expect(pace.claim('b', 0)).toBe(1);
    pace.drop('b');
    expect(pace.claim('c', 0)).toBe(1);
    pace.drop('nobody');
    expect(pace.claim('d', 0)).toBe(2);
  });

  test('follows a rate that changes, also for those that wait already', () => {
    let rate = 1;
    const pace = new RateLimiter(() => rate, 1);
    pace.claim('a', 0);
    const waits = ['b', 'c', 'd', 'e'].map((key) => pace.claim(key, 0));
    // Long waits are looked at again halfway.
    expect(waits).toEqual([1, 2, 1.5, 2]);
    rate = 10;
    expect(pace.claim('d', 0.3)).toBe(0);
    expect(pace.claim('e', 0.4)).toBe(0);
  });

  test('may hurry when many wait', () => {
    const pace = new RateLimiter((waiting) => 1 + waiting, 1);
    expect(['a', 'b', 'c'].map((key) => pace.claim(key, 0))).toEqual([0, 1, 1]);
  });
});
