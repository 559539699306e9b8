import { NANO, parseQuantity } from '../../runtime/jobspec/quantity';
import fc from '../fast-check';

const parse = (quantity: string | number) => parseQuantity(quantity, 'here');

test.each<[string | number, bigint]>([
  ['0', 0n],
  ['1', NANO],
  [2, 2n * NANO],
  [0.5, NANO / 2n],
  ['+3', 3n * NANO],
  ['100m', NANO / 10n],
  ['1.5', (NANO * 3n) / 2n],
  ['.5', NANO / 2n],
  ['5.', 5n * NANO],
  ['7u', 7_000n],
  ['9n', 9n],
  ['1k', 1_000n * NANO],
  ['1M', 1_000_000n * NANO],
  ['1G', 10n ** 9n * NANO],
  ['1T', 10n ** 12n * NANO],
  ['1P', 10n ** 15n * NANO],
  ['1E', 10n ** 18n * NANO],
  ['1Ki', 1024n * NANO],
  ['1Mi', 1024n ** 2n * NANO],
  ['1.5Gi', ((3n * 1024n ** 3n) / 2n) * NANO],
  ['1Ti', 1024n ** 4n * NANO],
  ['1Pi', 1024n ** 5n * NANO],
  ['1Ei', 1024n ** 6n * NANO],
  ['2e3', 2000n * NANO],
  ['2E3', 2000n * NANO],
  ['25e-1', (NANO * 5n) / 2n],
  // Fractions of a billionth are rounded up, as in Kubernetes.
  ['0.0000000001', 1n],
  ['1e-12', 1n],
  ['1.0000000001n', 2n],
])('parses %p exactly', (text, nano) => {
  expect(parse(text)).toBe(nano);
});

test.each([
  '',
  ' ',
  'm',
  'Gi',
  '1 Gi',
  '1Gb',
  '1gi',
  '-1',
  '-100m',
  '1e',
  '1.2.3',
  '0x10',
  'NaN',
  '1e999999999',
  '٣',
])('refuses %p with its path and value', (text) => {
  expect(() => parse(text)).toThrow(
    expect.objectContaining({ code: 'FLUXQ_QUANTITY', field: 'here', value: text, retryable: false }),
  );
});

test('parses any number of milli units exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (milli) => {
      expect(parse(`${milli}m`)).toBe(milli * 1_000_000n);
      expect(parse(`${milli / 1000n}.${String(milli % 1000n).padStart(3, '0')}`)).toBe(milli * 1_000_000n);
    }),
  );
});
