import { Busyness, ChangeRate } from '../../runtime/shared/change-rate';

test('a steady stream of changes converges to its rate and decays within seconds', () => {
  const changeRate = new ChangeRate();
  expect(changeRate.perSecond(0)).toBe(0);
  for (let i = 0; i <= 1000; i++) changeRate.recordChange(i / 50);
  expect(changeRate.perSecond(20)).toBeGreaterThan(48);
  expect(changeRate.perSecond(20)).toBeLessThan(52);
  expect(changeRate.perSecond(25)).toBeLessThan(1);
});

test('a queue is busy while many workloads change, and a burst is more than a few that begin together', () => {
  let now = 100;
  const busyness = new Busyness({ busy: 5, burst: 40 }, () => now);
  const changes = (count: number, perSecond: number) => {
    for (let i = 0; i < count; i++, now += 1 / perSecond) busyness.recordChange();
  };
  changes(20, 1);
  expect([busyness.isBusy(), busyness.burstSince]).toEqual([false, undefined]);
  // What a user submits by hand: five Jobs at once.
  now += 20;
  changes(20, 100);
  expect(busyness.isBusy()).toBe(false);
  now += 20;
  // 30 Jobs at once are submitted, granted, released and run.
  changes(120, 100);
  expect([busyness.isBusy(), busyness.burstSince]).toEqual([true, undefined]);
  now += 20;
  const began = now;
  changes(600, 120);
  expect(busyness.burstSince! - began).toBeLessThan(1);
  // It lasts until the queue is busy no more.
  changes(300, 20);
  expect(busyness.burstSince! - began).toBeLessThan(1);
  now += 10;
  expect([busyness.isBusy(), busyness.burstSince]).toEqual([false, undefined]);
  changes(100, 20);
  expect([busyness.isBusy(), busyness.burstSince]).toEqual([true, undefined]);
});

test('a burst of one namespace is none of the others', () => {
  let now = 100;
  const busyness = new Busyness({ busy: 5, burst: 40 }, () => now);
  for (let i = 0; i < 600; i++, now += 1 / 120) {
    busyness.recordPhase('a');
    if (i % 100 === 0) busyness.recordPhase('b');
  }
  expect(['a', 'b', 'c'].map(busyness.isBursting)).toEqual([true, false, false]);
  now += 10;
  expect(busyness.isBursting('a')).toBe(false);
});

test('two hundred namespaces in turn are a burst of none of them', () => {
  let now = 100;
  const busyness = new Busyness({ busy: 5, burst: 40 }, () => now);
  for (let i = 0; i < 4_000; i++, now += 1 / 400) busyness.recordPhase(`tenant-${i % 200}`);
  expect(busyness.isBursting('tenant-0')).toBe(false);
});

test('a namespace at rest is forgotten, and one that works is not', () => {
  let now = 100;
  const busyness = new Busyness({ busy: 5, burst: 40 }, () => now);
  for (let i = 0; i < 1_500; i++) busyness.recordPhase(`old-${i}`);
  now += 60;
  for (let i = 0; i < 600; i++, now += 1 / 120) busyness.recordPhase('a');
  for (let i = 0; i < 1_000; i++) busyness.recordPhase(`new-${i}`);
  expect(busyness.isBursting('a')).toBe(true);
  expect(busyness.namespaces).toBeLessThan(1_100);
});
