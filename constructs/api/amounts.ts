/** Quantities of Kubernetes, e.g. `500m`, `1.5`, `2Gi`, as far as their comparison needs. */
const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
const QUANTITY = /^\+?(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?\d+)?$/;

/** The number that a quantity stands for; undefined for a text that is not a quantity, or is negative. */
export function amountOf(quantity: string | number): number | undefined {
  const [whole, digits, suffix = ''] = QUANTITY.exec(String(quantity)) ?? [];
  if (whole === undefined) return undefined;
  const factor = FACTORS[suffix];
  return factor === undefined ? Number(whole) : Number(digits) * factor;
}

/** Whether one quantity is less than another; false where one of them is not a quantity. */
export function lessThan(a: string | number, b: string | number): boolean {
  const [first, second] = [amountOf(a), amountOf(b)];
  return first !== undefined && second !== undefined && first < second;
}
