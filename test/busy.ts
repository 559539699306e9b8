/**
 * Runs a command beside processes that keep a core busy each, and ends with its exit code: a verdict that depends on how fast the
 * machine is fails here first.
 *
 *   npm run -s busy -- 2 npx jest -w 1 test/queue
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

/** It ends with this process, even after a SIGKILL: then its standard input ends. */
const LOOP = `process.stdin.resume().on('end', () => process.exit());
const work = () => {
  for (const until = Date.now() + 50; Date.now() < until; );
  setImmediate(work);
};
work();`;

const USE = 'use: npm run -s busy -- NUMBER-OF-BUSY-PROCESSES COMMAND...\n';

function startLoop(): ChildProcess {
  // The options of this process are for the command, not for the loops.
  const env = { ...process.env, NODE_OPTIONS: '' };
  return spawn(process.execPath, ['-e', LOOP], { env, stdio: ['pipe', 'ignore', 'inherit'] });
}

/** @returns its exit code, or that which a shell gives to a signal */
async function run(file: string, args: readonly string[]): Promise<number> {
  const child = spawn(file, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

async function main([number = '', command, ...args]: readonly string[]): Promise<number> {
  const count = Number(number);
  if (command === undefined || !Number.isInteger(count) || count < 1) {
    process.stderr.write(USE);
    return 2;
  }
  const loops = Array.from({ length: count }, startLoop);
  try {
    return await run(command, args);
  } catch (error) {
    process.stderr.write(`${command} cannot be started: ${error}\n`);
    return 127;
  } finally {
    for (const loop of loops) loop.kill();
  }
}

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
