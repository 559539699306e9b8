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
import { Client } from 'pg';
import { freePorts } from '../../cluster/ports';
import { packagedServer, reachableBinaries, unprivilegedAccount } from '../../cluster/postgres';
import { waitFor } from '../../cluster/wait';

const SCRIPT = readFileSync(join(__dirname, '../../../constructs/fluxqueue/postgres.sh'), 'utf8');

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
}

/** Simulates the pod of the database: a volume, a password, and one container after the other. */
export class DatabasePod {
  readonly data: string;
  private readonly folder = mkdtempSync(join(tmpdir(), 'fluxqueue-database-'));
  private readonly account = unprivilegedAccount();
  private readonly passwordFile = join(this.folder, 'password');
  private readonly programs: string;
  private container: ChildProcess | undefined;
  private output = '';

  private constructor(
    binaries: string,
    readonly port: number,
  ) {
    chmodSync(this.folder, 0o755);
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

  static async create(): Promise<DatabasePod> {
    const [port = 0] = await freePorts(1);
    return new DatabasePod(packagedServer()!, port);
  }

  setPassword(text: string): void {
    writeFileSync(this.passwordFile, text, { mode: 0o644 });
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
  start({ shell = 'sh', killBefore = 0, data = this.data }: Start = {}): void {
    rmSync(join(this.folder, 'calls'), { force: true });
    const options = ['-c', `port=${this.port}`, '-c', `unix_socket_directories=${this.folder}`];
    this.spawn(shell, ['-c', SCRIPT, 'postgres.sh', ...options, '-c', 'fsync=off'], {
      PGDATA: data,
      KILL_BEFORE: String(killBefore),
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
      POSTGRES_PASSWORD_FILE: this.passwordFile,
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
    for (const stream of [this.container.stdout, this.container.stderr])
      stream?.on('data', (part: Buffer) => {
        this.output += part.toString();
      });
  }

  get running(): boolean {
    return this.container?.exitCode === null && this.container.signalCode === null;
  }

  /** Resolves when the container has ended. */
  async ended(): Promise<void> {
    if (this.running) await once(this.container!, 'exit');
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
  async untilReady(password: string): Promise<void> {
    await waitFor(
      'the database',
      async () => {
        if (!this.running) return true;
        await this.query(password, 'SELECT 1');
        return true;
      },
      { everyMs: 25 },
    );
    if (!this.running) throw new Error(`the container has ended: ${this.output}`);
  }

  async query(password: string, text: string): Promise<unknown[]> {
    const client = new Client({
      host: '127.0.0.1',
      port: this.port,
      user: 'fluxqueue',
      database: 'fluxqueue',
      password,
    });
    try {
      await client.connect();
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Entries of the volume next to the data directory. */
  get beside(): string[] {
    return readdirSync(join(this.data, '..')).filter((name) => name !== 'docker');
  }

  /** Creates a data directory with initdb only. */
  initdb(): void {
    const options = ['--username=fluxqueue', '--auth=scram-sha-256', `--pwfile=${this.passwordFile}`];
    this.run('initdb', ['-D', this.data, ...options, '--no-sync']);
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
  run(program: string, args: readonly string[], input = ''): void {
    execFileSync(join(this.programs, program), args, {
      ...this.account,
      env: { PATH: process.env.PATH ?? '', LANG: 'C.UTF-8', CALLS: join(this.folder, 'calls') },
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
exec ${real} "$@"
`,
      { mode: 0o755 },
    );
  }
}
