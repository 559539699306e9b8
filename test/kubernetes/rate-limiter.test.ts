import { RateLimiter, type RateLimiterOptions } from '../../runtime/kubernetes/rate-limiter';
import { ManualClock } from './manual-clock';

describe('a rate limiter', () => {
  let clock: ManualClock;
  let admitted: string[];
  let limiter: RateLimiter;

  function limit(
    options: Pick<RateLimiterOptions, 'burst' | 'perSecond'> & Partial<RateLimiterOptions>,
  ): void {
    clock = new ManualClock();
    admitted = [];
    limiter = new RateLimiter({ clock, onAdmitted: (key) => admitted.push(key), ...options });
  }
  const claim = (...keys: string[]) => keys.map((key) => limiter.claim(key));

  test('admits a burst, then one write after the other in the order of requests', async () => {
    limit({ perSecond: () => 2, burst: 2 });
    expect(claim('a', 'b', 'c', 'd')).toEqual([true, true, false, false]);
    // A repeated request keeps its place.
    expect(claim('d')).toEqual([false]);
    await clock.advance(500);
    expect(admitted).toEqual(['c']);
    // What was admitted is admitted once.
    expect(claim('c', 'c')).toEqual([true, false]);
    await clock.advance(500);
    expect(admitted).toEqual(['c', 'd']);
  });

  test('refills up to the burst while there are no requests', async () => {
    limit({ perSecond: () => 1, burst: 2 });
    claim('a', 'b');
    await clock.advance(100_000);
    expect(claim('c', 'd', 'e')).toEqual([true, true, false]);
  });

  test('gives the place of a dropped key to the next one', async () => {
    limit({ perSecond: () => 1, burst: 1 });
    expect(claim('a', 'b', 'c')).toEqual([true, false, false]);
    limiter.drop('b');
    limiter.drop('nobody');
    await clock.advance(1_000);
    expect(admitted).toEqual(['c']);
    // A key that was admitted and does not write gives it back.
    limiter.drop('c');
    expect(claim('d')).toEqual([true]);
  });

  test('applies a changed rate to keys that already wait', async () => {
    let rate = 1;
    limit({ perSecond: () => rate, burst: 1 });
    claim('a', 'b', 'c', 'd');
    await clock.advance(1_000);
    rate = 10;
    await clock.advance(1_200);
    expect(admitted).toEqual(['b', 'c', 'd']);
  });

  test('admits nothing after it was stopped', async () => {
    limit({ perSecond: () => 1, burst: 1 });
    claim('a', 'b');
    limiter.stop();
    await clock.advance(10_000);
    expect([admitted, clock.next]).toEqual([[], undefined]);
  });

  describe('with deadlines', () => {
    const paced = () => limit({ perSecond: () => 4, burst: 10, longestWait: 6, mostPerSecond: 500 });

    /** Seconds that each of the requests waits. */
    async function waitsOf(
      requests: readonly { readonly at: number; readonly count: number }[],
    ): Promise<number[]> {
      const since = new Map<string, number>();
      const waits: number[] = [];
      limit({
        perSecond: () => 4,
        burst: 10,
        longestWait: 6,
        mostPerSecond: 500,
        onAdmitted: (key) => waits.push(clock.now() / 1000 - since.get(key)!),
      });
      for (const { at, count } of requests) {
        await clock.advance(at * 1000 - clock.now());
        for (let i = 0; i < count; i++) {
          since.set(`${at} ${i}`, at);
          if (limiter.claim(`${at} ${i}`)) waits.push(0);
        }
      }
      await clock.advance(60_000);
      return waits;
    }
    const countIn = (waits: readonly number[], second: number) =>
      waits.filter((wait) => Math.floor(wait) === second).length;

    test.each([5, 50, 300])('lets no write of a stream of %i per second wait longer', async (rate) => {
      const waits = await waitsOf(Array.from({ length: 200 }, (_, i) => ({ at: i / 10, count: rate / 10 })));
      expect(waits.length).toBeGreaterThanOrEqual(20 * rate);
      expect(Math.max(...waits)).toBeLessThan(6.5);
    });

    test('writes a burst at an even rate, no higher than the deadline needs', async () => {
      const waits = await waitsOf([{ at: 0, count: 500 }]);
      expect(waits).toHaveLength(500);
      expect(Math.max(...waits)).toBeLessThan(7.5);
      for (const second of [1, 2, 3, 4, 5])
        expect(Math.abs(countIn(waits, second) - 490 / 7)).toBeLessThan(10);
    });

    test('writes 10,000 at once within 30 seconds, and never more than its highest rate', async () => {
      const waits = await waitsOf([{ at: 0, count: 10_000 }]);
      expect(waits).toHaveLength(10_000);
      expect(Math.max(...waits)).toBeLessThan(28);
      for (let second = 1; second < 28; second++) expect(countIn(waits, second)).toBeLessThanOrEqual(520);
    });

    test('follows a process that was frozen', async () => {
      paced();
      for (let i = 0; i < 100; i++) limiter.claim(`${i}`);
      clock.freeze(20_000);
      await clock.advance(1_000);
      expect(admitted).toHaveLength(90);
    });
  });
});
