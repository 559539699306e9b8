/** The database as a deployed controller has it: migrated by its owner, used by a role that only reads and writes rows. */
import { Client } from 'pg';
import { openDatabase } from '../../runtime/queue/database';
import { migrateAndGrant } from '../../runtime/queue/migrate';

/** Role of the controllers in the tests. */
export const RUNTIME_ROLE = 'fluxqueue_test_runtime';

/** Migrates the database of the owner's URL and returns the URL of the controllers. */
export async function runtimeUrl(ownerUrl: string): Promise<string> {
  const url = new URL(ownerUrl);
  url.username = RUNTIME_ROLE;
  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    // Roles belong to the server, which other suites may use at the same time: their password has to be the same.
    await client.query(`DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${RUNTIME_ROLE}')
      THEN CREATE ROLE ${RUNTIME_ROLE} LOGIN PASSWORD '${url.password}'; END IF;
    END $$`);
  } finally {
    await client.end();
  }
  const database = openDatabase({ url: ownerUrl });
  try {
    await migrateAndGrant(database, RUNTIME_ROLE);
  } finally {
    await database.close();
  }
  return url.href;
}
