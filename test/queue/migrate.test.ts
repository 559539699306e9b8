import { Client } from 'pg';
import { openDatabase } from '../../runtime/queue/database';
import { migrate } from '../../runtime/queue/migrate';
import { MIGRATIONS } from '../../runtime/queue/migrations';
import { openQueue } from '../../runtime/queue/queue';
import { describePostgres } from '../cluster/suite';

test('migrations are numbered 1, 2, 3, …', () => {
  expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, i) => i + 1));
});

describePostgres('migrate', (getPostgres) => {
  async function applied(url: string): Promise<number[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      const { rows } = await client.query('SELECT number FROM fluxqueue.migrations ORDER BY number');
      return rows.map(({ number }) => number);
    } finally {
      await client.end();
    }
  }

  test('by five programs at once applies each once', async () => {
    const url = await getPostgres().freshDatabase();
    const queues = Array.from({ length: 5 }, () => openQueue({ url }));
    await Promise.all(queues.map((queue) => queue.migrate()));
    await Promise.all(queues.map((queue) => queue.close()));
    expect(await applied(url)).toEqual(MIGRATIONS.map(({ number }) => number));
  });

  test('adds what is new and keeps what is there', async () => {
    const url = await getPostgres().freshDatabase();
    const queue = openQueue({ url });
    await queue.migrate();
    const fence = await queue.acquireFence('before');
    const database = openDatabase({ url });
    const next = { number: MIGRATIONS.length + 1, name: 'next', sql: 'CREATE TABLE fluxqueue.next (n int)' };
    await migrate(database, [...MIGRATIONS, next]);
    expect(await applied(url)).toEqual([...MIGRATIONS, next].map(({ number }) => number));
    expect(await queue.acquireFence('after')).toBe(fence + 1);
    // The program of before now meets newer tables.
    await expect(queue.migrate()).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_VERSION' });
    await Promise.all([queue.close(), database.close()]);
  });

  test('one that fails changes nothing', async () => {
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
});
