import { steadySeconds } from '../runtime/clock';
import { ManualClock } from './kubernetes/manual-clock';

describe('steady seconds', () => {
  function setUp() {
    const clock = new ManualClock();
    let offset = 1_000_000;
    const now = steadySeconds({ clock, wall: () => offset + clock.now() / 1000 });
    const jump = (seconds: number) => {
      offset += seconds;
    };
    return { clock, now, jump };
  }

  test('equal the wall clock while it runs evenly', () => {
    const { clock, now } = setUp();
    for (let passed = 0; passed < 100; passed += 10) {
      expect(now()).toBeCloseTo(1_000_000 + passed, 6);
      clock.freeze(10_000);
    }
  });

  test.each([
    ['forwards', 3600],
    ['backwards', -3600],
  ])('do not jump %s with the wall clock, but approach it', (_, seconds) => {
    const { clock, now, jump } = setUp();
    jump(seconds);
    expect(now()).toBe(1_000_000);
    let before = now();
    for (let i = 0; i < 1000; i++) {
      clock.freeze(1000);
      const after = now();
      // They never run backwards, and at most 1.5 times as fast.
      expect(after - before).toBeGreaterThanOrEqual(0.5 - 1e-6);
      expect(after - before).toBeLessThanOrEqual(1.5 + 1e-6);
      before = after;
    }
    clock.freeze(7200_000);
    now();
    expect(now()).toBeCloseTo(1_000_000 + 1000 + 7200 + seconds, 3);
  });
});
