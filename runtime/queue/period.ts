/** What people ask of the usage and the trace of a period, as text: options of the command line, and queries of the read API. */
import { FluxqError } from '../errors';
import { ACCOUNTING_KEYS, type AccountingQuery } from './accounting';
import type { TracePeriod } from './trace';

export interface PeriodTexts {
  /** ISO 8601. */
  readonly from: string;
  readonly until: string;
}

export interface AccountingTexts extends PeriodTexts {
  /** Keys separated by commas. Without keys the result is one line. */
  readonly by: string;
}

/** How an invalid text is reported. */
export interface TextSource {
  readonly code: `FLUXQ_${string}`;
  /** The name under which its author knows it: `--from`. */
  readonly field: (name: keyof AccountingTexts) => string;
}

/** @throws FluxqError with the code of the source */
export function accountingQuery(texts: AccountingTexts, source: TextSource): AccountingQuery {
  const keys = texts.by.split(',').filter((key) => key !== '');
  const unknown = keys.find((key) => !ACCOUNTING_KEYS.some((known) => known === key));
  if (unknown !== undefined)
    throw new FluxqError(source.code, 'is not a known key', {
      field: source.field('by'),
      value: unknown,
      remedy: `give one or more of: ${ACCOUNTING_KEYS.join(', ')}`,
    });
  return { ...periodOf(texts, source), by: ACCOUNTING_KEYS.filter((key) => keys.includes(key)) };
}

/** @throws FluxqError with the code of the source */
export function periodOf({ from, until }: PeriodTexts, source: TextSource): TracePeriod {
  return { from: secondsOf('from', from, source), until: secondsOf('until', until, source) };
}

/** The start of the current month in UTC, in ISO 8601. */
export function startOfMonth(now = new Date()): string {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();
}

function secondsOf(name: keyof PeriodTexts, text: string, { code, field }: TextSource): number {
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds))
    throw new FluxqError(code, 'is not a date', {
      field: field(name),
      value: text,
      remedy: 'write 2026-11-01 or 2026-11-01T12:00:00Z',
    });
  return milliseconds / 1000;
}
