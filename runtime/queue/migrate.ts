/**
 * Migrates the tables to the version of this program. Several processes may do so at once, also of different releases:
 * migrations/index.ts has the rules.
 *
 * The log of migrations is fluxqueue.schema_migrations. The first release has its own, fluxqueue.migrations, and refuses
 * to start if that has a number which it does not know. So it keeps the migrations of that release and gets no other.
 */
import { createHash } from 'node:crypto';
import { DatabaseError, type PoolClient } from 'pg';
import { FluxqError } from '../errors';
import type { Database } from './database';
import { grantStatements } from './grants';
import { MIGRATIONS, type Migration } from './migrations';

/** Key of the advisory lock; taken inside the transaction, so that it also works behind a connection pooler. */
const LOCK = 4_072_026_001;

/** Large tables take time, and a migration that timed out half-way would time out in every retry. */
const TIMEOUT_MS = 3_600_000;
const LOCK_TIMEOUT_MS = 3_000;

/** The number of migrations that the first release knows. */
const FIRST_RELEASE = 3;

const LOGS = `
CREATE SCHEMA IF NOT EXISTS fluxqueue;
CREATE TABLE IF NOT EXISTS fluxqueue.migrations (
  number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS fluxqueue.schema_migrations (
  number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, minimum integer NOT NULL DEFAULT 0,
  applied_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO fluxqueue.schema_migrations (number, name, checksum, applied_at)
SELECT number, name, checksum, applied_at FROM fluxqueue.migrations ON CONFLICT DO NOTHING`;

const APPLIED = 'SELECT number, checksum, minimum FROM fluxqueue.schema_migrations ORDER BY number';

/**
 * Applies the missing migrations in one transaction: all or none. Tables with migrations of a newer program are left as
 * they are if this program can use them: then an update was undone, or is not complete.
 * @param grantTo role that gets the rights of run time in the same transaction
 * @throws FluxqError `FLUXQ_DATABASE_VERSION` if this program is too old for the tables, or if the text of an applied
 *   migration has changed
 */
export function migrate(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
  grantTo?: string,
): Promise<void> {
  return database.transaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(LOGS);
    const { rows } = await client.query<Applied>(APPLIED);
    checkApplied(rows, migrations);
    await client.query(`SET LOCAL statement_timeout = ${TIMEOUT_MS}`);
    // Behind a long reader, as a dump, it would wait with all statements of the leader behind it. Callers try again.
    await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    for (const migration of migrations.slice(rows.length)) {
      await apply(client, migration);
    }
    if (grantTo !== undefined) await client.query(grantStatements(grantTo));
  });
}

/** Migrates as the owner of the tables and gives the role of run time its rights, in one transaction. */
export function migrateAndGrant(database: Database, role: string): Promise<void> {
  return migrate(database, MIGRATIONS, role);
}

/**
 * Checks that the owner of the tables has migrated them.
 * @throws FluxqError `FLUXQ_DATABASE_NOT_MIGRATED` (retryable), `FLUXQ_DATABASE_VERSION`
 */
export async function checkMigrated(database: Database): Promise<void> {
  const rows = await database.query<Applied>(APPLIED).catch((error: Error) => {
    if (error.cause instanceof DatabaseError && NOT_THERE.includes(error.cause.code ?? '')) return [];
    throw error;
  });
  checkApplied(rows, MIGRATIONS);
  if (rows.length >= MIGRATIONS.length) return;
  throw new FluxqError(
    'FLUXQ_DATABASE_NOT_MIGRATED',
    `the tables have ${rows.length} of ${MIGRATIONS.length} migrations`,
    {
      field: 'database.migrate',
      remedy: 'wait for the command migrate, which the owner of the tables runs, or read its log',
      retryable: true,
    },
  );
}

/** Undefined table, unknown schema, no right: before the first migration, or before its rights are granted. */
const NOT_THERE = ['42P01', '3F000', '42501'];

interface Applied {
  readonly number: number;
  readonly checksum: string;
  readonly minimum: number;
}

function checkApplied(applied: readonly Applied[], migrations: readonly Migration[]): void {
  for (const { number, checksum, minimum } of applied) {
    if (minimum > migrations.length) {
      throw wrongVersion(
        `since migration ${number} the tables need a program that knows migration ${minimum}, but this one knows only ${migrations.length}`,
      );
    }
    const known = migrations[number - 1];
    if (known !== undefined && checksumOf(known) !== checksum) {
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
  const { number, name, minimum = 0 } = migration;
  const checksum = checksumOf(migration);
  await client.query(
    'INSERT INTO fluxqueue.schema_migrations (number, name, checksum, minimum) VALUES ($1, $2, $3, $4)',
    [number, name, checksum, minimum],
  );
  if (number > FIRST_RELEASE) return;
  await client.query('INSERT INTO fluxqueue.migrations (number, name, checksum) VALUES ($1, $2, $3)', [
    number,
    name,
    checksum,
  ]);
}

function checksumOf({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
}
