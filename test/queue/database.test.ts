import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { DEFAULT_UNITS } from '../../runtime/jobspec/units';
import { openDatabase } from '../../runtime/queue/database';
import { openQueue } from '../../runtime/queue/queue';
import { freePorts } from '../cluster/ports';
import { describePostgres } from '../cluster/suite';
import { waitFor } from '../cluster/wait';
import { submission } from './submission';

test('a closed port is FLUXQ_DATABASE_DOWN and can be retried', async () => {
  const [port] = await freePorts(1);
  const queue = openQueue({ url: `postgres://a:b@127.0.0.1:${port}/c`, units: DEFAULT_UNITS });
  await expect(queue.active()).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN', retryable: true });
  await expect(queue.migrate()).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN', retryable: true });
  await queue.close();
});

test('gives up an address that does not answer long before the connect timeout', async () => {
  // A stopped server with a full backlog drops packets, as the address of a deleted pod does.
  const script =
    "const s = require('net').createServer().listen(0, '127.0.0.1', 1, () => console.log(s.address().port))";
  const server = spawn(process.execPath, ['-e', script]);
  const sockets: ReturnType<typeof connect>[] = [];
  const queue = await once(server.stdout, 'data').then(([text]) => {
    server.kill('SIGSTOP');
    const port = Number(text);
    for (let i = 0; i < 4; i++) sockets.push(connect(port, '127.0.0.1'));
    return openQueue({
      url: `postgres://a:b@127.0.0.1:${port}/c`,
      connectTimeoutMs: 60_000,
      units: DEFAULT_UNITS,
    });
  });
  try {
    await expect(queue.migrate()).rejects.toMatchObject({
      code: 'FLUXQ_DATABASE_DOWN',
      message: expect.stringContaining('within 1.5 s'),
    });
  } finally {
    for (const socket of sockets) socket.destroy();
    server.kill('SIGKILL');
    await queue.close();
  }
});

describePostgres(
  'an unreliable database',
  (getPostgres) => {
    test('a queue that only reads refuses every write', async () => {
      const { url } = getPostgres();
      const owner = openQueue({ url, units: DEFAULT_UNITS });
      const reader = openQueue({ url, units: DEFAULT_UNITS, readOnly: true });
      try {
        await owner.migrate();
        const fence = await owner.acquireFence('owner');
        await expect(reader.submit(fence, [submission('j')])).rejects.toThrow('read-only transaction');
        expect(await reader.active()).toEqual([]);
        expect(await reader.historyOf('a', 'b')).toEqual([]);
      } finally {
        await owner.close();
        await reader.close();
      }
    });

    test('a wrong password or database name is refused and cannot be retried', async () => {
      const url = new URL(getPostgres().url);
      url.password = 'wrong';
      const refused: string[] = [];
      const onLoginRefused = (error: Error) => refused.push(error.message);
      const wrongPassword = openQueue({ url: url.href, onLoginRefused, units: DEFAULT_UNITS });
      await expect(wrongPassword.active()).rejects.toMatchObject({
        code: 'FLUXQ_DATABASE_REFUSED',
        retryable: false,
      });
      await wrongPassword.close();
      expect(refused).toEqual([expect.stringContaining('28P01')]);
      const other = new URL(getPostgres().url);
      other.pathname = '/nowhere';
      const wrongDatabase = openQueue({ url: other.href, units: DEFAULT_UNITS });
      await expect(wrongDatabase.active()).rejects.toMatchObject({
        code: 'FLUXQ_DATABASE_REFUSED',
        retryable: false,
      });
      await wrongDatabase.close();
    });

    test('damaged data is an error of its own that is not retried; errors inside the server are logged as such', async () => {
      const errors: object[] = [];
      const logger = { warn: () => undefined, error: (fields: object) => errors.push(fields) };
      const database = openDatabase({ url: getPostgres().url, logger });
      const raise = (state: string) =>
        database.query(`DO $$ BEGIN RAISE EXCEPTION 'page 7' USING ERRCODE = '${state}'; END $$`);
      try {
        for (const state of ['XX001', 'XX002'])
          await expect(raise(state)).rejects.toMatchObject({
            code: 'FLUXQ_DATABASE_REFUSED',
            retryable: false,
            message: expect.stringContaining(
              `the data of the database is damaged: page 7 (SQLSTATE ${state})`,
            ),
          });
        for (const state of ['XX000', '58030'])
          await expect(raise(state)).rejects.toMatchObject({
            code: 'FLUXQ_DATABASE_DOWN',
            retryable: true,
            message: expect.stringContaining(`page 7 (SQLSTATE ${state})`),
          });
        await expect(raise('57P03')).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN' });
        const states = ['XX001', 'XX002', 'XX000', '58030'];
        expect(errors).toEqual(states.map((sqlstate) => ({ error: 'page 7', sqlstate })));
      } finally {
        await database.close();
      }
    });

    test('a crash and restart lose no commit, and broken idle connections do no harm', async () => {
      const postgres = getPostgres();
      const warnings: string[] = [];
      const url = await postgres.freshDatabase();
      const queue = openQueue({ url, units: DEFAULT_UNITS });
      await queue.migrate();
      const idle = openQueue({
        url,
        logger: { warn: (_, message) => warnings.push(message), error: () => undefined },
        units: DEFAULT_UNITS,
      });
      await idle.active();
      const fence = await queue.acquireFence('me');
      await queue.submit(fence, [submission('before')]);
      const underWay = Array.from({ length: 20 }, (_, i) => queue.submit(fence, [submission(`during-${i}`)]));
      const outcomes = Promise.allSettled(underWay);
      await postgres.kill();
      await expect(queue.submit(fence, [submission('down')])).rejects.toMatchObject({
        code: 'FLUXQ_DATABASE_DOWN',
        retryable: true,
      });
      await postgres.restart();
      // Answered writes are stored. The others may be stored, and can be repeated.
      const answered = (await outcomes).flatMap((o) =>
        o.status === 'fulfilled' ? o.value.map(({ uid }) => uid) : [],
      );
      const uids = (await queue.active()).map(({ uid }) => uid);
      expect(uids).toEqual(expect.arrayContaining(['before', ...answered]));
      const all = ['down', ...Array.from({ length: 20 }, (_, i) => `during-${i}`)];
      await queue.submit(
        fence,
        all.map((uid) => submission(uid)),
      );
      expect(new Set((await queue.active()).map(({ uid }) => uid))).toEqual(new Set(['before', ...all]));
      expect(warnings).toContain('an idle database connection broke');
      expect(await idle.active()).toEqual(await queue.active());
      await Promise.all([queue.close(), idle.close()]);
    });

    test('a server that hangs times out and works again afterwards', async () => {
      const postgres = getPostgres();
      const url = await postgres.freshDatabase();
      const patient = openQueue({ url, units: DEFAULT_UNITS });
      await patient.migrate();
      const fence = await patient.acquireFence('me');
      const queue = openQueue({
        url,
        statementTimeoutMs: 200,
        connectTimeoutMs: 500,
        answerTimeoutMs: 500,
        units: DEFAULT_UNITS,
      });
      postgres.pause();
      try {
        await expect(queue.submit(fence, [submission('a')])).rejects.toMatchObject({
          code: 'FLUXQ_DATABASE_DOWN',
        });
      } finally {
        postgres.resume();
      }
      // On a busy machine the server may be too slow for these limits at first.
      const again = await waitFor('the server to work again', () => queue.submit(fence, [submission('a')]));
      // The first write may have been committed when the server continued.
      expect(again.length).toBeLessThanOrEqual(1);
      expect(await patient.active()).toHaveLength(1);
      await Promise.all([queue.close(), patient.close()]);
    });
  },
  { own: true },
);
