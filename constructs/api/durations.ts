/** Walltimes as users write them. */

const SECONDS: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 1e-3 };

/** Seconds of "1h30m" or "5400"; undefined for anything else. */
export function seconds(text: string): number | undefined {
  if (/^[0-9]+(\.[0-9]+)?$/.test(text)) return Number(text);
  if (!/^([0-9]+(\.[0-9]+)?(h|ms|m|s))+$/.test(text)) return undefined;
  const parts = text.matchAll(/([0-9]+(?:\.[0-9]+)?)(h|ms|m|s)/g);
  return [...parts].reduce((sum, [, number, unit]) => sum + Number(number) * SECONDS[unit!]!, 0);
}
