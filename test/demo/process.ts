/** `npm start` as a process of its own, with a go command that only waits and then gives the programs that are built already. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isAlive } from '../cluster/lock';
import { waitFor } from '../cluster/wait';

const ROOT = join(__dirname, '..', '..');

const GO = `#!/bin/sh
if [ "$1" = list ]; then printf 'a\\nb\\nc\\n'; exit; fi
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
echo $$ >"$FAKE_GO_PID"
echo a
sleep "$FAKE_GO_SECONDS"
printf '#!/bin/sh\\nexec "%s/$(basename "$0")" "$@"\\n' "$FAKE_GO_PROGRAMS" >"$out"
chmod +x "$out"
`;

/** A machine without a control plane: an empty cache, and a slow go. */
export class Machine {
  private readonly directory = mkdtempSync(join(tmpdir(), 'fluxqueue-demo-test-'));
  private readonly pidFile = join(this.directory, 'go.pid');
  private readonly bin = join(this.directory, 'bin');
  private readonly demos: DemoProcess[] = [];

  constructor() {
    mkdirSync(this.bin);
    writeFileSync(join(this.bin, 'go'), GO);
    chmodSync(join(this.bin, 'go'), 0o755);
  }

  /** @param programs folder of the programs that the build gives. @default - the build does not end */
  start(args: readonly string[], programs?: string): DemoProcess {
    rmSync(this.pidFile, { force: true });
    const demo = new DemoProcess(args, {
      ...process.env,
      PATH: `${this.bin}:${dirname(process.execPath)}:${process.env.PATH}`,
      XDG_CACHE_HOME: this.directory,
      KUBEBUILDER_ASSETS: '',
      FLUXQUEUE_DOWNLOADS: 'off',
      FAKE_GO_PID: this.pidFile,
      FAKE_GO_SECONDS: programs === undefined ? '600' : '3',
      FAKE_GO_PROGRAMS: programs ?? '',
    });
    this.demos.push(demo);
    return demo;
  }

  /** The process id of go, as soon as it builds. */
  goPid(): Promise<number> {
    return waitFor(
      'go to build',
      () => existsSync(this.pidFile) && Number(readFileSync(this.pidFile, 'utf8')),
    );
  }

  /** Resolves when go is gone, and nothing of its build is left. */
  async untilClean(go: number): Promise<void> {
    await waitFor('the build to be gone', () => !isAlive(go) && this.leftovers().length === 0);
  }

  /** What a build that was ended left in the cache. A lock of a dead process is taken over. */
  private leftovers(): string[] {
    const cache = join(this.directory, 'cdk8s-fluxqueue');
    return existsSync(cache) ? readdirSync(cache).filter((name) => name.includes('.building')) : [];
  }

  /** Ends what a failed test left. */
  async remove(): Promise<void> {
    for (const demo of this.demos) {
      demo.signal('SIGKILL');
      await demo.end();
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export class DemoProcess {
  output = '';
  private readonly child: ChildProcess;
  private readonly ended: Promise<readonly [number | null, NodeJS.Signals | null]>;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    const file = join(ROOT, 'examples/demo/main.ts');
    this.child = spawn(process.execPath, ['--import', 'tsx', file, ...args], { cwd: ROOT, env });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.ended = once(this.child, 'close').then(([code, signal]) => [code, signal]);
  }

  async says(text: string, timeoutMs = 60_000): Promise<void> {
    await waitFor(
      `the demo to say: ${text}`,
      () => {
        if (this.output.includes(text)) return true;
        if (this.child.exitCode !== null) return 'ended';
        return false;
      },
      { timeoutMs },
    );
    if (!this.output.includes(text))
      throw new Error(`the demo ended before it said "${text}":\n${this.output}`);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** The exit code, or the signal that ended it. */
  async end(): Promise<number | NodeJS.Signals | null> {
    const [code, signal] = await this.ended;
    return signal ?? code;
  }
}
