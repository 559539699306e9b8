/** Exact Kubernetes quantities ("500m", "1.5Gi", "2e3"). Kubernetes rounds them up to a billionth. */
import { FluxqError } from '../errors';

/** A billionth: the smallest step of a Kubernetes quantity. */
export type Nano = bigint;

export const NANO = 1_000_000_000n;

const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY: Readonly<Record<string, bigint>> = {
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
};

/** Longer texts and larger exponents are mistakes that would only cost memory. */
const MAX_LENGTH = 64;
const MAX_EXPONENT = 64;

const GRAMMAR =
  /^\+?(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:[eE](?<exponent>[+-]?\d+)|(?<suffix>[KMGTPE]i|[numkMGTPE]?))$/;

/**
 * @param field path of the quantity, for the error
 * @throws FluxqError `FLUXQ_QUANTITY` if it is malformed or negative
 */
export function parseQuantity(quantity: string | number, field: string): Nano {
  const text = String(quantity).trim();
  const parts = GRAMMAR.exec(text)?.groups;
  const digits = `${parts?.whole ?? ''}${parts?.fraction ?? ''}`;
  const exponent = Number(parts?.exponent ?? DECIMAL[parts?.suffix ?? ''] ?? 0);
  if (parts === undefined || digits === '' || text.length > MAX_LENGTH || Math.abs(exponent) > MAX_EXPONENT) {
    throw new FluxqError('FLUXQ_QUANTITY', 'is not a resource quantity of at least 0', {
      field,
      value: quantity,
      remedy: 'write it like 2, 500m, 1.5 or 16Gi',
    });
  }
  const scale = 9 + exponent - (parts.fraction?.length ?? 0);
  const value = BigInt(digits) * (BINARY[parts.suffix ?? ''] ?? 1n);
  return scale >= 0 ? value * 10n ** BigInt(scale) : ceilDiv(value, 10n ** BigInt(-scale));
}

/** a / b rounded up, for a >= 0 and b > 0. */
export function ceilDiv(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b;
}

/** From large to small: the first in which a quantity is a whole number is how Kubernetes writes it. */
const WRITTEN: readonly (readonly [string, Nano])[] = [
  ...(['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki'] as const).map(
    (suffix) => [suffix, BINARY[suffix]! * NANO] as const,
  ),
  ...(['E', 'P', 'T', 'G', 'M', 'k'] as const).map(
    (suffix) => [suffix, 10n ** BigInt(DECIMAL[suffix]!) * NANO] as const,
  ),
];
const WRITTEN_DECIMAL: readonly (readonly [string, Nano])[] = [
  ['', NANO],
  ['m', 1_000_000n],
  ['u', 1_000n],
];

/** As the apiserver writes it: `2`, `500m`, `16Gi`. @param binary whether it is an amount of bytes */
export function formatQuantity(quantity: Nano, { binary }: { readonly binary: boolean }): string {
  const suffixes = binary ? [...WRITTEN, ['', NANO] as const] : WRITTEN_DECIMAL;
  const [suffix, size] = suffixes.find(([, unit]) => quantity % unit === 0n) ?? ['n', 1n];
  return quantity === 0n ? '0' : `${quantity / size}${suffix}`;
}
