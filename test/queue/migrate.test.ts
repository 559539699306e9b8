import { Client } from 'pg';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { type Database, openDatabase } from '../../runtime/queue/database';
import { migrate } from '../../runtime/queue/migrate';
import { MIGRATIONS } from '../../runtime/queue/migrations';
import { openQueue } from '../../runtime/queue/queue';
import { describePostgres } from '../cluster/suite';
import { waitFor } from '../cluster/wait';

test('migrations are numbered 1, 2, 3, …', () => {
  expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, i) => i + 1));
});

/** Statements after which a program of the release before may fail. */
const REMOVES =
  /\bDROP\b|\bRENAME\b|\bTRUNCATE\b|SET NOT NULL|ALTER COLUMN \w+ (SET DATA )?TYPE|ADD (CONSTRAINT|CHECK)|ADD COLUMN(?![^,;]*DEFAULT)[^,;]*NOT NULL/i;
/** Migrations of the first release, and the drop of a table that no release has ever used. */
const REVIEWED = [1, 2, 3, 4];

test('migrations only add, or say which program they need', () => {
  for (const { number, sql, minimum } of MIGRATIONS.filter(({ number }) => !REVIEWED.includes(number))) {
    if (minimum === undefined) expect(sql).not.toMatch(REMOVES);
    else expect(minimum).toBeLessThan(number);
  }
});

test.each([
  'DROP TABLE a',
  'ALTER TABLE a DROP COLUMN b',
  'ALTER TABLE a RENAME COLUMN b TO c',
  'ALTER TABLE a ADD COLUMN b text NOT NULL',
  'ALTER TABLE a ALTER COLUMN b TYPE bigint',
  'ALTER TABLE a ALTER COLUMN b SET NOT NULL',
])('the rule finds what breaks the release before: %s', (sql) => expect(sql).toMatch(REMOVES));

test.each([
  'ALTER TABLE a ADD COLUMN b text, ADD COLUMN c text',
  "ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT ''",
  'CREATE TABLE a (b text NOT NULL)',
  'CREATE INDEX a_b ON a (b)',
])('the rule allows what the release before ignores: %s', (sql) => expect(sql).not.toMatch(REMOVES));

describePostgres('migrate', (getPostgres) => {
  async function applied(url: string): Promise<number[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      const { rows } = await client.query('SELECT number FROM fluxqueue.schema_migrations ORDER BY number');
      return rows.map(({ number }) => number);
    } finally {
      await client.end();
    }
  }

  test('applies each migration once when five programs start at once', async () => {
    const url = await getPostgres().freshDatabase();
    const queues = Array.from({ length: 5 }, () => openQueue({ url, units: DEFAULT_UNITS }));
    await Promise.all(queues.map((queue) => queue.migrate()));
    await Promise.all(queues.map((queue) => queue.close()));
    expect(await applied(url)).toEqual(MIGRATIONS.map(({ number }) => number));
  });

  test('applies a new migration and keeps the data', async () => {
    const url = await getPostgres().freshDatabase();
    const queue = openQueue({ url, units: DEFAULT_UNITS });
    await queue.migrate();
    const fence = await queue.acquireFence('before');
    const database = openDatabase({ url });
    const next = { number: MIGRATIONS.length + 1, name: 'next', sql: 'CREATE TABLE fluxqueue.next (n int)' };
    await migrate(database, [...MIGRATIONS, next]);
    expect(await applied(url)).toEqual([...MIGRATIONS, next].map(({ number }) => number));
    expect(await queue.acquireFence('after')).toBe(fence + 1);
    // The older program uses the newer tables: the update may have been undone.
    await queue.migrate();
    expect(await applied(url)).toEqual([...MIGRATIONS, next].map(({ number }) => number));
    await Promise.all([queue.close(), database.close()]);
  });

  test('refuses tables from which something was removed that this program uses', async () => {
    const url = await getPostgres().freshDatabase();
    const database = openDatabase({ url });
    const expand = {
      number: MIGRATIONS.length + 1,
      name: 'expand',
      sql: 'CREATE TABLE fluxqueue.next (n int)',
    };
    const contract = {
      number: MIGRATIONS.length + 2,
      name: 'contract',
      sql: 'DROP TABLE fluxqueue.fair_share',
      minimum: expand.number,
    };
    await migrate(database, [...MIGRATIONS, expand, contract]);
    // The program that knows the replacement starts, the one before does not.
    await migrate(database, [...MIGRATIONS, expand]);
    await expect(migrate(database)).rejects.toMatchObject({
      code: 'FLUXQ_DATABASE_VERSION',
      message: expect.stringContaining(`need a program that knows migration ${expand.number}`),
    });
    await database.close();
  });

  test('waits for a migration that takes longer than the statement timeout', async () => {
    const url = await getPostgres().freshDatabase();
    const database = openDatabase({ url, statementTimeoutMs: 200, answerTimeoutMs: 300 });
    const slow = { number: MIGRATIONS.length + 1, name: 'slow', sql: 'SELECT pg_sleep(0.6)' };
    // On a busy machine another statement may exceed these limits. The slow migration exceeds them at every attempt.
    await waitFor('the migration', () => migrate(database, [...MIGRATIONS, slow]).then(() => true));
    expect(await applied(url)).toHaveLength(slow.number);
    // The timeout applies to the next statement again.
    await expect(database.query('SELECT pg_sleep(0.6)')).rejects.toMatchObject({ retryable: true });
    await database.close();
  });

  test('gives up behind a long reader, behind which all others would wait, and succeeds after it', async () => {
    const url = await getPostgres().freshDatabase();
    const database = openDatabase({ url });
    await migrate(database);
    const reader = new Client({ connectionString: url });
    await reader.connect();
    await reader.query('BEGIN');
    await reader.query('SELECT FROM fluxqueue.workloads');
    const sql = 'ALTER TABLE fluxqueue.workloads ADD COLUMN more text';
    const next = [...MIGRATIONS, { number: MIGRATIONS.length + 1, name: 'more', sql }];
    await expect(migrate(database, next)).rejects.toMatchObject({ retryable: true });
    await reader.query('COMMIT');
    await migrate(database, next);
    expect(await applied(url)).toHaveLength(next.length);
    await Promise.all([reader.end(), database.close()]);
  });

  test('changes nothing if a migration fails', async () => {
    const url = await getPostgres().freshDatabase();
    const database = openDatabase({ url });
    await migrate(database);
    const before = await applied(url);
    const good = { number: before.length + 1, name: 'good', sql: 'CREATE TABLE fluxqueue.good (n int)' };
    const bad = { number: before.length + 2, name: 'bad', sql: 'CREATE TABEL fluxqueue.bad (n int)' };
    await expect(migrate(database, [...MIGRATIONS, good, bad])).rejects.toMatchObject({
      code: 'FLUXQ_DATABASE_REFUSED',
    });
    expect(await applied(url)).toEqual(before);
    await migrate(database, [...MIGRATIONS, good]);
    await database.close();
  });

  test('refuses a migration whose text has changed since', async () => {
    const database = openDatabase({ url: await getPostgres().freshDatabase() });
    await migrate(database);
    const changed = MIGRATIONS.map((migration) => ({ ...migration, sql: `${migration.sql} -- changed` }));
    await expect(migrate(database, changed)).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_VERSION' });
    await database.close();
  });

  test('drops the table foreign_allocations of the first release', async () => {
    const database = openDatabase({ url: await getPostgres().freshDatabase() });
    const exists = async () => {
      const [row] = await database.query<{ oid: string | null }>(
        `SELECT to_regclass('fluxqueue.foreign_allocations')::text AS oid`,
      );
      return row!.oid !== null;
    };
    await migrate(database, MIGRATIONS.slice(0, 3));
    expect(await exists()).toBe(true);
    await migrate(database);
    expect(await exists()).toBe(false);
    await database.close();
  });

  test('migrates a queue of the first release with all its rows', async () => {
    const url = await getPostgres().freshDatabase();
    const database = openDatabase({ url });
    await migrate(database, MIGRATIONS.slice(0, 1));
    await insertFirstRelease(database);
    await database.close();

    const queue = openQueue({ url, units: DEFAULT_UNITS });
    await queue.migrate();
    const fence = await queue.acquireFence('after');
    expect(fence).toBe(9);
    const unset = { after: [], preemptible: false, notBefore: null, evictionReason: null, preemptions: 0 };
    const [waits, runs] = await queue.active();
    expect(waits).toMatchObject({
      uid: 'waits',
      user: 'namespace:science',
      reason: 'Busy',
      requeues: 1,
      ...unset,
    });
    expect(runs).toMatchObject({
      uid: 'runs',
      user: 'namespace:science',
      startedAt: 1_800_000_000,
      ...unset,
    });
    expect(await queue.accounting({ from: 1.7e9, until: 1_800_010_000, by: ['user'] })).toMatchObject([
      { user: 'namespace:lab', jobs: 1, cpuHours: 5, memoryGiBHours: 4, gpuHours: 1 },
      { user: 'namespace:science', jobs: 0 },
    ]);
    expect(
      await queue.finish(fence, [{ uid: 'runs', result: 'Succeeded', finishedAt: 1_800_000_060 }]),
    ).toHaveLength(1);
    expect(await queue.shares()).toMatchObject([{ user: 'namespace:science', asOf: 1_800_000_060 }]);
    expect(await queue.archive(fence, 1_800_010_000)).toBe(2);
    expect(await queue.historyOf('lab', 'three')).toMatchObject([
      { event: 'Submitted', actor: '' },
      { event: 'Finished', actor: '', why: 'it failed' },
    ]);
    await queue.close();
  });
});

/** Rows of a queue of the first release: one waits, one runs, one has finished. */
async function insertFirstRelease(database: Database): Promise<void> {
  const at = 'to_timestamp(1800000000)';
  await database.query(`
    INSERT INTO fluxqueue.workloads (uid, kind, namespace, name, queue, priority, submitted_at, walltime, pods, jobspec,
      shape, held, phase, reason, message, allocation, result, requeues, allocated_at, released_at, started_at, finished_at)
    VALUES
      ('waits', 'Job', 'science', 'one', 'default', 5, ${at}, 60, 2, '{"version":1}', 's', false, 'Waiting', 'Busy', 'full',
        NULL, NULL, 1, NULL, NULL, NULL, NULL),
      ('runs', 'Job', 'science', 'two', 'default', 0, ${at}, 60, 1, '{"version":1}', 's', false, 'Running', NULL, NULL,
        '{"jobid":2,"start":1,"end":61,"nodes":[{"name":"n","units":{"core":"0-3"}}]}', NULL, 0, ${at}, ${at}, ${at}, NULL),
      ('over', 'Pod', 'lab', 'three', 'default', 0, ${at}, 60, 1, '{"version":1}', 's', false, 'Finished', NULL, NULL,
        '{"jobid":3,"start":1,"end":61,"nodes":[{"name":"n","units":{"core":"0"}}]}', 'Failed', 0, ${at}, ${at}, ${at},
        to_timestamp(1800003600))`);
  await database.query(`
    INSERT INTO fluxqueue.usage (uid, jobid, namespace, queue, nodes, held_from, held_until)
    VALUES ('over', 3, 'lab', 'default',
      '[{"name":"n","units":{"core":"0-2,8","memory":"4-7","gpu":"1"}},{"name":"m","units":{"core":"0"}}]',
      ${at}, to_timestamp(1800003600))`);
  await database.query(`
    INSERT INTO fluxqueue.events (fence, uid, event, detail) VALUES
      (1, 'over', 'Submitted', '{"queue":"default"}'), (1, 'over', 'Finished', '{"result":"Failed"}')`);
  await database.query(`UPDATE fluxqueue.leader SET fence = 8, holder = 'before'`);
}
