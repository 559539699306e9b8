/** The period of a question, from its query. */
import { type AccountingTexts, startOfMonth, type TextSource } from '../../queue/period';
import type { ReadRequest } from '../resource';

export const QUERY: TextSource = { code: 'FLUXQ_QUERY_INVALID', field: (name) => `query ${name}` };

/** As the commands have it: from the start of the month until now. @param now Unix seconds */
export function periodTexts({ query }: Pick<ReadRequest, 'query'>, now: number): AccountingTexts {
  const date = new Date(now * 1000);
  return {
    from: query.get('from') ?? startOfMonth(date),
    until: query.get('until') ?? date.toISOString(),
    by: query.get('by') ?? 'queue,user',
  };
}
