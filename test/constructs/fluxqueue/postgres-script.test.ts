/**
 * The entrypoint of the stack's Postgres, killed at a step: the next start completes the database. Other steps each day, all with
 * NIGHTLY=1.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { postgresAvailable } from '../../cluster/postgres';
import { waitFor } from '../../cluster/wait';
import { drawOf } from '../../seed';
import { container, podTemplates, stackObjects } from '../manifests';
import { DatabasePod } from './database-pod';

const DRAWN = 2;
const SCRIPT = join(__dirname, '../../../constructs/fluxqueue/postgres.sh');
/** The readiness probe of the manifest. */
const PROBE = (() => {
  const template = podTemplates(stackObjects()).find(({ owner }) => owner === 'fluxqueue-database')!;
  return container(template, 'postgres').readinessProbe?.exec?.command ?? [];
})();
const installed = (program: string) => spawnSync('which', [program]).status === 0;
const postgres = postgresAvailable();
const withPostgres = postgres.available && process.platform === 'linux' ? describe : describe.skip;

(installed('shellcheck') ? test : test.skip)('shellcheck reports no problem', () => {
  const { stdout, status } = spawnSync('shellcheck', [SCRIPT], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, '']);
});

withPostgres('the start of the database', () => {
  let made: DatabasePod;
  let pod: DatabasePod;
  /** What initdb makes takes a second of the processor, so it is made once, and copied where initdb is not what is tested. */
  beforeAll(async () => {
    made = await DatabasePod.create();
    made.initdb();
  });
  afterAll(() => made.remove());
  const create = async () => {
    pod = await DatabasePod.create();
    pod.initdbCopy = made.data;
  };
  beforeEach(create);
  afterEach(() => pod.remove());

  const NOTE = 'CREATE TABLE note AS SELECT 7 AS n';
  const note = () => pod.own('SELECT n FROM note');

  test.each(['dash', 'bash'].filter(installed))(
    'under %s creates the database once and keeps it',
    async (shell) => {
      pod.initdbCopy = undefined;
      pod.start({ shell });
      await pod.untilReady('first');
      await expect(pod.query('wrong', 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
      await pod.own(NOTE);
      await pod.kill('SIGINT');
      pod.start({ shell });
      await pod.untilReady('first');
      expect(await note()).toEqual([{ n: 7 }]);
      expect(pod.calls).not.toContain('initdb');
      expect(pod.beside).toEqual([]);
    },
  );

  test('completes the database after a kill before a call of the first start', async () => {
    pod.start();
    await pod.untilReady('first');
    const { calls } = pod;
    expect(calls).toEqual(expect.arrayContaining(['initdb', 'postgres', 'sync', 'mv']));
    for (const [index, call] of drawOf([...calls.entries()], DRAWN)) {
      await pod.remove();
      await create();
      pod.start({ killBefore: index + 1 });
      await pod.ended();
      pod.start();
      await pod.untilReady('first').catch((error: unknown) => {
        throw new Error(`killed before call ${index + 1}, ${call}`, { cause: error });
      });
      expect([call, pod.beside]).toEqual([call, []]);
    }
  });

  const WRITTEN = [
    'PG_VERSION',
    'global/pg_control',
    'pg_wal/000000010000000000000001',
    'base/4',
    'base/5/PG_VERSION',
  ];
  test.each(drawOf(WRITTEN, DRAWN))(
    'creates the database again after a kill in initdb when %s exists',
    async (file) => {
      pod.initdbCopy = undefined;
      pod.start();
      await waitFor(file, () => existsSync(join(`${pod.data}.new`, file)), { everyMs: 1 });
      await pod.kill();
      expect(existsSync(pod.data)).toBe(false);
      pod.start();
      await pod.untilReady('first');
      expect(pod.beside).toEqual([]);
    },
  );

  test('keeps the data after a kill before a call of a later start', async () => {
    pod.start();
    await pod.untilReady('first');
    await pod.own(NOTE);
    await pod.kill();
    pod.start();
    await pod.untilReady('first');
    const { calls } = pod;
    expect(calls).not.toContain('initdb');
    for (const [index] of drawOf([...calls.entries()], DRAWN)) {
      await pod.kill();
      pod.start({ killBefore: index + 1 });
      await pod.ended();
    }
    pod.start();
    await pod.untilReady('first');
    expect(await note()).toEqual([{ n: 7 }]);
  });

  test('waits for the server of a pod that was force-deleted and still runs on the same volume', async () => {
    pod.start();
    await pod.untilReady('first');
    await pod.own(NOTE);
    const endOld = pod.forceDelete();
    pod.start();
    await waitFor('the new container to wait', () =>
      pod.log.includes('waiting for the server of an earlier pod'),
    );
    expect(await note()).toEqual([{ n: 7 }]);
    expect(pod.calls.filter((call) => call !== 'flock')).toEqual([]);
    await endOld();
    await pod.untilReady('first');
    expect(await note()).toEqual([{ n: 7 }]);
  });

  test('removes group permissions of the volume', async () => {
    pod.start();
    await pod.untilReady('first');
    await pod.kill();
    pod.openToGroup();
    pod.start();
    await pod.untilReady('first');
  });

  test('sets a new password of the Secret at the next start, with any characters', async () => {
    pod.start();
    await pod.untilReady('first');
    await pod.own(NOTE);
    await pod.kill();
    const password = `it's "new" \\ $HOME; --`;
    pod.setPassword(password);
    pod.start();
    await pod.untilReady(password);
    expect(await note()).toEqual([{ n: 7 }]);
    await expect(pod.query('first', 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  describe('with a data directory of an earlier version, which has no marker', () => {
    test('moves an incomplete directory aside and creates the database again', async () => {
      pod.initdb();
      pod.start();
      await pod.untilReady('first');
      expect(pod.beside).toEqual([expect.stringMatching(/^docker\.half-made-\d{14}$/)]);
      expect(readdirSync(join(pod.data, '..', pod.beside[0]!))).toContain('PG_VERSION');
      expect(pod.log).toContain('is incomplete and is moved to');
    });

    test.each([true, false])(
      'keeps the data of a complete directory; with its database: %s',
      async (hasDatabase) => {
        pod.initdb();
        appendFileSync(join(pod.data, 'pg_hba.conf'), '\nhost all all all scram-sha-256\n');
        if (hasDatabase) pod.sql('template1', 'CREATE DATABASE fluxqueue;');
        if (hasDatabase) pod.sql('fluxqueue', `${NOTE};`);
        pod.start();
        await pod.untilReady('first');
        if (hasDatabase) expect(await note()).toEqual([{ n: 7 }]);
        expect(pod.beside).toEqual([]);
      },
    );
  });

  test('refuses to create an empty database next to one of another major version', async () => {
    pod.start();
    await pod.untilReady('first');
    await pod.kill();
    const newer = join(pod.data, '..', '..', '19', 'docker');
    pod.start({ data: newer });
    await pod.ended();
    expect(pod.log).toContain(`${pod.data} has the database of another major version`);
    expect(existsSync(newer)).toBe(false);
    pod.start({ data: newer, env: { REPLACED_MAJOR: '17' } });
    await pod.ended();
    expect(existsSync(newer)).toBe(false);
    pod.start({ data: newer, env: { REPLACED_MAJOR: '18' } });
    await pod.untilReady('first');
    expect([existsSync(newer), existsSync(join(pod.data, 'PG_VERSION'))]).toEqual([true, true]);
  });

  test('refuses an image whose data are not on the volume', async () => {
    pod.start({ data: join(pod.data, '..', '..', 'data') });
    await pod.ended();
    expect(pod.log).toContain('use an image of Postgres 18 or newer');
  });

  (installed('psql') ? test : test.skip)(
    'is ready when the queue can log in, not when the server answers',
    async () => {
      pod.initdb();
      pod.serve();
      await waitFor('the server to answer', () => pod.log.includes('ready to accept connections'));
      expect(pod.probe(PROBE)).not.toBe(0);
      await pod.kill('SIGQUIT');
      pod.start();
      await pod.untilReady('first');
      expect(pod.probe(PROBE)).toBe(0);
      pod.setPassword('another');
      expect(pod.probe(PROBE)).not.toBe(0);
    },
  );

  test('creates the database in an empty directory', async () => {
    pod.run('mkdir', ['-p', pod.data]);
    pod.start();
    await pod.untilReady('first');
  });
});
