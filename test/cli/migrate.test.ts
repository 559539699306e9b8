/** The command `migrate` of the shipped program, as the containers of the stack run it. */
import { Client } from 'pg';
import { parseConfig } from '../../runtime/config';
import { openQueue } from '../../runtime/queue/queue';
import { freePorts } from '../cluster/ports';
import { describePostgres } from '../cluster/suite';
import { Roles } from '../stack/roles';

describePostgres('fluxqueue migrate', (getPostgres) => {
  let roles: Roles;
  beforeAll(async () => {
    roles = new Roles();
    await run(getPostgres().url, "CREATE ROLE reader LOGIN PASSWORD 'read'");
  });
  afterAll(() => roles.stop());

  async function run(url: string, statement: string): Promise<void> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }

  test('migrates as the owner, and the role that it names can lead', async () => {
    const url = await getPostgres().freshDatabase();
    const log = await roles.once(['migrate', '--grant-to', 'reader'], { DATABASE_URL: url });
    expect(log).toContain('the tables are migrated');
    const own = new URL(url);
    [own.username, own.password] = ['reader', 'read'];
    const queue = openQueue({ url: own.href, migrates: false, units: parseConfig({}).units });
    await queue.migrate();
    expect(await queue.acquireFence('test')).toBe(1);
    await queue.close();
    await run(url, 'DROP OWNED BY reader');
  });

  test('waits for a database that does not answer, and ends at SIGTERM', async () => {
    const [port] = await freePorts(1);
    const args = ['migrate', '--grant-to', 'reader', '--stay'];
    const role = await roles.command(args, { DATABASE_URL: `postgres://a:b@127.0.0.1:${port}/c` });
    await role.says('waiting for the database');
    await role.end('SIGTERM', 'exit code 0');
  });

  test('stays when it has migrated, until SIGTERM', async () => {
    const url = await getPostgres().freshDatabase();
    const args = ['migrate', '--grant-to', 'reader', '--stay'];
    const role = await roles.command(args, { DATABASE_URL: url });
    await role.says('the tables are migrated');
    await role.end('SIGTERM', 'exit code 0');
    await run(url, 'DROP OWNED BY reader');
  });

  test('ends with one sentence without the URL of the owner, and when the role does not exist', async () => {
    await expect(roles.once(['migrate', '--grant-to', 'reader'], { DATABASE_URL: '' })).rejects.toThrow(
      'FLUXQ_CONFIG_INVALID: database.url: is missing',
    );
    const url = await getPostgres().freshDatabase();
    await expect(roles.once(['migrate', '--grant-to', 'nobody-here'], { DATABASE_URL: url })).rejects.toThrow(
      'role "nobody-here" does not exist',
    );
  });
});
