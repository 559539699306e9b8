/** Runs kubectl. */
import { spawn } from 'node:child_process';

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Resolves also when kubectl fails: the failure is in `code` and `stderr`. */
export function runKubectl(path: string, args: readonly string[], stdin?: string): Promise<CommandResult> {
  const child = spawn(path, args);
  const chunks = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (chunks.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (chunks.stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...chunks, code: code ?? -1 }));
    // kubectl may exit before it has read all of stdin; its exit code reports the error.
    child.stdin.on('error', (error: NodeJS.ErrnoException) => error.code === 'EPIPE' || reject(error));
    child.stdin.end(stdin);
  });
}
