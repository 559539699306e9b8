/**
 * `npm run -s crash-matrix -- --json`: the controller is killed, and its
 * connections are broken, after every write-ahead step, patch and RPC; the
 * oracle (test/invariants) checks I1 to I6. The last line is JSON.
 */
import { Command } from 'commander';
import { createClient } from '../../runtime/kubernetes/client';
import { openQueue } from '../../runtime/queue/queue';
import { startStack } from '../stack/stack';
import { playMatrix } from './matrix';
import { allPoints } from './points';
import { SIZE } from './scenario';

const options = new Command('crash-matrix')
  .option('--json', 'only one line of JSON on stdout', false)
  .option('--only <text>', 'points whose name has this text, e.g. "queue.allocate, kill"', '')
  .parse()
  .opts<{ json: boolean; only: string }>();

const say = (line: string) => process.stderr.write(`${line}\n`);

async function main(): Promise<void> {
  const stack = await startStack({
    cluster: { nodes: SIZE, nodeShape: { cpu: String(SIZE), memory: '64Gi' } },
    progress: say,
  });
  const client = createClient({ kubeconfig: stack.cluster.kubeconfig });
  const queue = openQueue({ url: stack.postgres.url });
  try {
    await queue.migrate();
    const points = allPoints().filter(({ call, deed }) => `${call}, ${deed}`.includes(options.only));
    const result = await playMatrix({ stack, client, queue }, points, say);
    for (const { invariant, text, point } of result.violations)
      say(`${invariant}: ${text}${point === undefined ? '' : ` (${point.call}, ${point.deed})`}`);
    for (const { call, deed } of result.missed) say(`never called: ${call} (${deed})`);
    const figures = { points: result.points, runs: result.runs, violations: result.violations.length };
    const words = `${figures.points} points, ${figures.runs} runs, ${figures.violations} violations`;
    process.stdout.write(`${options.json ? JSON.stringify(figures) : words}\n`);
    if (result.violations.length > 0 || result.missed.length > 0) process.exitCode = 1;
  } finally {
    client.close();
    await queue.close();
    await stack.stop();
  }
}

void main();
