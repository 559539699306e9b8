/** Which of the workloads beyond the budget of their namespace lose their rows. */
import { parseConfig } from '../../runtime/config';
import { HistoryBudget, type HistoryBudgetContext } from '../../runtime/leader/history-budget';
import type { BeyondBudget, BudgetQuery } from '../../runtime/queue/archive';
import { rowIn } from '../queue/rows';

const NOW = 1_800_000_000;

function setUp({ found = [] as readonly BeyondBudget[], existing = [] as readonly string[], after = '' }) {
  const queries: BudgetQuery[] = [];
  const removed: string[] = [];
  const budget = new HistoryBudget({
    queue: {
      beyondBudget: async (query: BudgetQuery) => {
        queries.push(query);
        const from = found.findIndex(({ uid }) => uid === query.after?.uid) + 1;
        return found.slice(from, from + query.limit);
      },
      condense: async (_fence: number, uids: readonly string[]) => {
        removed.push(...uids);
        return uids.length;
      },
    },
    fence: 7,
    config: parseConfig({ queue: { recordsPerHour: 3 } }),
    now: () => NOW,
    workloads: {
      get: ({ name }: { name: string }) =>
        existing.includes(name) ? { metadata: { uid: name } } : undefined,
    },
    workloadCache: {
      active: () =>
        [rowIn('Waiting', { namespace: 'science', after: [{ type: 'afterany', name: after }] })].values(),
    },
  } as unknown as HistoryBudgetContext);
  return { budget, queries, removed };
}

const ended = (uid: string): BeyondBudget => ({
  uid,
  kind: 'Job',
  namespace: 'science',
  name: uid,
  finishedAt: NOW - 3600,
});

test('those whose object is gone lose their rows, a page at a time', async () => {
  const { budget, queries, removed } = setUp({ found: ['a', 'b', 'c'].map(ended), existing: ['b'] });
  expect(await budget.step(2)).toEqual({ seen: 2, removed: 1 });
  expect(await budget.step(2)).toEqual({ seen: 1, removed: 1 });
  expect(removed).toEqual(['a', 'c']);
  expect(queries[0]).toEqual({
    budget: 3,
    from: NOW - 7 * 86_400,
    before: NOW - 600,
    after: undefined,
    limit: 2,
  });
  expect(queries[1]?.after?.uid).toBe('b');
});

test('a leader looks a week back once, and then at the hours in which workloads still end', async () => {
  const { budget, queries } = setUp({});
  await budget.step(2);
  await budget.step(2);
  expect(queries.map(({ from }) => NOW - from)).toEqual([7 * 86_400, 2 * 3600]);
});

test('one that a waiting workload names keeps its row', async () => {
  const { budget, removed } = setUp({ found: ['a', 'b'].map(ended), after: 'a' });
  await budget.step(10);
  expect(removed).toEqual(['b']);
});
