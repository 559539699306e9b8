/** Runs a line of a shell as a process group of its own, as a terminal starts it, so that all its programs get the signal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Surroundings {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface LineOptions extends Surroundings {
  /** Milliseconds after which the line is killed. */
  readonly longestMs: number;
  /** Ctrl-C comes when what it prints matches, and its end is well then. @default - it ends by itself */
  readonly until?: RegExp | undefined;
}

export interface EndedLine {
  /** Both streams, as a terminal shows them. */
  readonly output: string;
  /** Null after a signal; 0 after Ctrl-C. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether Ctrl-C ended it. */
  readonly interrupted: boolean;
}

export async function runLine(
  line: string,
  { folder, env, longestMs, until }: LineOptions,
): Promise<EndedLine> {
  const args = ['-o', 'pipefail', '-c', `exec 2>&1\n${line}`];
  const child = spawn('bash', args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let interrupted = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (until === undefined || interrupted || !until.test(output)) return;
    interrupted = true;
    process.kill(-child.pid!, 'SIGINT');
  });
  const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), longestMs);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(late);
  return { output, code: interrupted ? 0 : code, signal, interrupted };
}
