/** The period of a question, from its query. */
import { startOfMonth } from '../../clock';
import { FluxqError } from '../../errors';
import { ACCOUNTING_KEYS, type AccountingQuery } from '../../queue/accounting';
import type { TracePeriod } from '../../queue/trace';
import type { ReadRequest } from '../resource';

type Asked = Pick<ReadRequest, 'query'>;

/** @throws FluxqError FLUXQ_QUERY_INVALID */
export function accountingQuery(request: Asked, now: number): AccountingQuery {
  const keys = (request.query.get('by') ?? 'queue,user').split(',').filter((key) => key !== '');
  const unknown = keys.find((key) => !ACCOUNTING_KEYS.some((known) => known === key));
  if (unknown !== undefined)
    throw new FluxqError('FLUXQ_QUERY_INVALID', 'is not a known key', {
      field: 'query by',
      value: unknown,
      remedy: `give one or more of: ${ACCOUNTING_KEYS.join(', ')}`,
    });
  return { ...periodOf(request, now), by: ACCOUNTING_KEYS.filter((key) => keys.includes(key)) };
}

/**
 * From the start of the month until now, unless the query has another period.
 * @param now Unix seconds
 * @throws FluxqError FLUXQ_QUERY_INVALID
 */
export function periodOf({ query }: Asked, now: number): TracePeriod {
  const date = new Date(now * 1000);
  return {
    from: secondsOf('from', query.get('from') ?? startOfMonth(date)),
    until: secondsOf('until', query.get('until') ?? date.toISOString()),
  };
}

/** Years that have four digits, which Postgres knows, too. */
const MOST_MS = Date.UTC(3000, 0);

function secondsOf(name: string, text: string): number {
  const milliseconds = Date.parse(text);
  if (!(Math.abs(milliseconds) <= MOST_MS))
    throw new FluxqError('FLUXQ_QUERY_INVALID', 'is not a date', {
      field: `query ${name}`,
      value: text,
      remedy: 'write 2026-11-01 or 2026-11-01T12:00:00Z',
    });
  return milliseconds / 1000;
}
