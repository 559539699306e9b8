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
    .option('--from <time>', 'ISO date or time (default: start of the month in UTC)', timeOf)
    .option('--until <time>', 'ISO date or time (default: now)', timeOf);
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

function timeOf(text: string): string {
  const milliseconds = Date.parse(text);
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(text) ?? [];
  // Date takes the 31st of February for the 3rd of March.
  const hasDay =
    new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  if (hasDay && !Number.isNaN(milliseconds)) return new Date(milliseconds).toISOString();
  throw new InvalidArgumentError('write 2026-11-01 or 2026-11-01T12:00:00Z.');
}
