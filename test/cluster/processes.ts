/**
 * Processes and a temporary directory that end together with this process,
 * whatever ends it: a stop, a failed test, Ctrl-C or SIGKILL.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FluxqError } from '../../runtime/errors';

/**
 * A shell in a session of its own that reads "+ PID SIGNAL" and "- PID" lines.
 * The kernel closes its standard input when this process dies, however it
 * dies; then it ends what is still listed, newest first, and removes the
 * directory. No handler in this process could do that after a SIGKILL.
 */
const WATCHDOG = `
trap '' INT TERM HUP
list=
while read -r op pid signal; do
  rest=
  for entry in $list; do [ "\${entry%%:*}" = "$pid" ] || rest="$rest $entry"; done
  list=$rest
  [ "$op" = + ] && list="$pid:$signal $list"
done
for entry in $list; do kill -"\${entry#*:}" "-\${entry%%:*}" 2>/dev/null; kill -CONT "-\${entry%%:*}" 2>/dev/null; done
tries=0
while [ $tries -lt 100 ]; do
  alive=
  for entry in $list; do kill -0 "\${entry%%:*}" 2>/dev/null && alive=1; done
  [ -z "$alive" ] && break
  tries=$((tries + 1)); sleep 0.1
done
for entry in $list; do kill -KILL "-\${entry%%:*}" 2>/dev/null; done
rm -rf -- "$1" || { sleep 0.5; rm -rf -- "$1"; }
`;

export interface ProcessOptions {
  /** @default - the directory of the set */
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Run as this user and group id. @default - the user of this process */
  readonly uid?: number;
  readonly gid?: number;
  /** The signal that ends it. @default SIGKILL */
  readonly stopSignal?: 'SIGKILL' | 'SIGQUIT' | 'SIGINT';
}

/** One running program of a {@link ProcessSet}. */
export class OwnedProcess {
  readonly pid: number;
  /** Resolves, never rejects, when the program has ended: how, in words. */
  readonly exited: Promise<string>;
  running = true;
  /** Whether {@link kill} was called: its end is no failure then. */
  killed = false;

  constructor(
    readonly name: string,
    readonly logFile: string,
    readonly stopSignal: NonNullable<ProcessOptions['stopSignal']>,
    private readonly child: ChildProcess,
  ) {
    this.pid = child.pid as number;
    this.exited = once(child, 'exit').then(([code, signal]) => {
      this.running = false;
      return signal === null ? `exit code ${code}` : `signal ${signal}`;
    });
  }

  signal(signal: NodeJS.Signals): void {
    if (this.running) this.child.kill(signal);
  }

  /** Ends the program and what it started, and waits until it is gone. */
  async kill(signal: NodeJS.Signals = this.stopSignal): Promise<void> {
    this.killed = true;
    this.child.ref();
    if (this.running) process.kill(-this.pid, signal);
    await this.exited;
    this.child.unref();
  }

  /** The last lines of what it wrote. */
  logTail(lines = 20): string {
    return readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  }
}

/** Programs of one test fixture with their directory; later ones are stopped first. */
export class ProcessSet {
  private readonly processes: OwnedProcess[] = [];
  private readonly watchdog: ChildProcess;

  private constructor(readonly directory: string) {
    this.watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'fluxqueue-watchdog', directory], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.watchdog.unref();
    // The pipe must not keep a program alive that forgot to stop; its end is the signal.
    (this.watchdog.stdin as unknown as { unref(): void }).unref();
    this.watchdog.stdin?.on('error', () => this.watchdog.kill('SIGKILL'));
  }

  /** Makes the directory, inside `parent` when given, and the watchdog over it. */
  static create(prefix: string, parent: string = tmpdir()): ProcessSet {
    const directory = mkdtempSync(join(parent, `${prefix}-`));
    mkdirSync(join(directory, 'logs'));
    return new ProcessSet(directory);
  }

  /** The ids of the running programs and of the watchdog, for tests that look for leftovers. */
  get pids(): number[] {
    return [...this.processes.filter((p) => p.running).map((p) => p.pid), this.watchdog.pid as number];
  }

  /**
   * Starts a program with its output in `logs/NAME.log`.
   *
   * @throws FLUXQ_TEST_PROCESS when the file cannot be run.
   */
  async start(
    name: string,
    file: string,
    args: readonly string[],
    options: ProcessOptions = {},
  ): Promise<OwnedProcess> {
    const logFile = join(this.directory, 'logs', `${name}.log`);
    const log = openSync(logFile, 'a');
    const child = spawn(file, args, {
      cwd: options.cwd ?? this.directory,
      // A group of its own: Ctrl-C in the terminal must not end etcd before the apiserver.
      detached: true,
      stdio: ['ignore', log, log],
      env: options.env ?? process.env,
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    });
    closeSync(log);
    if (child.pid === undefined) {
      const [cause] = (await once(child, 'error')) as [Error];
      throw new FluxqError('FLUXQ_TEST_PROCESS', 'the program cannot be started', {
        field: name,
        value: file,
        remedy: 'check that the file exists and may be executed',
        cause,
      });
    }
    const started = new OwnedProcess(name, logFile, options.stopSignal ?? 'SIGKILL', child);
    this.watchdog.stdin?.write(`+ ${started.pid} ${started.stopSignal.slice(3)}\n`);
    void started.exited.then(() => this.watchdog.stdin?.write(`- ${started.pid}\n`));
    child.unref();
    this.processes.push(started);
    return started;
  }

  /** Stops everything, newest first, and removes the directory. Safe to call twice. */
  async stop(): Promise<void> {
    while (this.processes.length > 0) await this.processes.pop()?.kill();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
    if (this.watchdog.exitCode !== null) return;
    this.watchdog.ref();
    const gone = once(this.watchdog, 'exit');
    this.watchdog.stdin?.end();
    await gone;
  }
}

/** Ids of the processes whose parent this is. */
export function childrenOf(parent: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number));
  return pairs.filter(([, ppid]) => ppid === parent).map(([pid = 0]) => pid);
}
