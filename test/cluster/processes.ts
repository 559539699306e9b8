/**
 * Processes and a temporary directory that are removed when this process ends for any reason: stop, a failed test,
 * Ctrl-C or SIGKILL.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FluxqError } from '../../runtime/errors';

/**
 * A shell in its own session that reads "+ PID SIGNAL" and "- PID" lines. When this process ends, the kernel closes the
 * standard input of the shell, which then stops the remaining processes, newest first, and removes the directory. A
 * handler in this process can't do that after a SIGKILL.
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
  /** User and group id of the process. @default - those of this process */
  readonly uid?: number;
  readonly gid?: number;
  /** The signal that stops the process. @default SIGKILL */
  readonly stopSignal?: 'SIGKILL' | 'SIGQUIT' | 'SIGINT';
}

/** A process of a {@link ProcessSet}. */
export class OwnedProcess {
  readonly pid: number;
  /** Resolves to a description when the process has ended, for example "exit code 0"; never rejects. */
  readonly exited: Promise<string>;
  running = true;
  /** Whether {@link kill} was called, so that the end of the process is no failure. */
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

  /** Stops the process group and waits for its end. */
  async kill(signal: NodeJS.Signals = this.stopSignal): Promise<void> {
    this.killed = true;
    this.child.ref();
    if (this.running) process.kill(-this.pid, signal);
    await this.exited;
    this.child.unref();
  }

  /** The last lines of the log. */
  logTail(lines = 20): string {
    return readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
  }
}

/** The processes of one test fixture with their directory; newer processes stop first. */
export class ProcessSet {
  private readonly processes: OwnedProcess[] = [];
  private readonly watchdog: ChildProcess;

  private constructor(readonly directory: string) {
    this.watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'fluxqueue-watchdog', directory], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.watchdog.unref();
    // The pipe must not keep this process alive; its end is the signal for the watchdog.
    (this.watchdog.stdin as unknown as { unref(): void }).unref();
    this.watchdog.stdin?.on('error', () => this.watchdog.kill('SIGKILL'));
  }

  /** Creates the directory in `parent` and starts the watchdog. */
  static create(prefix: string, parent: string = tmpdir()): ProcessSet {
    const directory = mkdtempSync(join(parent, `${prefix}-`));
    mkdirSync(join(directory, 'logs'));
    return new ProcessSet(directory);
  }

  /** Ids of the running processes and of the watchdog. */
  get pids(): number[] {
    return [...this.processes.filter((p) => p.running).map((p) => p.pid), this.watchdog.pid as number];
  }

  /**
   * Starts a process whose output goes to `logs/NAME.log`.
   *
   * @throws FLUXQ_TEST_PROCESS when the file can not be executed.
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
      // A separate process group: Ctrl-C in the terminal must not stop etcd before the apiserver.
      detached: true,
      stdio: ['ignore', log, log],
      env: options.env ?? process.env,
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    });
    closeSync(log);
    if (child.pid === undefined) {
      const [cause] = (await once(child, 'error')) as [Error];
      throw new FluxqError('FLUXQ_TEST_PROCESS', 'the program can not be started', {
        field: name,
        value: file,
        remedy: 'check that the file exists and is executable',
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

  /** Stops all processes, newest first, and removes the directory. May be called twice. */
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

/** Ids of the child processes. */
export function childrenOf(parent: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number));
  return pairs.filter(([, ppid]) => ppid === parent).map(([pid = 0]) => pid);
}
