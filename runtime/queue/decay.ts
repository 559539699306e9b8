/**
 * Decayed usage: a core that was held counts half after one half-life. What is
 * held at a steady `cores` from one second to another has a closed form, so
 * usage is exact at any time without ever being sampled. The same formula
 * stands in SQL (usage.ts).
 */

/** What a value is worth after so many seconds. */
export function decayed(value: number, seconds: number, halfLife: number): number {
  return value * 2 ** (-Math.max(0, seconds) / halfLife);
}

/** Core-seconds that `cores` held during [from, until) are worth at `now`; what is yet to come counts nothing. */
export function usageAt(now: number, cores: number, from: number, until: number, halfLife: number): number {
  const end = Math.min(until, now);
  if (end <= from) return 0;
  const perCore = halfLife / Math.LN2;
  return perCore * (decayed(cores, now - end, halfLife) - decayed(cores, now - from, halfLife));
}
