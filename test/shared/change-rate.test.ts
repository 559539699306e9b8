import { Busyness, ChangeRate } from '../../runtime/shared/change-rate';

test('a steady stream of changes converges to its rate and decays within seconds', () => {
  const changeRate = new ChangeRate();
  expect(changeRate.perSecond(0)).toBe(0);
  for (let i = 0; i <= 1000; i++) changeRate.recordChange(i / 50);
  expect(changeRate.perSecond(20)).toBeGreaterThan(48);
  expect(changeRate.perSecond(20)).toBeLessThan(52);
  expect(changeRate.perSecond(25)).toBeLessThan(1);
});

test('a queue is busy from the first of many changes until they stop', () => {
  let now = 100;
  const busyness = new Busyness(5, () => now);
  const changes = (count: number, perSecond: number) => {
    for (let i = 0; i < count; i++, now += 1 / perSecond) busyness.recordChange();
  };
  changes(20, 1);
  expect(busyness.since).toBeUndefined();
  const began = now;
  changes(400, 20);
  expect(busyness.isBusy()).toBe(true);
  expect(busyness.since! - began).toBeLessThan(1);
  now += 10;
  expect(busyness.since).toBeUndefined();
  const again = now;
  changes(100, 20);
  expect(busyness.since! - again).toBeGreaterThanOrEqual(0);
  expect(busyness.since! - again).toBeLessThan(1);
});
