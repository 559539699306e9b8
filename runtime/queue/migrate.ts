/** Migrates the tables to the version of this program. Several processes may do so at once. */
import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import { FluxqError } from '../errors';
import type { Database } from './database';
import { MIGRATIONS, type Migration } from './migrations';

/** Key of the advisory lock; taken inside the transaction, so that it also works behind a connection pooler. */
const LOCK = 4_072_026_001;

/** Large tables take time, and a migration that timed out half-way would time out in every retry. */
const TIMEOUT_MS = 3_600_000;

/**
 * Applies the missing migrations in one transaction: all or none.
 * @throws FluxqError `FLUXQ_DATABASE_VERSION` if the tables belong to a newer program, or if the text of an applied
 *   migration has changed
 */
export function migrate(database: Database, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  return database.transaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query('CREATE SCHEMA IF NOT EXISTS fluxqueue');
    await client.query(`
      CREATE TABLE IF NOT EXISTS fluxqueue.migrations (
        number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
      )`);
    const { rows } = await client.query<Applied>('SELECT number, checksum FROM fluxqueue.migrations');
    checkApplied(rows, migrations);
    await client.query(`SET LOCAL statement_timeout = ${TIMEOUT_MS}`);
    for (const migration of migrations.slice(rows.length)) {
      await apply(client, migration);
    }
  });
}

interface Applied {
  readonly number: number;
  readonly checksum: string;
}

function checkApplied(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const { number, checksum } of applied) {
    const known = migrations[number - 1];
    if (known === undefined) {
      throw wrongVersion(
        `the tables have migration ${number}, but this program knows only ${migrations.length}`,
      );
    }
    if (checksumOf(known) !== checksum) {
      throw wrongVersion(`the text of migration ${number} differs from the one that was applied`);
    }
  }
}

function wrongVersion(message: string): FluxqError {
  return new FluxqError('FLUXQ_DATABASE_VERSION', message, {
    field: 'database.url',
    remedy: 'run the version that created these tables or a newer one, or use another database',
  });
}

async function apply(client: PoolClient, migration: Migration): Promise<void> {
  const query = { text: migration.sql, query_timeout: TIMEOUT_MS };
  await client.query(query);
  await client.query('INSERT INTO fluxqueue.migrations (number, name, checksum) VALUES ($1, $2, $3)', [
    migration.number,
    migration.name,
    checksumOf(migration),
  ]);
}

function checksumOf({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
}
