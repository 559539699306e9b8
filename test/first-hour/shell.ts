/** A line of a shell as a process group of its own, as a terminal starts it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Surroundings {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Ended {
  /** Both streams. */
  readonly output: string;
  /** Null after a signal. */
  readonly code: number | null;
}

/** Milliseconds after which a line is killed. */
const LONGEST_MS = 180_000;

/** @param until Ctrl-C comes when what it prints matches, and its end is well then. @default - it ends by itself */
export async function runLine(line: string, { folder, env }: Surroundings, until?: RegExp): Promise<Ended> {
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
  const late = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), LONGEST_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(late);
  return { output, code: interrupted ? 0 : code };
}
