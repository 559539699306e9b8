/**
 * `npm run -s nightly -- [--only PART] [--seed N]`: every test that is too long for `npm test`, one after another. It prints one line of
 * JSON for each part: {part, ok, seconds, figures}, or `skipped` with the reason where the part cannot run on this machine. Progress
 * goes to stderr. The exit code is 1 if a part failed.
 */
import { spawn } from 'node:child_process';
import { Command } from 'commander';
import { dayOfYear } from '../seed';
import { type Outcome, outcomeOf } from './outcome';
import { type Part, partsOf } from './parts';

const options = new Command('nightly')
  .option('--only <text>', 'run only the parts whose name contains this text', '')
  .option('--seed <number>', 'seed of the random parts', String(dayOfYear(new Date())))
  .parse()
  .opts<{ only: string; seed: string }>();

/** Runs a part; what it says on stderr is passed on. */
function play({ run: [script = '', ...args], env }: Part): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', script, '--', ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk;
      process.stderr.write(chunk);
    });
    child.on('error', reject);
    child.on('close', (code) => resolve(outcomeOf({ code, stdout, stderr })));
  });
}

async function main(): Promise<void> {
  const parts = partsOf(Number(options.seed)).filter(({ part }) => part.includes(options.only));
  for (const part of parts) {
    const began = performance.now();
    const outcome = await play(part);
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(`${JSON.stringify({ part: part.part, ...outcome, seconds })}\n`);
    if (!outcome.ok) process.exitCode = 1;
  }
}

void main();
