/**
 * The connection pool and what its errors mean. A database that is down, is
 * restarting, or does not answer in time throws `FLUXQ_DATABASE_DOWN`
 * (retryable); one that refuses us throws `FLUXQ_DATABASE_REFUSED`.
 */
import { DatabaseError, Pool, type PoolClient } from 'pg';
import { FluxqError, messageOf } from '../errors';

export interface DatabaseOptions {
  /** postgres://user:password@host:port/database */
  readonly url: string;
  /** Connections at most. Writes are serial, so few are needed. @default 4 */
  readonly connections?: number;
  /** A statement that takes longer is cancelled by the server. @default 30000 */
  readonly statementTimeoutMs?: number;
  /** When nothing at all is heard of a statement, its connection is given up. @default - statementTimeoutMs + 5000 */
  readonly answerTimeoutMs?: number;
  /** How long to wait for a connection. @default 5000 */
  readonly connectTimeoutMs?: number;
  /** Told when the server does not take the password: the Secret has another one since this process has started. */
  readonly onLoginRefused?: (error: Error) => void;
  /** Told of connections that broke while nobody used them. @default - nobody is told: the next statement finds out */
  readonly logger?: { warn(fields: object, message: string): void };
}

export interface Database {
  /** How many connections broke while nobody used them. */
  readonly disconnects: number;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs `work` on one connection inside BEGIN … COMMIT; ROLLBACK if it throws. */
  transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function openDatabase(options: DatabaseOptions): Database {
  const statementTimeout = options.statementTimeoutMs ?? 30_000;
  const pool = new Pool({
    connectionString: options.url,
    application_name: 'fluxqueue',
    max: options.connections ?? 4,
    // One stays open, however quiet it is: its breaking tells of a database that is another one now.
    min: 1,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: 60_000,
    statement_timeout: statementTimeout,
    // A dead peer never cancels anything: give up soon after the server would have.
    query_timeout: options.answerTimeoutMs ?? statementTimeout + 5_000,
    keepAlive: true,
  });
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
    async transaction(work) {
      const client = await pool.connect().catch((error: unknown) => {
        throw failure(error);
      });
      // While we hold it, its breaking is reported by the query that runs; the event must not end the process.
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
    },
    close: () => pool.end(),
  };
}

const WRONG_PASSWORD = '28P01';

/** SQLSTATE classes after which the same statement can succeed: connection, resources, operator's intervention, rollback. */
const RETRYABLE_STATES = ['08', '40', '53', '57'];

/** Any error of `pg` as a FluxqError; one that is a FluxqError already passes unchanged. */
function databaseError(error: unknown): FluxqError {
  if (error instanceof FluxqError) {
    return error;
  }
  // pg's own errors with an SQLSTATE come from the server; everything else is the network or a timeout.
  if (error instanceof DatabaseError && !RETRYABLE_STATES.includes(error.code?.slice(0, 2) ?? '')) {
    return new FluxqError(
      'FLUXQ_DATABASE_REFUSED',
      `the database refused: ${error.message} (SQLSTATE ${error.code})`,
      {
        field: 'database.url',
        remedy: 'check user, password, database name and rights; see the database log',
        cause: error,
      },
    );
  }
  return new FluxqError('FLUXQ_DATABASE_DOWN', `the database does not answer: ${textOf(error)}`, {
    field: 'database.url',
    remedy: 'check that Postgres runs and can be reached; it is tried again and nothing is lost',
    retryable: true,
    cause: error,
  });
}

/** Node gives an AggregateError without text when every address of a host refused. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(messageOf).join(', ');
  }
  return messageOf(error);
}
