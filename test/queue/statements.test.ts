import { Client } from 'pg';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openQueue } from '../../runtime/queue/queue';
import * as sql from '../../runtime/queue/statements';
import { storable } from '../../runtime/queue/storable';
import type { WorkloadRow } from '../../runtime/queue/workload';
import { describePostgres } from '../cluster/suite';
import { type Explained, rowsTouched } from './plan';
import { allocationOf, changed, submission } from './submission';

/** Most rows that one row may cost: it goes through a fixed number of steps, and no step reads all rows for each row. */
const STEPS = 200;

type Records = (rows: readonly WorkloadRow[]) => object[];

/** In this order they take each row through its life, twice. */
const LIFE: readonly (readonly [name: string, statement: string, records: Records])[] = [
  ['wait', sql.WAIT, (rows) => rows.map(({ uid }) => ({ uid, reason: 'Busy', message: 'full' }))],
  ['update', sql.UPDATE, (rows) => rows.map((row) => changed(row, { walltime: 90 }))],
  ['allocate', sql.ALLOCATE, (rows) => rows.map((row) => ({ uid: row.uid, allocation: wide(row) }))],
  ['released', sql.RELEASED, (rows) => rows.map(({ uid }) => ({ uid }))],
  [
    'request eviction',
    sql.REQUEST_EVICTION,
    (rows) => rows.map(({ uid }) => ({ uid, message: 'for another', end: 2e9 })),
  ],
  [
    'requeue',
    sql.REQUEUE,
    (rows) => rows.map(({ uid }) => ({ uid, cause: 'preempted', message: 'for another' })),
  ],
  ['allocate again', sql.ALLOCATE, (rows) => rows.map((row) => ({ uid: row.uid, allocation: wide(row) }))],
  ['running', sql.RUNNING, (rows) => rows.map(({ uid }) => ({ uid, startedAt: 2e9 }))],
  [
    'shrink',
    sql.SHRINK,
    (rows) => rows.map((row) => ({ uid: row.uid, allocation: allocationOf(row, ['n-1']) })),
  ],
  ['finish', sql.FINISH, (rows) => rows.map(({ uid }) => ({ uid, result: 'Succeeded', finishedAt: 2e9 }))],
];

const wide = (row: WorkloadRow) => allocationOf(row, ['n-1', 'n-2', 'n-3']);

describePostgres('many rows in one statement', (getPostgres) => {
  // The planner knows nothing about the tables of a new database. The grown one has been analysed.
  test.each([
    ['empty', 10_000],
    ['grown', 1_000],
  ])('in %s tables, the cost of %i rows is linear', async (state, count) => {
    const url = await getPostgres().freshDatabase();
    const queue = openQueue({ url, units: DEFAULT_UNITS });
    await queue.migrate();
    const fence = await queue.acquireFence('test');
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      if (state === 'grown') await grow(client);
      const touched = async (statement: string, records: object[]) => {
        const text = `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`;
        const { rows } = await client.query<Explained>(text, [fence, storable(records)]);
        return rowsTouched(rows[0]!) / count;
      };
      const given = Array.from({ length: count }, (_, i) => submission(`w-${i}`, { user: `u-${i % 50}` }));
      expect(await touched(sql.SUBMIT, given)).toBeLessThan(STEPS);
      expect(new Set((await queue.active()).map(({ jobid }) => jobid)).size).toBe(count);
      for (const [name, statement, records] of LIFE) {
        const perRow = await touched(statement, records(await queue.active()));
        expect({ name, perRow, sane: perRow > 3 && perRow < STEPS }).toMatchObject({ sane: true });
      }
      expect(await queue.active()).toEqual([]);
      expect(await queue.shares()).toHaveLength(50);
    } finally {
      await client.end();
      await queue.close();
    }
  });
});

async function grow(client: Client): Promise<void> {
  await client.query(`
    INSERT INTO fluxqueue.workloads (uid, kind, namespace, name, queue, priority, submitted_at, walltime, pods,
      jobspec, shape, held, usr, phase, result, finished_at)
    SELECT 'old-' || n, 'Job', 'a', 'b-' || n, 'default', 0, now(), 60, 1, '{}', 's', false, 'u', 'Finished', 'Succeeded', now()
    FROM generate_series(1, 20000) n;
    ANALYZE fluxqueue.workloads, fluxqueue.events, fluxqueue.usage, fluxqueue.fair_share, fluxqueue.leader;`);
}
