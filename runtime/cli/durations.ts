/** Durations as kubectl writes ages. */

const AGES = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
] as const;

/** In the largest unit of which there are two: `90s`, `5m`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  for (const [size, unit] of AGES) if (whole >= 2 * size) return `${Math.floor(whole / size)}${unit}`;
  return `${whole}s`;
}

/** @param now milliseconds */
export function ageOf(time: string | undefined, now: number): string {
  return time === undefined ? '' : durationText((now - Date.parse(time)) / 1000);
}
