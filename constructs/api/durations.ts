/**
 * Durations as users write them: Go's format with days ("1h30m", "2d"), the forms of Slurm's `--time` that have a colon or a hyphen
 * ("1-12:00:00"), or plain seconds ("5400") where a label or annotation holds them. Slurm reads a plain number as minutes; here it
 * is seconds, as in every duration of Kubernetes. Patterns are read alike by RE2 (CEL, CRDs) and JavaScript.
 */

/** Seconds of each unit. */
export const DURATION_UNITS = {
  d: 86_400,
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
const UNIT = '(ms|us|µs|μs|ns|d|h|m|s)';
/** Days-hours, days-hours:minutes, days-hours:minutes:seconds, hours:minutes:seconds and minutes:seconds. */
const SLURM_SYNTAX = '([0-9]{1,9}-[0-9]{1,4}(:[0-9]{1,4}){0,2}|[0-9]{1,9}(:[0-9]{1,4}){1,2})';

/** Everything that parseDuration reads. */
export const DURATION_PATTERN = `^([+]?(${NUMBER}|(${NUMBER}${UNIT})+)|${SLURM_SYNTAX})$`;
/** Durations with a unit, in words. */
export const DURATION_SYNTAX = 'a duration like "1h30m", "2d" or "1-12:00:00" (days-hours:minutes:seconds)';

const AMOUNT = '[0-9]+([.][0-9]+)?';
const WITH_UNIT = `([0-9]+d)?(${AMOUNT}(h|m|s|ms))+|[0-9]+d|${SLURM_SYNTAX}`;
/** Walltime of a MiniCluster: a part of what parseDuration reads. In a FluxSetup it has a unit. */
export const CRD_WALLTIME_PATTERN = `^(${AMOUNT}|${WITH_UNIT})$`;
/** The pattern in words. */
export const MINICLUSTER_WALLTIME_REQUIREMENT = `must be ${DURATION_SYNTAX}, or seconds like "5400"`;

const DURATION = new RegExp(DURATION_PATTERN);
const PART = new RegExp(`${NUMBER}${UNIT}`, 'g');

/** Seconds of "1h30m", "250ms", "1-12:00:00" or "5400"; undefined where the text is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  if (/[:-]/.test(text)) return slurmSeconds(text);
  if (!/[a-z]$/.test(text)) return Number(text);
  let seconds = 0;
  for (const [, number, , unit] of text.matchAll(PART)) {
    seconds += Number(number) * DURATION_UNITS[unit as keyof typeof DURATION_UNITS];
  }
  return seconds;
}

/** After days come hours; without days, the last part is seconds. */
function slurmSeconds(text: string): number {
  const withoutDays = /:.*:/.test(text) ? `0:${text}` : `0:0:${text}`;
  const parts = text.includes('-') ? `${text.replace('-', ':')}:0:0` : withoutDays;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts.split(':').map(Number);
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/** The duration in the largest unit that is exact, e.g. "90m"; at most milliseconds are kept. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds % 3_600_000 === 0) return `${milliseconds / 3_600_000}h`;
  if (milliseconds % 60_000 === 0) return `${milliseconds / 60_000}m`;
  return milliseconds % 1_000 === 0 ? `${milliseconds / 1_000}s` : `${milliseconds}ms`;
}
