import { ChangeRate } from '../../runtime/shared/change-rate';

test('a steady stream of changes converges to its rate and decays within seconds', () => {
  const changeRate = new ChangeRate();
  expect(changeRate.perSecond(0)).toBe(0);
  for (let i = 0; i <= 1000; i++) changeRate.recordChange(i / 50);
  expect(changeRate.perSecond(20)).toBeGreaterThan(48);
  expect(changeRate.perSecond(20)).toBeLessThan(52);
  expect(changeRate.perSecond(25)).toBeLessThan(1);
});
