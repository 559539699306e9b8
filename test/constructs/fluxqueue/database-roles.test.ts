/** The roles and the TLS of the stack's database, on a real Postgres that the stack's script starts. */
import { makeCertificate } from '../../../runtime/admission/certificates';
import { DEFAULT_UNITS } from '../../../runtime/jobspec/units';
import { openDatabase } from '../../../runtime/queue/database';
import { TABLE_GRANTS } from '../../../runtime/queue/grants';
import { migrateAndGrant } from '../../../runtime/queue/migrate';
import { openQueue, type QueueOptions } from '../../../runtime/queue/queue';
import { postgresAvailable } from '../../cluster/postgres';
import { useEveryStatement } from '../../queue/every-statement';
import { DatabasePod, RUNTIME_ROLE } from './database-pod';

const withPostgres = postgresAvailable().available && process.platform === 'linux' ? describe : describe.skip;

withPostgres('the roles of the database', () => {
  let pod: DatabasePod;
  beforeAll(async () => {
    pod = await DatabasePod.create();
    pod.start();
    await pod.untilReady('first');
  });
  afterAll(() => pod.remove());

  /** The queue of a controller. */
  function open(options: Partial<QueueOptions> = {}) {
    const access = { url: pod.urlOf('first'), ca: pod.certificate.bundle, migrates: false };
    return openQueue({ ...access, units: DEFAULT_UNITS, ...options });
  }

  async function migrateAsOwner(): Promise<void> {
    const database = openDatabase({ url: pod.ownerUrl });
    await migrateAndGrant(database, RUNTIME_ROLE);
    await database.close();
  }

  test('the controllers wait until the owner has migrated the tables, then every statement works with their role', async () => {
    const queue = open();
    await expect(queue.migrate()).rejects.toMatchObject({
      code: 'FLUXQ_DATABASE_NOT_MIGRATED',
      retryable: true,
    });
    await migrateAsOwner();
    await queue.migrate();
    const fence = await queue.acquireFence('test');
    await useEveryStatement(queue, fence, 'least');
    await queue.purge(fence, 4e9);
    await queue.setView(fence, { bootId: 'b', nodes: [], reservations: [], drift: {} });
    expect(await queue.view()).toMatchObject({ fence });
    expect(await queue.estimateError(0)).toBeUndefined();
    expect((await queue.sizes()).length).toBeGreaterThan(0);
    await queue.close();
  });

  test('the role of the controllers has exactly the listed rights', async () => {
    const rows = await pod.own(
      `SELECT table_name, string_agg(privilege_type, ', ') AS rights FROM information_schema.role_table_grants
       WHERE grantee = '${RUNTIME_ROLE}' GROUP BY table_name`,
    );
    const sorted = (rights: string) => rights.split(', ').sort();
    const found = rows as { table_name: string; rights: string }[];
    expect(Object.fromEntries(found.map(({ table_name, rights }) => [table_name, sorted(rights)]))).toEqual(
      Object.fromEntries(Object.entries(TABLE_GRANTS).map(([table, rights]) => [table, sorted(rights)])),
    );
  });

  test.each([
    'CREATE TABLE fluxqueue.mine (n int)',
    'CREATE TABLE public.mine (n int)',
    'CREATE TEMP TABLE mine (n int)',
    'CREATE SCHEMA mine',
    'DROP TABLE fluxqueue.workloads',
    'ALTER TABLE fluxqueue.workloads ADD COLUMN mine int',
    'TRUNCATE fluxqueue.events',
    'DELETE FROM fluxqueue.schema_migrations',
    'UPDATE fluxqueue.usage SET cores = 0',
    'SELECT * FROM pg_authid',
    'CREATE ROLE mine',
    'ALTER ROLE fluxqueue PASSWORD NULL',
    'SET ROLE fluxqueue',
    "COPY fluxqueue.queues TO PROGRAM 'id'",
    "SELECT pg_read_file('postgresql.conf')",
  ])('the role of the controllers cannot: %s', async (statement) => {
    await expect(pod.query('first', statement)).rejects.toMatchObject({ code: '42501' });
  });

  test('a login in plain text is refused, and so is the owner over the network', async () => {
    const ssl = { ca: pod.certificate.bundle };
    for (const options of [
      { user: RUNTIME_ROLE, password: 'first' },
      { user: 'fluxqueue', password: 'first' },
      { user: 'fluxqueue', password: 'first', ssl },
      { user: RUNTIME_ROLE, password: 'first', ssl, database: 'template1' },
    ])
      await expect(pod.as(options, 'SELECT 1')).rejects.toMatchObject({ code: '28000' });
  });

  describe('a controller', () => {
    test.each<[string, () => Promise<Partial<QueueOptions>>, RegExp]>([
      [
        'refuses a certificate of another CA',
        async () => ({ ca: (await makeCertificate({ names: ['localhost'], now: new Date() })).bundle }),
        /certificate/,
      ],
      [
        'trusts the CAs of the system only without a CA',
        async () => ({ url: pod.urlOf('first') }),
        /certificate|self-signed/,
      ],
      [
        'refuses a certificate of another name',
        async () => ({ url: pod.urlOf('first', '127.0.0.2') }),
        /altnames/,
      ],
    ])('%s, and reads the Secret again', async (name, access, message) => {
      const refused: string[] = [];
      const given = await access();
      const queue = open({
        ...given,
        ...(name.includes('system') ? { ca: undefined } : {}),
        onLoginRefused: (error) => refused.push(error.message),
      } as Partial<QueueOptions>);
      await expect(queue.active()).rejects.toMatchObject({
        code: 'FLUXQ_DATABASE_TLS',
        retryable: true,
        message: expect.stringMatching(message),
      });
      expect(refused).toHaveLength(1);
      await queue.close();
    });
  });
});

withPostgres('an update of the database', () => {
  let pod: DatabasePod;
  beforeEach(async () => {
    pod = await DatabasePod.create();
  });
  afterEach(() => pod.remove());

  const plain = (text: string) => pod.as({ user: 'fluxqueue', password: 'first' }, text);

  /** Starts the release before, whose controllers log in as the owner in plain text. */
  async function startPrevious(): Promise<void> {
    pod.start({ release: 'previous' });
    await pod.untilReady('first', () => plain('SELECT 1'));
  }

  test('from the release before keeps the data, whenever it is killed, and back again', async () => {
    await startPrevious();
    await plain('CREATE TABLE note AS SELECT 7 AS n');
    await pod.kill('SIGINT');
    for (let call = 1; call < 40; call++) {
      pod.start({ killBefore: call });
      if (await pod.survives('first')) break;
    }
    await expect(plain('SELECT 1')).rejects.toMatchObject({ code: '28000' });
    expect(await pod.own('SELECT n FROM note')).toEqual([{ n: 7 }]);
    expect(await pod.query('first', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await pod.kill('SIGINT');
    await startPrevious();
    expect(await plain('SELECT n FROM note')).toEqual([{ n: 7 }]);
  });

  test('of a new database can be undone', async () => {
    pod.start();
    await pod.untilReady('first');
    await pod.own('CREATE TABLE note AS SELECT 7 AS n');
    await pod.kill('SIGINT');
    await startPrevious();
    expect(await plain('SELECT n FROM note')).toEqual([{ n: 7 }]);
  });
});
