/**
 * The connection pool and its errors. A database that is down, restarting, read-only or too slow throws
 * `FLUXQ_DATABASE_DOWN` (retryable); one that refuses a statement or the login throws `FLUXQ_DATABASE_REFUSED`. What
 * shows that a connection leads to the wrong or to no server drops all of them, because all were opened alike.
 */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { Client, DatabaseError, Pool, type PoolClient } from 'pg';
import { systemClock } from '../clock';
import { FluxqError, messageOf } from '../errors';
import type { Listening } from './leader-view';
import { Listener } from './listener';
import { SilenceDetector } from './silence';
import { databaseSocket } from './socket';
import { connectionOf, type DatabaseAccess, isUntrusted, tlsError } from './tls';

export interface DatabaseOptions extends DatabaseAccess {
  /** Most connections. Writes are serial, so few are needed. @default 4 */
  readonly connections?: number;
  /** The server cancels statements that take longer, in milliseconds. @default 30000 */
  readonly statementTimeoutMs?: number;
  /** A connection is closed if a statement gets no answer for this long, in milliseconds. @default - statementTimeoutMs + 5000 */
  readonly answerTimeoutMs?: number;
  /** The server is asked over a new connection whether it works if a statement gets no answer for this long, in milliseconds. @default 2000 */
  readonly doubtMs?: number;
  /** How long to wait for a connection, in milliseconds. @default 5000 */
  readonly connectTimeoutMs?: number;
  /** Whether the server refuses every write. @default false */
  readonly readOnly?: boolean;
  /** Called when the server refuses the password or has another certificate: the Secret has changed since it was read. */
  readonly onLoginRefused?: (error: Error) => void;
  /** Receives a warning for each idle connection that breaks, and the errors inside the server. @default - no log */
  readonly logger?: Record<'warn' | 'error', (fields: object, message: string) => void>;
}

export interface Database {
  /** How many idle connections broke, and how often all connections were dropped. */
  readonly disconnects: number;
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs `work` on one connection inside BEGIN … COMMIT; ROLLBACK if it throws. */
  transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T>;
  /** Calls back for each notification on this channel. It takes one of the connections. */
  listen(channel: string, onNotification: () => void): Listening;
  close(): Promise<void>;
}

export function openDatabase(options: DatabaseOptions): Database {
  const connections = new Connections(options);
  const failure = (cause: unknown): FluxqError => {
    const error = databaseError(cause);
    if (isInternal(cause))
      options.logger?.error(
        { error: cause.message, sqlstate: cause.code },
        'the database reports an error of its own or of its disk',
      );
    if (isStale(cause)) options.onLoginRefused?.(error);
    if (isUseless(cause)) connections.drop(error);
    return error;
  };
  return {
    get disconnects() {
      return connections.disconnects;
    },
    async query<Row>(text: string, values: readonly unknown[] = []) {
      try {
        return await connections.watch(async (pool) => (await pool.query(text, [...values])).rows as Row[]);
      } catch (error) {
        throw failure(error);
      }
    },
    transaction: (work) => connections.watch((pool) => inTransaction(pool, work, failure)),
    listen: (channel, onNotification) => connections.listen(channel, onNotification),
    close: () => connections.close(),
  };
}

/** The pool, and the sockets of its connections. */
class Connections {
  disconnects = 0;
  private readonly sockets = new Set<Socket>();
  private readonly listeners = new Set<Listener>();
  private readonly pool: Pool;
  private readonly silence: SilenceDetector;
  /** Names the sessions of this process on the server. */
  private readonly name = `fluxqueue-${randomUUID()}`;

  private readonly connection: ReturnType<typeof connectionOf>;

  constructor(private readonly options: DatabaseOptions) {
    this.connection = connectionOf(options);
    this.pool = this.createPool();
    // Without a listener, an idle connection that breaks (a restart of Postgres) would end the process.
    this.pool.on('error', (error) => this.countBroken(error));
    this.silence = new SilenceDetector({
      isServerWorking: () => this.isServerWorking(),
      onDead: (error) => this.drop(error),
      doubtMs: options.doubtMs,
    });
  }

  watch<T>(statement: (pool: Pool) => Promise<T>): Promise<T> {
    return this.silence.watch(() => statement(this.pool));
  }

  /** Statements under way fail, and the next ones use new connections. */
  drop(error: Error): void {
    this.disconnects += 1;
    const { logger } = this.options;
    logger?.warn(
      { error: error.message, connections: this.sockets.size },
      'dropping all database connections',
    );
    for (const socket of this.sockets) socket.destroy(error);
  }

  listen(channel: string, onNotification: () => void): Listening {
    const onBroken = (error: Error) => this.countBroken(error);
    const listener = new Listener({ pool: this.pool, channel, onNotification, onBroken, clock: systemClock });
    this.listeners.add(listener);
    const stop = async () => {
      this.listeners.delete(listener);
      await listener.stop();
    };
    return { ready: listener.ready, stop };
  }

  async close(): Promise<void> {
    await Promise.all([...this.listeners].map((listener) => listener.stop()));
    await this.pool.end();
  }

  private countBroken(error: Error): void {
    this.disconnects += 1;
    this.options.logger?.warn({ error: messageOf(error) }, 'an idle database connection broke');
  }

  private createPool(): Pool {
    const { connections = 4, answerTimeoutMs, connectTimeoutMs = CONNECT_MS } = this.options;
    const statementTimeout = this.options.statementTimeoutMs ?? 30_000;
    return new Pool({
      ...this.connection,
      application_name: this.name,
      ...(this.options.readOnly === true && { options: '-c default_transaction_read_only=on' }),
      max: connections,
      // One connection stays open: when it breaks, the database may have been replaced.
      min: 1,
      stream: () => this.openSocket(),
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: 60_000,
      statement_timeout: statementTimeout,
      // A dead server never cancels a statement: give up shortly after its own timeout.
      query_timeout: answerTimeoutMs ?? statementTimeout + 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
  }

  private openSocket(): Socket {
    const socket = databaseSocket();
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    return socket;
  }

  private async isServerWorking(): Promise<boolean> {
    const client = new Client({
      ...this.connection,
      stream: databaseSocket,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
    });
    client.on('error', (error) => this.options.logger?.warn({ error: messageOf(error) }, 'no answer either'));
    try {
      await client.connect();
      const { rows } = await client.query<{ working: boolean }>(WORKING, [this.name]);
      return rows[0]!.working;
    } finally {
      await client.end();
    }
  }
}

/** Milliseconds. */
const CONNECT_MS = 5_000;
/** Of silence. Firewalls and load balancers forget a connection after some minutes; without a value the system asks after two hours. */
const KEEP_ALIVE_MS = 30_000;
/** Every role sees the sessions of its own user. */
const WORKING = `SELECT EXISTS (
  SELECT FROM pg_stat_activity WHERE application_name = $1 AND state <> 'idle'
) AS working`;

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

/** Whether the failure shows that password or CA were replaced in the Secret. */
function isStale(cause: unknown): boolean {
  return isUntrusted(cause) || (cause instanceof DatabaseError && cause.code === WRONG_PASSWORD);
}

/** After a failover the connection still leads to the old primary, which became a replica. */
const READ_ONLY = '25006';

/**
 * SQLSTATE classes after which a retry can succeed: connection, rollback, resources, state of an object (a lock), operator
 * intervention, errors of the system outside Postgres, internal errors, with which poolers report a server that is away.
 * But no retry repairs data or an index.
 */
const RETRYABLE_STATES = ['08', '40', '53', '55', '57', '58', 'XX'];
const INTERNAL_STATES = ['58', 'XX'];
const DAMAGED_STATES = ['XX001', 'XX002'];

function isRetryable({ code = '' }: DatabaseError): boolean {
  if (DAMAGED_STATES.includes(code)) return false;
  return code === READ_ONLY || RETRYABLE_STATES.includes(code.slice(0, 2));
}

/** What the administrator should know of, retried or not. */
function isInternal(cause: unknown): cause is DatabaseError {
  return cause instanceof DatabaseError && INTERNAL_STATES.includes((cause.code ?? '').slice(0, 2));
}

/** Whether the failure says something about the server or the path to it that holds for every connection. */
function isUseless(cause: unknown): boolean {
  if (cause instanceof DatabaseError) return cause.code === READ_ONLY;
  return cause instanceof Error && cause.message === ANSWER_TIMEOUT;
}

/** The message of `pg` when `query_timeout` has passed; the error has no code. */
const ANSWER_TIMEOUT = 'Query read timeout';

/** Converts errors of `pg`; a FluxqError is returned unchanged. */
function databaseError(error: unknown): FluxqError {
  if (error instanceof FluxqError) return error;
  // Errors with an SQLSTATE come from the server; all others are network errors or timeouts.
  if (error instanceof DatabaseError && !isRetryable(error)) return refusal(error);
  const untrusted = tlsError(error);
  if (untrusted !== undefined) return untrusted;
  const isReadOnly = error instanceof DatabaseError && error.code === READ_ONLY;
  const problem = isReadOnly ? 'the database is read-only' : 'the database does not answer';
  return new FluxqError('FLUXQ_DATABASE_DOWN', `${problem}: ${textOf(error)}`, {
    field: 'database.url',
    remedy: 'check that Postgres runs and can be reached; the call is retried and nothing is lost',
    retryable: true,
    cause: error,
  });
}

function refusal(cause: DatabaseError): FluxqError {
  const [problem, remedy] = DAMAGED_STATES.includes(cause.code ?? '')
    ? ['the data of the database is damaged', 'see the database log; restore a backup (docs/operations.md)']
    : [
        'the database refused the statement',
        'check user, password, database name and rights; see the database log',
      ];
  return new FluxqError('FLUXQ_DATABASE_REFUSED', `${problem}: ${textOf(cause)}`, {
    field: 'database.url',
    remedy,
    cause,
  });
}

/** Node throws an AggregateError without message if all addresses of a host refused. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(messageOf).join(', ');
  }
  const state = error instanceof DatabaseError ? ` (SQLSTATE ${error.code})` : '';
  return `${messageOf(error)}${state}`;
}
