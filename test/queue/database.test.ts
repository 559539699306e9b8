import { openQueue } from '../../runtime/queue/queue';
import { freePorts } from '../cluster/ports';
import { describePostgres } from '../cluster/suite';
import { submission } from './submission';

test('nobody listens: down, and worth another try', async () => {
  const [port] = await freePorts(1);
  const queue = openQueue({ url: `postgres://a:b@127.0.0.1:${port}/c` });
  await expect(queue.active()).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN', retryable: true });
  await expect(queue.migrate()).rejects.toMatchObject({ code: 'FLUXQ_DATABASE_DOWN', retryable: true });
  await queue.close();
});

describePostgres(
  'a database that comes and goes',
  (getPostgres) => {
    test('a wrong password or database is refused, and no second try can help', async () => {
      const url = new URL(getPostgres().url);
      url.password = 'wrong';
      const refused: string[] = [];
      const onLoginRefused = (error: Error) => refused.push(error.message);
      const stranger = openQueue({ url: url.href, onLoginRefused });
      await expect(stranger.active()).rejects.toMatchObject({
        code: 'FLUXQ_DATABASE_REFUSED',
        retryable: false,
      });
      await stranger.close();
      expect(refused).toEqual([expect.stringContaining('28P01')]);
      const lost = new URL(getPostgres().url);
      lost.pathname = '/nowhere';
      const nowhere = openQueue({ url: lost.href });
      await expect(nowhere.active()).rejects.toMatchObject({
        code: 'FLUXQ_DATABASE_REFUSED',
        retryable: false,
      });
      await nowhere.close();
    });

    test('a crash and restart lose nothing; idle connections that broke do no harm', async () => {
      const postgres = getPostgres();
      const warnings: string[] = [];
      const url = await postgres.freshDatabase();
      const queue = openQueue({ url });
      await queue.migrate();
      const idle = openQueue({ url, logger: { warn: (_, message) => warnings.push(message) } });
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
      // Everything that was answered is there; what was not is there or not, and can be said again.
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

    test('a server that hangs is given up, and works again afterwards', async () => {
      const postgres = getPostgres();
      const url = await postgres.freshDatabase();
      const queue = openQueue({ url, statementTimeoutMs: 200, connectTimeoutMs: 500, answerTimeoutMs: 500 });
      await queue.migrate();
      const fence = await queue.acquireFence('me');
      postgres.pause();
      try {
        await expect(queue.submit(fence, [submission('a')])).rejects.toMatchObject({
          code: 'FLUXQ_DATABASE_DOWN',
        });
      } finally {
        postgres.resume();
      }
      const again = await queue.submit(fence, [submission('a')]);
      // In doubt means in doubt: it may have been committed when the server woke up.
      expect(again.length).toBeLessThanOrEqual(1);
      expect(await queue.active()).toHaveLength(1);
      await queue.close();
    });
  },
  { own: true },
);
