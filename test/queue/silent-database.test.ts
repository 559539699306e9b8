/**
 * A database whose connections are dead without a reset, as after a failover behind a virtual address:
 *
 *   what happens                                   | what the queue must do
 *   ---------------------------------------------- | ------------------------------------------------------------------
 *   all connections go silent, new ones work       | the statement under way fails within seconds, all connections are
 *                                                  | dropped, the next statement works; not one timeout per connection
 *   a statement takes long on a healthy connection | it is awaited
 *   the server is frozen, new connections hang too | nothing is dropped before the answer timeout; all at the timeout
 *   the old primary became a replica (25006)       | retryable, all connections are dropped
 */
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { type Database, openDatabase } from '../../runtime/queue/database';
import { openQueue } from '../../runtime/queue/queue';
import { describePostgres } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { TcpProxy } from '../crash-matrix/tcp-proxy';
import { submission } from './submission';

/** Milliseconds: a tenth of the default, because nothing here takes that long but what is silent. */
const DOUBT = { doubtMs: 200 };

describePostgres(
  'a database that goes silent',
  (getPostgres) => {
    let proxy: TcpProxy;
    let url: URL;
    let warnings: string[];
    const logger = {
      warn: (_: object, message: string) => void warnings.push(message),
      error: () => undefined,
    };

    beforeEach(async () => {
      warnings = [];
      url = new URL(await getPostgres().freshDatabase());
      proxy = await TcpProxy.before(Number(url.port));
      url.port = String(proxy.port);
    });
    afterEach(() => proxy.close());

    /** Opens all connections of the pool. */
    async function warm(database: Database): Promise<void> {
      await Promise.all([1, 2, 3, 4].map(() => database.query('SELECT pg_sleep(0.1)')));
    }

    test('is found with the first statement, and the next statement works', async () => {
      const queue = openQueue({ url: url.href, logger, units: DEFAULT_UNITS, ...DOUBT });
      await queue.migrate();
      const fence = await queue.acquireFence('test');
      await Promise.all([queue.active(), queue.shares(), queue.finished(), queue.queues()]);
      const { disconnects } = queue;
      proxy.silence();
      await expect(queue.submit(fence, [submission('a')])).rejects.toMatchObject({
        code: 'FLUXQ_DATABASE_DOWN',
        retryable: true,
        message: expect.stringContaining('the server works on no statement of this process'),
      });
      expect(await queue.submit(fence, [submission('a')])).toHaveLength(1);
      expect(queue.disconnects).toBeGreaterThan(disconnects);
      expect(warnings).toContain('dropping all database connections');
      await queue.close();
    });

    test('drops every connection at once, not one at each timeout', async () => {
      const database = openDatabase({ url: url.href, logger, ...DOUBT });
      await warm(database);
      proxy.silence();
      const answers = await Promise.allSettled([1, 2, 3, 4].map(() => database.query('SELECT 1')));
      expect(answers.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
      expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
      expect(warnings.filter((line) => line === 'dropping all database connections')).toHaveLength(1);
      await database.close();
    });

    test('is not confused with a statement that takes long', async () => {
      const database = openDatabase({ url: url.href, logger, ...DOUBT });
      await warm(database);
      expect(await database.query(`SELECT 'done' AS text FROM pg_sleep(1)`)).toEqual([{ text: 'done' }]);
      expect(warnings).toEqual([]);
      await database.close();
    });

    test('that is frozen loses all connections at the first timeout', async () => {
      const postgres = getPostgres();
      const database = openDatabase({
        url: url.href,
        logger,
        statementTimeoutMs: 1_000,
        answerTimeoutMs: 1_200,
        ...DOUBT,
      });
      await warm(database);
      postgres.pause();
      try {
        await expect(database.query('SELECT 1')).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN' });
      } finally {
        postgres.resume();
      }
      expect(warnings).toContain('dropping all database connections');
      const again = waitFor('the server to work again', () => database.query('SELECT 1 AS one'));
      expect(await again).toEqual([{ one: 1 }]);
      await database.close();
    });

    test('that became a replica refuses writes: they can be retried over new connections', async () => {
      const queue = openQueue({ url: url.href, logger, units: DEFAULT_UNITS });
      await queue.migrate();
      const fence = await queue.acquireFence('test');
      const database = openDatabase({ url: url.href, logger });
      const name = url.pathname.slice(1);
      await database.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
      // Sessions keep their setting: these connections are new, as after a failover.
      const demoted = openQueue({ url: url.href, logger, units: DEFAULT_UNITS });
      await expect(demoted.submit(fence, [submission('a')])).rejects.toMatchObject({
        code: 'FLUXQ_DATABASE_DOWN',
        retryable: true,
        message: expect.stringContaining('read-only'),
      });
      await database.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = off`);
      // Without the drop this connection would refuse every write for ever.
      expect(await demoted.submit(fence, [submission('a')])).toHaveLength(1);
      await Promise.all([queue.close(), database.close(), demoted.close()]);
    });
  },
  { own: true },
);
