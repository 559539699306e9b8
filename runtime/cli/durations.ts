/** Durations as kubectl writes ages, and times. */

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

const PARTS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
] as const;

/** In at most two units: `40s`, `1h30m`, `2d3h`. */
export function spanText(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  const parts = PARTS.map(([size, unit]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return { text: `${count}${unit}`, count };
  });
  const first = parts.findIndex(({ count }) => count > 0);
  if (first < 0) return '0s';
  return parts
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ text }) => text)
    .join('');
}

/** A time in whole seconds, as Kubernetes writes it. @param time milliseconds, or ISO 8601 */
export function rfc3339(time: number | string): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
