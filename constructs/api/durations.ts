/**
 * Durations as users write them: Go's format ("1h30m"), or plain seconds ("5400") where a label or annotation holds
 * them. Patterns are read alike by RE2 (CEL, CRDs) and JavaScript.
 */

/** Seconds of each unit. */
export const DURATION_UNITS = {
  h: 3600,
  m: 60,
  s: 1,
  ms: 1e-3,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ns: 1e-9,
} as const;

const NUMBER = '([0-9]{1,12}([.][0-9]{0,9})?|[.][0-9]{1,9})';
const UNIT = '(ms|us|µs|μs|ns|h|m|s)';

/** Everything that parseDuration reads. */
export const DURATION_PATTERN = `^[+]?(${NUMBER}|(${NUMBER}${UNIT})+)$`;

const DURATION = new RegExp(DURATION_PATTERN);
const PART = new RegExp(`${NUMBER}${UNIT}`, 'g');

/** Seconds of "1h30m", "250ms" or "5400"; undefined where the text is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  if (!/[a-z]$/.test(text)) return Number(text);
  let seconds = 0;
  for (const [, number, , unit] of text.matchAll(PART)) {
    seconds += Number(number) * DURATION_UNITS[unit as keyof typeof DURATION_UNITS];
  }
  return seconds;
}

/** The duration in the largest unit that is exact, e.g. "90m"; at most milliseconds are kept. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds % 3_600_000 === 0) return `${milliseconds / 3_600_000}h`;
  if (milliseconds % 60_000 === 0) return `${milliseconds / 60_000}m`;
  return milliseconds % 1_000 === 0 ? `${milliseconds / 1_000}s` : `${milliseconds}ms`;
}
