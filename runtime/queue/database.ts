/**
 * The connection pool and its errors. A database that is down, restarting or too slow throws `FLUXQ_DATABASE_DOWN`
 * (retryable); one that refuses a statement or the login throws `FLUXQ_DATABASE_REFUSED`.
 */
import { DatabaseError, Pool, type PoolClient } from 'pg';
import { FluxqError, messageOf } from '../errors';
import { databaseSocket } from './socket';

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** Most connections. Writes are serial, so few are needed. @default 4 */
  readonly connections?: number;
  /** The server cancels statements that take longer, in milliseconds. @default 30000 */
  readonly statementTimeoutMs?: number;
  /** A connection is closed if a statement gets no answer for this long, in milliseconds. @default - statementTimeoutMs + 5000 */
  readonly answerTimeoutMs?: number;
  /** How long to wait for a connection, in milliseconds. @default 5000 */
  readonly connectTimeoutMs?: number;
  /** Called when the server refuses the password: the Secret has changed since this process started. */
  readonly onLoginRefused?: (error: Error) => void;
  /** Receives a warning for each idle connection that breaks. @default - no log */
  readonly logger?: { warn(fields: object, message: string): void };
}

export interface Database {
  /** How many idle connections broke. */
  readonly disconnects: number;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs `work` on one connection inside BEGIN … COMMIT; ROLLBACK if it throws. */
  transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function openDatabase(options: DatabaseOptions): Database {
  const pool = createPool(options);
  // Without a listener, an idle connection that breaks (a restart of Postgres) would end the process.
  let disconnects = 0;
  pool.on('error', (error) => {
    disconnects += 1;
    options.logger?.warn({ error: messageOf(error) }, 'an idle database connection broke');
  });
  const failure = (cause: unknown): FluxqError => {
    const error = databaseError(cause);
    if (cause instanceof DatabaseError && cause.code === WRONG_PASSWORD) options.onLoginRefused?.(error);
    return error;
  };
  return {
    get disconnects() {
      return disconnects;
    },
    async query<Row>(text: string, values: readonly unknown[] = []) {
      try {
        return (await pool.query(text, [...values])).rows as Row[];
      } catch (error) {
        throw failure(error);
      }
    },
    transaction: (work) => inTransaction(pool, work, failure),
    close: () => pool.end(),
  };
}

function createPool(options: DatabaseOptions): Pool {
  const statementTimeout = options.statementTimeoutMs ?? 30_000;
  return new Pool({
    connectionString: options.url,
    application_name: 'fluxqueue',
    max: options.connections ?? 4,
    // One connection stays open: when it breaks, the database may have been replaced.
    min: 1,
    stream: databaseSocket,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: 60_000,
    statement_timeout: statementTimeout,
    // A dead server never cancels a statement: give up shortly after its own timeout.
    query_timeout: options.answerTimeoutMs ?? statementTimeout + 5_000,
    keepAlive: true,
  });
}

async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  failure: (cause: unknown) => FluxqError,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw failure(error);
  });
  // The running query reports a broken connection; the event must not end the process.
  const ignore = () => undefined;
  client.on('error', ignore);
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((failed: Error) => {
      broken = failed;
    });
    throw failure(error);
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

const WRONG_PASSWORD = '28P01';

/** SQLSTATE classes after which a retry can succeed: connection, rollback, resources, operator intervention. */
const RETRYABLE_STATES = ['08', '40', '53', '57'];

/** Converts errors of `pg`; a FluxqError is returned unchanged. */
function databaseError(error: unknown): FluxqError {
  if (error instanceof FluxqError) {
    return error;
  }
  // Errors with an SQLSTATE come from the server; all others are network errors or timeouts.
  if (error instanceof DatabaseError && !RETRYABLE_STATES.includes(error.code?.slice(0, 2) ?? '')) {
    return new FluxqError(
      'FLUXQ_DATABASE_REFUSED',
      `the database refused the statement: ${error.message} (SQLSTATE ${error.code})`,
      {
        field: 'database.url',
        remedy: 'check user, password, database name and rights; see the database log',
        cause: error,
      },
    );
  }
  return new FluxqError('FLUXQ_DATABASE_DOWN', `the database does not answer: ${textOf(error)}`, {
    field: 'database.url',
    remedy: 'check that Postgres runs and can be reached; the call is retried and nothing is lost',
    retryable: true,
    cause: error,
  });
}

/** Node throws an AggregateError without message if all addresses of a host refused. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(messageOf).join(', ');
  }
  return messageOf(error);
}
