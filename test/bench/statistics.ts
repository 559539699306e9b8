/** The middle of the sorted values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** @param q 0 to 1; the nearest value at or above that part of the sorted values */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * q) - 1))] ?? Number.NaN;
}
