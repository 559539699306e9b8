/** Which of the workloads beyond the budget of their namespace lose their rows. */
import { parseConfig } from '../../runtime/config';
import { HistoryBudget, type HistoryBudgetContext } from '../../runtime/leader/history-budget';
import type { BeyondBudget, BudgetQuery } from '../../runtime/queue/archive';
import { rowIn } from '../queue/rows';

const HOUR = 3600;
/** Ten past the hour, less a second: the grace of ten minutes reaches into the hour before. */
const NOW = 1_800_000_000 + 599;
const NEWEST = 1_800_000_000 - HOUR;

function setUp({
  found = [] as readonly BeyondBudget[],
  existing = [] as string[],
  after = '',
  days = 1,
  unlisted = '',
}) {
  const queries: BudgetQuery[] = [];
  const removed: string[] = [];
  const failures: Error[] = [];
  const time = { now: NOW };
  const budget = new HistoryBudget({
    queue: {
      beyondBudget: async (query: BudgetQuery) => {
        queries.push(query);
        const failure = failures.pop();
        if (failure !== undefined) throw failure;
        const inHour = found.filter(({ uid, finishedAt }) => {
          const isIn = finishedAt >= query.hour && finishedAt < Math.min(query.hour + HOUR, query.before);
          return isIn && !removed.includes(uid);
        });
        const from = inHour.findIndex(({ uid }) => uid === query.after?.uid) + 1;
        return inHour.slice(from, from + query.limit);
      },
      condense: async (_fence: number, uids: readonly string[]) => {
        removed.push(...uids);
        return uids.length;
      },
    },
    fence: 7,
    config: parseConfig({ queue: { recordsPerHour: 3, retentionDays: days } }),
    now: () => time.now,
    workloads: {
      isUnlisted: ({ kind }: { kind: string }) => kind === unlisted,
      get: ({ name }: { name: string }) =>
        existing.includes(name) ? { metadata: { uid: name } } : undefined,
    },
    workloadCache: {
      active: () =>
        [rowIn('Waiting', { namespace: 'science', after: [{ type: 'afterany', name: after }] })].values(),
    },
  } as unknown as HistoryBudgetContext);
  /** Steps until the round is over. */
  const round = async (limit = 10) => {
    while ((await budget.step(limit)).more);
  };
  return { budget, queries, removed, failures, existing, time, round };
}

const ended = (uid: string, finishedAt = NEWEST): BeyondBudget => ({
  uid,
  kind: 'Job',
  namespace: 'science',
  name: uid,
  finishedAt,
});

test('those whose object is gone lose their rows, a page at a time', async () => {
  const found = ['a', 'b', 'c'].map((uid, i) => ended(uid, NEWEST + i));
  const { budget, queries, removed } = setUp({ found, existing: ['b'] });
  expect(await budget.step(2)).toEqual({ more: true, removed: 1 });
  expect(await budget.step(2)).toEqual({ more: true, removed: 1 });
  expect(removed).toEqual(['a', 'c']);
  expect(queries[0]).toEqual({ budget: 3, hour: NEWEST, before: NOW - 600, after: undefined, limit: 2 });
  expect(queries[1]).toMatchObject({ hour: NEWEST, after: { uid: 'b' } });
});

test('those of a kind that cannot be listed keep their rows, because their object may be there', async () => {
  const found = [ended('a'), { ...ended('b'), kind: 'JobSet' }];
  const { round, removed } = setUp({ found, unlisted: 'JobSet' });
  await round();
  expect(removed).toEqual(['a']);
});

test('one whose object is deleted days later loses its row then', async () => {
  const { removed, existing, time, round } = setUp({ found: [ended('a')], existing: ['a'] });
  await round();
  time.now += 48 * HOUR;
  await round();
  expect(removed).toEqual([]);
  existing.pop();
  await round();
  expect(removed).toEqual(['a']);
});

test('a leader looks at one hour after the other, and at all of the retention, a day in each round', async () => {
  const { queries, round } = setUp({ days: 2 });
  const hours = () => queries.splice(0).map(({ hour }) => (NEWEST - hour) / HOUR);
  await round();
  expect(hours()).toEqual(Array.from({ length: 25 }, (_, i) => i));
  await round();
  expect(hours()).toEqual([0, ...Array.from({ length: 23 }, (_, i) => 25 + i)]);
  await round();
  expect(hours()).toEqual([0]);
});

test('no hour is left out, however late the next round is', async () => {
  const { removed, time, round, queries } = setUp({ found: [ended('a', NOW + HOUR)] });
  await round();
  queries.length = 0;
  time.now += 5 * HOUR;
  await round();
  expect(queries.slice(0, 6).map(({ hour }) => (hour - NEWEST) / HOUR)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(removed).toEqual(['a']);
});

test('an hour is looked at again after a failure', async () => {
  const { budget, queries, failures } = setUp({});
  failures.push(new Error('timeout'));
  await expect(budget.step(10)).rejects.toThrow('timeout');
  await budget.step(2);
  expect(queries.map(({ hour }) => hour)).toEqual([NEWEST, NEWEST]);
});

test('one that a waiting workload names keeps its row', async () => {
  const { removed, round } = setUp({ found: ['a', 'b'].map((uid) => ended(uid)), after: 'a' });
  await round();
  expect(removed).toEqual(['b']);
});
