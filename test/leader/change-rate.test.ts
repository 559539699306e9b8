import { Bustle } from '../../runtime/leader/change-rate';

test('a steady stream settles at its rate, and fades within seconds', () => {
  const bustle = new Bustle();
  expect(bustle.perSecond(0)).toBe(0);
  for (let i = 0; i <= 1000; i++) bustle.change(i / 50);
  expect(bustle.perSecond(20)).toBeGreaterThan(48);
  expect(bustle.perSecond(20)).toBeLessThan(52);
  expect(bustle.perSecond(25)).toBeLessThan(1);
});
