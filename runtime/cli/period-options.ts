/** The options `--from` and `--until` of commands about a time that has passed. */
import { type Command, InvalidArgumentError } from 'commander';
import { startOfMonth } from '../clock';
import { FluxqError } from '../errors';

export interface PeriodOptions {
  /** ISO 8601. @default - the start of the month in UTC */
  readonly from?: string;
  /** ISO 8601. @default - now */
  readonly until?: string;
}

export function withPeriod(command: Command): Command {
  return command
    .option('--from <time>', 'ISO date or time, in UTC without a zone (default: start of the month)', timeOf)
    .option('--until <time>', 'ISO date or time, in UTC without a zone (default: now)', timeOf);
}

/** @throws FluxqError FLUXQ_PERIOD */
export function periodOf(
  { from, until }: PeriodOptions,
  now = new Date(),
): { readonly from: string; readonly until: string } {
  const period = { from: from ?? startOfMonth(now), until: until ?? now.toISOString() };
  if (Date.parse(period.from) < Date.parse(period.until)) return period;
  throw new FluxqError('FLUXQ_PERIOD', `is not before --until ${period.until}`, {
    field: '--from',
    value: period.from,
    remedy: 'give an earlier start, or a later end',
  });
}

/** A date, or a date with a time and perhaps a zone. */
const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:([T ][\d:.]+)(Z|[+-]\d\d:?\d\d)?)?$/i;

function timeOf(text: string): string {
  const [, year, month, day, time, zone] = ISO.exec(text) ?? [];
  // Date takes a time without a zone for one of this machine, though it takes a date for one of UTC.
  const milliseconds = Date.parse(time !== undefined && zone === undefined ? `${text}Z` : text);
  // Date takes the 31st of February for the 3rd of March.
  const hasDay =
    new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  if (hasDay && !Number.isNaN(milliseconds)) return new Date(milliseconds).toISOString();
  throw new InvalidArgumentError('write 2026-11-01 or 2026-11-01T12:00:00Z.');
}
