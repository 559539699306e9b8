/** How often each value is there; undefined ones do not count. */
export function tally<T>(values: Iterable<T | undefined>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
