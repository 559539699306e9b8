/** Brings the tables to this program's version; safe to run from several processes at once. */
import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import { FluxqError } from '../errors';
import type { Database } from './database';
import { MIGRATIONS, type Migration } from './migrations';

/** Any fixed number of our own; taken inside the transaction, so that it also holds behind a connection pooler. */
const LOCK = 4_072_026_001;

/** Large tables take their time; given up half-way, the same migration would be tried in vain for ever. */
const PATIENCE_MS = 3_600_000;

/**
 * Applies the missing migrations in one transaction: all or none. Throws
 * `FLUXQ_DATABASE_VERSION` if the tables are of a newer program, or if a
 * migration that was applied reads differently here.
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
    await client.query(`SET LOCAL statement_timeout = ${PATIENCE_MS}`);
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
      throw wrongVersion(`the tables have migration ${number}, this program ends at ${migrations.length}`);
    }
    if (checksumOf(known) !== checksum) {
      throw wrongVersion(`migration ${number} was applied with another text`);
    }
  }
}

function wrongVersion(what: string): FluxqError {
  return new FluxqError('FLUXQ_DATABASE_VERSION', what, {
    field: 'database.url',
    remedy: 'run the version that made these tables or a newer one, or give this one its own database',
  });
}

async function apply(client: PoolClient, migration: Migration): Promise<void> {
  const patiently = { text: migration.sql, query_timeout: PATIENCE_MS };
  await client.query(patiently);
  await client.query('INSERT INTO fluxqueue.migrations (number, name, checksum) VALUES ($1, $2, $3)', [
    migration.number,
    migration.name,
    checksumOf(migration),
  ]);
}

function checksumOf({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
}
