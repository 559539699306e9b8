/** Runs constructs/fluxqueue/postgres.sh with the real programs of Postgres, and ends it where a test says. */
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
import { freePorts } from '../cluster/ports';
import { packagedServer, reachableBinaries, unprivilegedAccount } from '../cluster/postgres';
import { waitFor } from '../cluster/wait';

const SCRIPT = readFileSync(join(__dirname, '..', '..', 'constructs', 'fluxqueue', 'postgres.sh'), 'utf8');

/** Programs that the script calls: before each call it may be killed, as by the loss of its node. */
const CALLED = ['rm', 'mkdir', 'initdb', 'postgres', 'sync', 'mv', 'dirname', 'sed', 'ls', 'grep', 'chmod'];

export interface Start {
  /** @default sh */
  readonly shell?: string;
  /** Kills the container right before this call of a program, counted from 1. */
  readonly killBefore?: number;
  /** The image's PGDATA. @default - that of Postgres 18 */
  readonly data?: string;
}

/** A database pod without its pod: a volume, a password, and containers one after the other. */
export class DatabasePod {
  readonly data: string;
  private readonly folder = mkdtempSync(join(tmpdir(), 'fluxqueue-database-'));
  private readonly account = unprivilegedAccount();
  private readonly passwordFile = join(this.folder, 'password');
  private readonly programs: string;
  private container: ChildProcess | undefined;
  private said = '';

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

  /** What the containers wrote, since the last start. */
  get log(): string {
    return this.said;
  }

  /** The programs that the last container called, in order. */
  get calls(): string[] {
    const file = join(this.folder, 'calls');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Starts the container; does not wait for it. */
  start({ shell = 'sh', killBefore = 0, data = this.data }: Start = {}): void {
    rmSync(join(this.folder, 'calls'), { force: true });
    const options = ['-c', `port=${this.port}`, '-c', `unix_socket_directories=${this.folder}`];
    this.spawn(shell, ['-c', SCRIPT, 'postgres.sh', ...options, '-c', 'fsync=off'], {
      PGDATA: data,
      KILL_BEFORE: String(killBefore),
    });
  }

  /** Starts the server alone on what is there, as the image's own start did. */
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

  /** The exit code of a probe's command. */
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
    this.said = '';
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
        this.said += part.toString();
      });
  }

  get running(): boolean {
    return this.container?.exitCode === null && this.container.signalCode === null;
  }

  /** Until the container has ended. */
  async ended(): Promise<void> {
    if (this.running) await once(this.container!, 'exit');
  }

  /** Ends every process of the container at once. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.running) return;
    const over = once(this.container!, 'exit');
    process.kill(-this.container!.pid!, signal);
    await over;
  }

  /** Until somebody can log in. @throws with what the container said, when it ends before that */
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
    if (!this.running) throw new Error(`the container has ended: ${this.said}`);
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

  /** What lies in the volume beside the data. */
  get beside(): string[] {
    return readdirSync(join(this.data, '..')).filter((name) => name !== 'docker');
  }

  /** A data directory as initdb leaves it, in its place. */
  initdb(): void {
    const options = ['--username=fluxqueue', '--auth=scram-sha-256', `--pwfile=${this.passwordFile}`];
    this.run('initdb', ['-D', this.data, ...options, '--no-sync']);
  }

  /** One statement, while no container runs. */
  sql(database: string, statement: string): void {
    this.run('postgres', ['--single', '-D', this.data, database], `${statement}\n`);
  }

  /** What kubelets do to a volume for the pod's fsGroup. */
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
