import { Client } from 'pg';
import { isAlive } from './lock';
import { startPostgres } from './postgres';
import { describePostgres } from './suite';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {}); // the test kills the server
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describePostgres(
  'a local Postgres',
  (getPostgres) => {
    test('keeps commits through a crash', async () => {
      const postgres = getPostgres();
      await query(postgres.url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)');
      await postgres.kill();
      await expect(query(postgres.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
      await postgres.restart();
      expect(await query(postgres.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    });

    test('does not answer while it is paused', async () => {
      const postgres = getPostgres();
      postgres.pause();
      const answer = query(postgres.url, 'SELECT 8 AS n');
      const first = await Promise.race([
        answer,
        new Promise((resolve) => setTimeout(resolve, 300, 'silence')),
      ]);
      expect(first).toBe('silence');
      postgres.resume();
      expect(await answer).toEqual([{ n: 8 }]);
    });

    test('creates isolated databases', async () => {
      const [one, two] = [await getPostgres().freshDatabase(), await getPostgres().freshDatabase()];
      await query(one, 'CREATE TABLE mine ()');
      await expect(query(two, 'SELECT * FROM mine')).rejects.toThrow('does not exist');
    });
  },
  { own: true },
);

test('leaves no process and no file after stop', async () => {
  const postgres = await startPostgres({ own: true });
  const { pids } = postgres;
  expect(pids).toHaveLength(2);
  await postgres.stop();
  await postgres.stop();
  expect(pids.filter(isAlive)).toEqual([]);
});

test('uses the server of DATABASE_URL and leaves it unchanged', async () => {
  const server = await startPostgres({ own: true });
  const before = process.env.DATABASE_URL;
  process.env.DATABASE_URL = server.url;
  try {
    const postgres = await startPostgres();
    expect(await query(postgres.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await expect(postgres.kill()).rejects.toMatchObject({ code: 'FLUXQ_TEST_POSTGRES' });
    await postgres.stop();
    const left = await query(
      server.url,
      `SELECT datname FROM pg_database WHERE datname LIKE 'fluxqueue_test%'`,
    );
    expect(left).toEqual([]);
  } finally {
    if (before === undefined) delete process.env.DATABASE_URL;
    else process.env.DATABASE_URL = before;
    await server.stop();
  }
});
