/** What the page of one person asks for, from the read API with the rights of this person (docs/decisions/0042-read-api.md). */
import { startOfMonth } from '../clock';
import { hasCode, messageOf } from '../errors';
import { ask, histories, type Question, type ReadApiClient, usages } from '../kubernetes/read-api';
import type { Answer, HistoryView, UsageView } from './messages';
import type { PageSource } from './page-server';

/** What the page asks for beside the view. */
export type Answers = Pick<PageSource, 'history' | 'usage'>;

/** The page asks again by itself, or its person does. */
const ONCE = { retries: 0, timeout: 15_000 };

/** @param namespace whose usage is asked for; undefined: that of all namespaces */
export function readApi(client: ReadApiClient, namespace?: string): Answers {
  return {
    history: (of, name) =>
      answered(() => historyOf(client, { verb: 'get', path: histories(of, name), scope: { namespace: of } })),
    usage: () =>
      answered(() =>
        ask<UsageView>(client, {
          verb: 'list',
          path: usages(namespace),
          query: Object.fromEntries(monthQuery(new Date())),
          scope: namespace === undefined ? 'all namespaces' : { namespace },
          request: ONCE,
        }),
      ),
  };
}

/** The query of `list usages` of which the page shows the answer: this month in UTC. */
export function monthQuery(now: Date): URLSearchParams {
  return new URLSearchParams({
    from: startOfMonth(now),
    until: now.toISOString(),
    by: 'queue,namespace,user',
  });
}

/** Without entries if no workload had the name, or none is recorded any more. */
async function historyOf(client: ReadApiClient, question: Question): Promise<HistoryView> {
  try {
    return await ask<HistoryView>(client, { ...question, request: ONCE });
  } catch (error) {
    if (hasCode(error, 'FLUXQ_HISTORY_NOT_FOUND')) return { entries: [] };
    throw error;
  }
}

async function answered<T>(asked: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { answer: await asked() };
  } catch (error) {
    return { problem: `${messageOf(error)}.` };
  }
}
