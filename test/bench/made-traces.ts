/** Made traces of jobs, and what the reference for EASY, which only counts processors, makes of them. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The machine of every run. */
export const MACHINE = { nodes: 128, coresPerNode: 8 };
export const CORES = MACHINE.nodes * MACHINE.coresPerNode;

export interface TraceKey {
  readonly jobs: number;
  readonly load: number;
  /** The walltime requested, as a multiple of the runtime. */
  readonly factor: number;
  readonly seed: number;
}

export function makeTrace({ jobs, load, factor, seed }: TraceKey, file: string, tools: string): void {
  const args = [join(tools, 'make-swf.py'), jobs, CORES, seed, load, factor].map(String);
  const made = execFileSync('python3', args, { maxBuffer: 2 ** 30, encoding: 'utf8' });
  writeFileSync(file, inReferenceOrder(made));
}

/**
 * A fifth of the jobs of a made trace arrive in the same second as the one before. The reference takes these in the order of
 * their runtimes, so every replay does: which of them is first changes the mean wait by up to 8 %.
 */
function inReferenceOrder(swf: string): string {
  const lines = swf.trim().split('\n');
  const jobs = lines.filter((line) => !line.startsWith(';')).map((line) => line.split(' ').map(Number));
  jobs.sort((a, b) => compare(referenceKey(a), referenceKey(b)));
  return `${jobs.map(([, ...fields], i) => [i + 1, ...fields].join(' ')).join('\n')}\n`;
}

/** Submission, runtime, processors, walltime requested, user. */
function referenceKey(fields: readonly number[]): readonly number[] {
  return [fields[1]!, Math.min(fields[3]!, fields[8]!), fields[4]!, fields[8]!, fields[11]!];
}

function compare(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((value, at) => value !== b[at]);
  return i === -1 ? 0 : a[i]! - b[i]!;
}

export function referenceWait(file: string, tools: string): number {
  const args = [join(tools, 'backfill-reference.py'), file, `${CORES}`, '1000000', '1', 'easy'];
  const output = execFileSync('python3', args, { env: { ...process.env, JSON: '1' }, encoding: 'utf8' });
  return (JSON.parse(output) as { easy: number }).easy;
}
