/** Runs constructs/fluxqueue/postgres.sh with the programs of Postgres, and kills it where a test requires. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ClientConfig } from 'pg';
import { makeCertificate, type ServingCertificate } from '../../../runtime/admission/certificates';
import { freePorts } from '../../cluster/ports';
import { reachableBinaries, unprivilegedAccount } from '../../cluster/postgres';
import { packagedServer } from '../../cluster/postgres-package';
import { waitFor } from '../../cluster/wait';

const SCRIPTS = {
  current: readFileSync(join(__dirname, '../../../constructs/fluxqueue/postgres.sh'), 'utf8'),
  /** The script of the release before, which knows no roles and no TLS. */
  previous: readFileSync(join(__dirname, 'releases/previous-postgres.sh'), 'utf8'),
};
export const RUNTIME_ROLE = 'fluxqueue_runtime';

/**
 * Nothing is lost when processes die, so writing to the disk only costs time. A single-user server wants its mode first.
 * What initdb made once can be copied from the folder INITDB_COPY: making it takes a second of the processor.
 */
const WITHOUT_DISK: Readonly<Record<string, string>> = {
  initdb: '[ -n "$INITDB_COPY" ] && mkdir -p "$2" && exec cp -a "$INITDB_COPY/." "$2"; set -- "$@" --no-sync',
  postgres: '[ "$1" = --single ] && shift && set -- --single -c fsync=off "$@"',
};

/** Programs that the script calls; a test can kill it before each call, like the loss of its node. */
const CALLED = [
  'rm',
  'mkdir',
  'initdb',
  'postgres',
  'sync',
  'mv',
  'dirname',
  'sed',
  'ls',
  'grep',
  'chmod',
  'flock',
];

export interface Start {
  /** Shell that runs the script. @default sh */
  readonly shell?: string;
  /** Number of the call before which the container is killed, from 1. @default - it is not killed */
  readonly killBefore?: number;
  /** PGDATA of the image. @default - that of Postgres 18 */
  readonly data?: string;
  /** Release of the script. @default current */
  readonly release?: keyof typeof SCRIPTS;
  /** Further variables of the container. @default - none */
  readonly env?: NodeJS.ProcessEnv;
}

/** Simulates the pod of the database: a volume, the credentials, and one container after the other. */
export class DatabasePod {
  readonly data: string;
  private readonly folder = mkdtempSync(join(tmpdir(), 'fluxqueue-database-'));
  private readonly account = unprivilegedAccount();
  private readonly credentials = join(this.folder, 'credentials');
  private readonly programs: string;
  /** Folder with what initdb makes, which later starts copy. @default - initdb runs */
  initdbCopy: string | undefined;
  private container: ChildProcess | undefined;
  private closed: Promise<unknown> | undefined;
  private output = '';

  private constructor(
    binaries: string,
    readonly port: number,
    readonly certificate: ServingCertificate,
  ) {
    chmodSync(this.folder, 0o755);
    mkdirSync(this.credentials);
    this.store('tls.crt', certificate.cert);
    this.store('tls.key', certificate.key);
    const bin = join(reachableBinaries(binaries, this.account, this.folder), 'bin');
    const volume = join(this.folder, 'volume');
    this.data = join(volume, '18', 'docker');
    mkdirSync(volume);
    this.programs = join(this.folder, 'programs');
    mkdirSync(this.programs);
    for (const name of CALLED) this.shim(name, bin);
    const { uid, gid } = this.account;
    if (uid !== undefined) for (const path of [this.folder, volume]) chownSync(path, uid, gid ?? uid);
    this.setPassword('first');
  }

  /** @param binaries folder with bin/ of a Postgres. @default - the server of the tests */
  static async create(binaries = packagedServer()!): Promise<DatabasePod> {
    const [port = 0] = await freePorts(1);
    const names = ['localhost', '127.0.0.1'];
    return new DatabasePod(binaries, port, await makeCertificate({ names, now: new Date() }));
  }

  setPassword(text: string): void {
    this.store('password', text);
  }

  private store(name: string, text: string): void {
    const file = join(this.credentials, name);
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o400 });
    const { uid, gid } = this.account;
    if (uid !== undefined) chownSync(file, uid, gid ?? uid);
  }

  /** Output of the container since its start. */
  get log(): string {
    return this.output;
  }

  /** Programs that the last container called, in order. */
  get calls(): string[] {
    const file = join(this.folder, 'calls');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Starts the container without waiting for it. */
  start({ shell = 'sh', killBefore = 0, data = this.data, release = 'current', env }: Start = {}): void {
    rmSync(join(this.folder, 'calls'), { force: true });
    const options = ['-c', `port=${this.port}`, '-c', `unix_socket_directories=${this.folder}`];
    this.spawn(shell, ['-c', SCRIPTS[release], 'postgres.sh', ...options, '-c', 'fsync=off'], {
      PGDATA: data,
      KILL_BEFORE: String(killBefore),
      INITDB_COPY: this.initdbCopy,
      ...env,
    });
  }

  /** Starts only the server on the existing data, like the entrypoint of the image. */
  serve(): void {
    this.spawn(join(this.programs, 'postgres'), [
      '-D',
      this.data,
      '-p',
      String(this.port),
      '-k',
      this.folder,
    ]);
  }

  /** Folder of the Unix socket. */
  get socket(): string {
    return this.folder;
  }

  /** Exit code of the command of a probe. */
  probe([program, ...args]: readonly string[]): number | null {
    const env = { ...this.environment, PGPORT: String(this.port), PATH: process.env.PATH };
    return spawnSync(program!, args, { env, stdio: 'ignore' }).status;
  }

  private get environment(): NodeJS.ProcessEnv {
    return {
      LANG: 'C.UTF-8',
      POSTGRES_USER: 'fluxqueue',
      POSTGRES_DB: 'fluxqueue',
      RUNTIME_ROLE,
      CREDENTIALS: this.credentials,
      POSTGRES_PASSWORD_FILE: join(this.credentials, 'password'),
    };
  }

  private spawn(program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): void {
    this.output = '';
    this.container = spawn(program, args, {
      ...this.account,
      cwd: this.folder,
      detached: true,
      env: {
        PATH: `${this.programs}:${process.env.PATH}`,
        CALLS: join(this.folder, 'calls'),
        ...this.environment,
        ...more,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.closed = once(this.container, 'close');
    for (const stream of [this.container.stdout, this.container.stderr])
      stream?.on('data', (part: Buffer) => {
        this.output += part.toString();
      });
  }

  get running(): boolean {
    return this.container?.exitCode === null && this.container.signalCode === null;
  }

  /** Resolves when the container has ended, and all that it printed is in the log. */
  async ended(): Promise<void> {
    await this.closed;
  }

  /** Kills all processes of the container. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.running) return;
    const over = once(this.container!, 'exit');
    process.kill(-this.container!.pid!, signal);
    await over;
  }

  /** The container runs on without its pod. The result kills it. */
  forceDelete(): () => Promise<void> {
    const old = this.container!;
    this.container = undefined;
    return async () => {
      const over = once(old, 'exit');
      process.kill(-old.pid!, 'SIGKILL');
      await over;
    };
  }

  /** Resolves when a login succeeds. @throws with the output of the container when it ends before that */
  async untilReady(
    password: string,
    login: () => Promise<unknown> = () => this.query(password, 'SELECT 1'),
  ): Promise<void> {
    if (!(await this.survives(password, login))) throw new Error(`the container has ended: ${this.output}`);
  }

  /** Resolves when a login succeeds, or to false when the container has ended before that. */
  async survives(
    password: string,
    login: () => Promise<unknown> = () => this.query(password, 'SELECT 1'),
  ): Promise<boolean> {
    await waitFor(
      'the database',
      async () => {
        if (!this.running) return true;
        await login();
        return true;
      },
      { everyMs: 25 },
    );
    return this.running;
  }

  /** Runs a statement as the controllers do: with the role of run time, over TLS. */
  async query(password: string, text: string): Promise<unknown[]> {
    return this.as({ user: RUNTIME_ROLE, password, ssl: { ca: this.certificate.bundle } }, text);
  }

  /** Runs a statement as the container `migrate` does: as the owner, by the Unix socket. */
  async own(text: string): Promise<unknown[]> {
    return this.as({ host: this.folder }, text);
  }

  /** Runs a statement with these options of the client. */
  async as(options: ClientConfig, text: string): Promise<unknown[]> {
    const address = { host: '127.0.0.1', port: this.port };
    const client = new Client({ ...address, user: 'fluxqueue', database: 'fluxqueue', ...options });
    try {
      await client.connect();
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** URL of the owner, as the container `migrate` has it. */
  get ownerUrl(): string {
    return `postgres://fluxqueue@${encodeURIComponent(this.folder)}:${this.port}/fluxqueue`;
  }

  /** URL of the role of run time. */
  urlOf(password: string, host = '127.0.0.1'): string {
    const url = new URL(`postgres://${RUNTIME_ROLE}@${host}:${this.port}/fluxqueue?sslmode=verify-full`);
    url.password = password;
    return url.href;
  }

  /** Entries of the volume next to the data directory. */
  get beside(): string[] {
    return readdirSync(join(this.data, '..')).filter((name) => name !== 'docker');
  }

  /** Creates a data directory with initdb only. */
  initdb(): void {
    const options = [
      '--username=fluxqueue',
      '--auth=scram-sha-256',
      `--pwfile=${join(this.credentials, 'password')}`,
    ];
    const env = { INITDB_COPY: this.initdbCopy };
    this.run('initdb', ['-D', this.data, ...options], '', env);
  }

  /** Runs a statement while no container runs. */
  sql(database: string, statement: string): void {
    this.run('postgres', ['--single', '-D', this.data, database], `${statement}\n`);
  }

  /** Sets the permissions that the kubelet sets for fsGroup. */
  openToGroup(): void {
    this.run('chmod', ['-R', 'ug+rwX,g+s', this.data]);
  }

  /** Runs a program as the user of the container. */
  run(program: string, args: readonly string[], input = '', more: NodeJS.ProcessEnv = {}): void {
    execFileSync(join(this.programs, program), args, {
      ...this.account,
      env: { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', CALLS: join(this.folder, 'calls'), ...more },
      input,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
  }

  async remove(): Promise<void> {
    await this.kill('SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private shim(name: string, bin: string): void {
    const real = existsSync(join(bin, name))
      ? join(bin, name)
      : execFileSync('which', [name]).toString().trim();
    writeFileSync(
      join(this.programs, name),
      `#!/bin/sh
echo ${name} >>"$CALLS"
[ "$(/bin/grep -c . "$CALLS")" = "$KILL_BEFORE" ] && kill -KILL 0
${WITHOUT_DISK[name] ?? ''}
exec ${real} "$@"
`,
      { mode: 0o755 },
    );
  }
}
