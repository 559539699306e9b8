/** The median: the 0.5 quantile. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The nearest-rank quantile. @param q from 0 to 1 */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * q) - 1))] ?? Number.NaN;
}
