import { periodOf } from '../../runtime/cli/period-options';

test('a period is by default that of the month in UTC until now', () => {
  expect(periodOf({}, new Date('2026-11-30T23:59:59-05:00'))).toEqual({
    from: '2026-12-01T00:00:00.000Z',
    until: '2026-12-01T04:59:59.000Z',
  });
});

test('a period that ends before it begins is refused', () => {
  expect(() => periodOf({ from: '2026-11-02T00:00:00Z' }, new Date('2026-11-01T00:00:00Z'))).toThrow(
    /^FLUXQ_PERIOD: --from: is not before --until 2026-11-01T00:00:00.000Z/,
  );
});
