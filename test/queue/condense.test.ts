/** Of what ends beyond the budget of its namespace and hour, only the daily sums remain. */
import type { BudgetQuery } from '../../runtime/queue/archive';
import type { Queue } from '../../runtime/queue/store';
import { describePostgres } from '../cluster/suite';
import { useQueue } from './queue-fixture';

const HOUR = 3600;
/** Noon, 1 November 2026, UTC. */
const NOON = Date.UTC(2026, 10, 1, 12) / 1000;

describePostgres('the budget of finished workloads', (getPostgres) => {
  const database = useQueue(getPostgres, { cpuMillis: 1000, memoryMiB: 1024 });
  const sql = <T>(text: string, values?: unknown[]): Promise<T[]> => database.sql<T>(text, values);
  let queue: Queue;
  let fence: number;
  beforeEach(() => {
    ({ queue, fence } = database);
  });

  /** A workload that held two cores for a minute, with two events. */
  async function ended(uid: string, finishedAt: number, result = 'Succeeded', namespace = 'science') {
    await sql(
      `INSERT INTO fluxqueue.workloads (uid, kind, namespace, name, queue, priority, submitted_at, walltime, pods,
        jobspec, shape, held, usr, phase, result, finished_at)
      VALUES ($1, 'Job', $3, 'job-' || $1, 'default', 0, now(), 60, 2, '{}', 's', false, 'ada', 'Finished', $4, to_timestamp($2))`,
      [uid, finishedAt, namespace, result],
    );
    await sql(
      `INSERT INTO fluxqueue.events (fence, uid, actor, event, detail)
      SELECT 1, $1, 'x', event, '{}' FROM unnest(ARRAY['Submitted', 'Finished']) event`,
      [uid],
    );
    await sql(
      `INSERT INTO fluxqueue.usage (uid, jobid, namespace, queue, usr, nodes, cores, memory_gib, gpus, held_from, held_until)
      VALUES ($1, 1, $3, 'default', 'ada', '[]', 2, 1, 0, to_timestamp($2 - 60), to_timestamp($2))`,
      [uid, finishedAt, namespace],
    );
  }

  const uidsIn = async (table: string) =>
    (
      await sql<{ uid: string }>(`SELECT DISTINCT uid FROM fluxqueue.${table} WHERE uid <> '' ORDER BY uid`)
    ).map(({ uid }) => uid);
  const beyond = (over: Partial<BudgetQuery> = {}) =>
    queue.beyondBudget({ budget: 2, hour: NOON, before: NOON + 9 * HOUR, limit: 100, ...over });
  const names = async (over: Partial<BudgetQuery> = {}) => (await beyond(over)).map(({ uid }) => uid);

  test('is of each namespace and hour, and only those of the hour are ranked', async () => {
    for (const [i, uid] of ['a1', 'a2', 'a3', 'a4'].entries()) await ended(uid, NOON + i);
    for (const [i, uid] of ['b1', 'b2', 'b3'].entries()) await ended(uid, NOON + HOUR + i);
    for (const uid of ['o1', 'o2']) await ended(uid, NOON, 'Succeeded', 'others');
    expect(await names()).toEqual(['a3', 'a4']);
    expect(await names({ hour: NOON + HOUR })).toEqual(['b3']);
    expect(await names({ hour: NOON + HOUR, before: NOON + HOUR + 2 })).toEqual([]);
    expect(await names({ before: NOON + 3 })).toEqual(['a3']);
    expect(await names({ budget: 4 })).toEqual([]);
  });

  test('is spent on failures first, and last on what its user deleted', async () => {
    await ended('gone', NOON, 'Cancelled');
    await ended('done', NOON + 1);
    await ended('late', NOON + 2, 'TimedOut');
    await ended('failed', NOON + 3, 'Failed');
    expect(await names()).toEqual(['gone', 'done']);
  });

  test('is read page by page', async () => {
    for (const [i, uid] of ['a1', 'a2', 'a3', 'a4', 'a5'].entries()) await ended(uid, NOON + (i >> 1));
    const [first] = await beyond({ limit: 1 });
    expect(first?.uid).toBe('a3');
    expect(await names({ after: first })).toEqual(['a4', 'a5']);
  });

  test('leaves of the others only their part of the daily sums', async () => {
    for (const [i, uid] of ['a1', 'a2', 'a3', 'a4'].entries()) await ended(uid, NOON + i);
    const all = { from: NOON - 24 * HOUR, until: NOON + 24 * HOUR, by: ['namespace'] as const };
    const before = await queue.accounting(all);
    expect(before).toMatchObject([{ jobs: 4, pods: 8, cpuHours: expect.closeTo(8 / 60, 6) }]);
    expect(await queue.condense(fence, await names())).toBe(2);
    expect(await queue.accounting(all)).toEqual(
      before.map((line) => ({ ...line, cpuHours: expect.closeTo(8 / 60, 6) })),
    );
    expect(await uidsIn('workloads')).toEqual(['a1', 'a2']);
    expect(await uidsIn('events')).toEqual(['a1', 'a2']);
    expect(await uidsIn('usage')).toEqual(['a1', 'a2']);
    expect(await uidsIn('archive')).toEqual([]);
    expect(await names()).toEqual([]);
  });

  test('removes nothing that is not over, and nothing by an old leader', async () => {
    await ended('a1', NOON);
    await sql(`UPDATE fluxqueue.workloads SET phase = 'Waiting', result = NULL`);
    expect(await queue.condense(fence, ['a1'])).toBe(0);
    await queue.acquireFence('leader-2');
    await expect(queue.condense(fence, ['a1'])).rejects.toMatchObject({ code: 'FLUXQ_FENCED' });
    expect(await uidsIn('workloads')).toEqual(['a1']);
  });
});
