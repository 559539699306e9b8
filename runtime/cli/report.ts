/** Parses what is asked about a period of usage. */
import { FluxqError } from '../errors';
import { ACCOUNTING_KEYS, type AccountingQuery } from '../queue/accounting';
import type { TracePeriod } from '../queue/trace';

/** The options of the command line. */
export interface AccountingArguments {
  /** ISO 8601. */
  readonly from: string;
  readonly until: string;
  /** Keys separated by commas. Without keys the result is one line. */
  readonly by: string;
}

/** @throws FluxqError FLUXQ_CONFIG_INVALID */
export function accountingQuery({ from, until, by }: AccountingArguments): AccountingQuery {
  const keys = by.split(',').filter((key) => key !== '');
  const unknown = keys.find((key) => !ACCOUNTING_KEYS.some((known) => known === key));
  if (unknown !== undefined)
    throw invalid(
      '--by',
      'is not a known key',
      unknown,
      `give one or more of: ${ACCOUNTING_KEYS.join(', ')}`,
    );
  return { ...periodOf({ from, until }), by: ACCOUNTING_KEYS.filter((key) => keys.includes(key)) };
}

/** @throws FluxqError FLUXQ_CONFIG_INVALID */
export function periodOf({ from, until }: Pick<AccountingArguments, 'from' | 'until'>): TracePeriod {
  return { from: secondsOf('--from', from), until: secondsOf('--until', until) };
}

function secondsOf(field: string, text: string): number {
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds))
    throw invalid(field, 'is not a date', text, 'write 2026-11-01 or 2026-11-01T12:00:00Z');
  return milliseconds / 1000;
}

function invalid(field: string, what: string, value: string, remedy: string): FluxqError {
  return new FluxqError('FLUXQ_CONFIG_INVALID', what, { field, value, remedy });
}
