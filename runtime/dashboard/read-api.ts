/** What the page of one person asks for, from the read API with the rights of this person (docs/decisions/0042-read-api.md). */
import { messageOf } from '../errors';
import type { KubernetesClient } from '../kubernetes/client';
import { isStatus } from '../kubernetes/errors';
import { hasReadApi, histories, usages } from '../kubernetes/read-api';
import type { Answer, HistoryView, UsageView } from './messages';
import type { PageSource } from './page-server';

/** What the page asks for beside the view. */
export type Answers = Pick<PageSource, 'history' | 'usage'>;

const NO_READ_API = {
  problem: 'This cluster has no read API of the queue; its administrator can add it to the stack.',
};

/** No workload had this name, or none is recorded any more. */
const NO_HISTORY: HistoryView = { entries: [] };

export const NO_ANSWERS: Answers = {
  history: () => Promise.resolve(NO_READ_API),
  usage: () => Promise.resolve(NO_READ_API),
};

/** The page asks again by itself, or its person does. */
const ONCE = { retries: 0, timeout: 15_000 };

/** @param namespace whose usage is asked for; undefined: that of all namespaces */
export function readApi(client: Pick<KubernetesClient, 'get'>, namespace?: string): Answers {
  const where = namespace === undefined ? 'of all namespaces' : `in ${namespace}`;
  return {
    history: (of, name) =>
      answered<HistoryView>(client, histories(of, name), `histories in ${of}`, NO_HISTORY),
    usage: () =>
      answered<UsageView>(client, `${usages(namespace)}?${monthQuery(new Date())}`, `usages ${where}`),
  };
}

/** The query of `list usages` of which the page shows the answer: this month in UTC. */
export function monthQuery(now: Date): URLSearchParams {
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString();
  return new URLSearchParams({ from, until: now.toISOString(), by: 'queue,namespace,user' });
}

/** @param absent the answer if there is no such object */
async function answered<T>(
  client: Pick<KubernetesClient, 'get'>,
  path: string,
  what: string,
  absent?: T,
): Promise<Answer<T>> {
  try {
    return { answer: await client.get<T>(path, ONCE) };
  } catch (error) {
    if (isStatus(error, 404) || isStatus(error, 403)) {
      // Rights are checked first, also for what is not installed.
      if (!(await hasReadApi(client))) return NO_READ_API;
      if (error.status === 403) return { problem: `You may not read ${what}.` };
      if (absent !== undefined) return { answer: absent };
    }
    if (isStatus(error, 503)) return { problem: 'The read API of the queue does not answer now.' };
    return { problem: messageOf(error) };
  }
}
